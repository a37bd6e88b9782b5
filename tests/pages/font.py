"""A made-up font: random glyphs, all distinct, some wide; for tests that need no real one."""

from __future__ import annotations

from functools import cache
from typing import Any, TypeVar

import numpy as np

from snapcompact.fonts.atlas import NO_GLYPH, Atlas, Special

Array = TypeVar("Array", bound="np.ndarray[Any, Any]")
LATIN = range(0xA0, 0x100)
GREEK = range(0x391, 0x3CA)
EMOJI = range(0x1F300, 0x1F310)
HAN = range(0x4E00, 0x4E20)


@cache
def made_up_atlas(width: int = 8, height: int = 16, *, wide: bool = True, seed: int = 1) -> Atlas:
    """Printable ASCII, tab, line end, the special cells, Latin-1, some Greek, emoji and Han."""
    points = [9, 10, *range(32, 127), *LATIN]
    ids = list(points)
    codes = np.full(0x800, -1, np.int32)
    codes[points] = points
    codes[[int(special) for special in Special]] = -2
    at = 0x100
    for point in (*GREEK, *EMOJI):
        codes[at] = point
        points.append(point)
        ids.append(at)
        at += 1
    is_wide = np.zeros(codes.size, np.bool_)
    for point in HAN if wide else ():
        codes[at : at + 2] = point, -3
        is_wide[at] = True
        points.append(point)
        ids.append(at)
        at += 2
    glyph_of = np.full(0x110000, NO_GLYPH, np.uint16)
    glyph_of[points] = ids
    ink = np.random.default_rng(seed).random((codes.size, height, width)) < 0.35
    ink[codes == -1] = False
    ink[32] = False
    return Atlas(
        name=f"{width}x{height}",
        width=width,
        height=height,
        bitmaps=_read_only(ink.astype(np.uint8)),
        codes=_read_only(codes),
        glyph_of=_read_only(glyph_of),
        wide=_read_only(is_wide),
        sha256="0" * 64,
    )


def _read_only(array: Array) -> Array:
    array.flags.writeable = False
    return array
