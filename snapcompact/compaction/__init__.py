"""Deciding what of a session to compact, and how."""
