"""Clients of summarising and reading models."""
