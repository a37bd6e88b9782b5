"""A bitmap font as a value: a fixed cell and glyphs of one or two cells."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Glyph:
    """One glyph, as high as its font's cell and ``cells`` cells wide.

    ``code`` is the code point it prints, or -1 for a special cell, known by ``name``
    (``snap.end``). ``rows`` hold one integer a scanline, top first, leftmost pixel in the highest
    of ``cells * width`` bits.
    """

    name: str
    code: int
    rows: tuple[int, ...]
    cells: int = 1


@dataclass(frozen=True, slots=True)
class Font:
    """Glyphs of one cell size, in any order; ``ascent`` rows stand above the baseline."""

    name: str
    width: int
    height: int
    ascent: int
    glyphs: tuple[Glyph, ...]


def glyph_name(code: int) -> str:
    """``U+0041``: the name of the glyph that prints ``code``."""
    return f"U+{code:04X}"
