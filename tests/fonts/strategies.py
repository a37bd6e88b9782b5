"""Hypothesis strategies for fonts."""

from __future__ import annotations

from hypothesis import strategies as st

from snapcompact.fonts.font import Font, Glyph, glyph_name
from snapcompact.fonts.signs import sign_glyphs

WIDTH, HEIGHT = 6, 9


def rows(cells: int = 1) -> st.SearchStrategy[tuple[int, ...]]:
    """Scanlines of few kinds, so that twins and shared halves occur."""
    bits = WIDTH * cells
    line = st.sampled_from([0, 1, (1 << bits) - 1, 1 << (bits - 1), (1 << WIDTH) - 1])
    return st.lists(line, max_size=2).map(lambda ink: (*ink, *[0] * (HEIGHT - len(ink))))


def glyphs() -> st.SearchStrategy[Glyph]:
    """Glyphs of one cell or two."""
    codes = st.integers(0xAE, 0xD7FF) | st.integers(0x10000, 0x10FFFF)

    def glyph(cells: int) -> st.SearchStrategy[Glyph]:
        return st.builds(
            lambda code, ink: Glyph(glyph_name(code), code, ink, cells), codes, rows(cells)
        )

    return st.integers(1, 2).flatmap(glyph)


def needed_glyphs() -> list[Glyph]:
    """The least a font must have: distinct ASCII, special cells, control glyphs."""
    letters = [
        Glyph(glyph_name(code), code, (code & 63, 32 | code >> 4, *[5] * (HEIGHT - 2)))
        for code in range(33, 127)
    ]
    space = Glyph(glyph_name(32), 32, (0,) * HEIGHT)
    return [space, *letters, *sign_glyphs(WIDTH, HEIGHT)]


def fonts() -> st.SearchStrategy[Font]:
    """Fonts with what is needed and some other glyphs."""
    return st.lists(glyphs(), max_size=40, unique_by=lambda glyph: glyph.code).map(
        lambda some: Font("test", WIDTH, HEIGHT, 7, (*needed_glyphs(), *some))
    )
