"""Bitmap fonts: drawn here, read from files, and put together as an atlas of glyphs."""
