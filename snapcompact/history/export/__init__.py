"""Histories written in other tools' formats."""
