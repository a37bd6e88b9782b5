"""Transcript to PNG pages, and pixels back to cells."""
