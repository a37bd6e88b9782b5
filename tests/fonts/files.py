"""Font files of others, made up: what ours lack, drawn at random."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from snapcompact.fonts.bdf import bdf_text
from snapcompact.fonts.font import Font, Glyph, glyph_name

HAN = range(0x4E00, 0x4E40)
HANGUL = range(0xAC00, 0xAC20)
EMOJI = range(0x1F600, 0x1F610)


def random_glyphs(
    codes: range, cells: int, size: tuple[int, int] = (8, 16), seed: int = 7
) -> tuple[Glyph, ...]:
    """Glyphs of noise, `cells` wide, in cells of `size`."""
    width, height = size
    chance = np.random.default_rng([seed, codes.start])
    rows = chance.integers(1, 1 << cells * width, (len(codes), height))
    return tuple(
        Glyph(glyph_name(code), code, tuple(map(int, row)), cells)
        for code, row in zip(codes, rows, strict=True)
    )


def font_file(path: Path, glyphs: tuple[Glyph, ...], size: tuple[int, int] = (8, 16)) -> str:
    """A BDF file of `glyphs`, and the letter n that says how wide a cell is; its path."""
    width, height = size
    legs = 0x3C >> max(0, 6 - width)
    n = Glyph(glyph_name(ord("n")), ord("n"), (*[0] * (height - 4), *[legs] * 4))
    font = Font(path.stem, width, height, height - 4, (n, *glyphs))
    path.write_text(bdf_text(font), "ascii")
    return str(path)


def cjk_file(folder: Path) -> str:
    """A font file with some ideographs and syllables, two cells wide, and single emoji."""
    glyphs = *random_glyphs(HAN, 2), *random_glyphs(HANGUL, 2), *random_glyphs(EMOJI, 1)
    return font_file(folder / "some cjk.bdf", glyphs)
