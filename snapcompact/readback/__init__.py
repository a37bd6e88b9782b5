"""Readers of pages behind one contract, and their score."""
