"""The glyphs of one font as arrays, numbered the way cells are.

A *cell* is a ``uint16`` glyph id. Ids 0–127 are ASCII itself and 160–255 are Latin-1 itself, so
that cells of plain text equal its bytes; 128–159 (C1 controls, which text does not print) are the
special cells below; from 256 on, glyphs follow in order of their code points.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

NO_GLYPH = 0xFFFF
"""In ``glyph_of``: the code point is printed as an escape."""


class Special(IntEnum):
    """Cells that print no character. In BDF they are named ``snap.<name>``, encoding -1."""

    END = 128
    """The text ends here; what follows on the page is paper."""
    PAD = 129
    """Nothing: stands where a wide glyph, or a whole escape, did not fit."""
    POINT_OPEN = 130
    """Opens a code point escape: upper-case hex digits (glyphs 0–9 A–F), then CLOSE."""
    CLOSE = 131
    BYTE_OPEN = 132
    """Opens a byte escape: exactly two upper-case hex digits, nothing behind."""


@dataclass(frozen=True, eq=False)
class Atlas:
    """Bitmaps of a font by glyph id; arrays are read-only.

    A glyph id without a bitmap has ``codes[id] == -1``. Ids 0–31 and 127 are visible glyphs for the
    control characters where the font has them (line end 10 and tab 9 always); a control character
    without a glyph is an escape. A wide glyph takes two ids, the right half at ``id + 1``.
    No two single glyphs, and no two pairs of wide halves, are alike.
    """

    name: str
    width: int
    height: int
    bitmaps: NDArray[np.uint8]
    """(glyphs, height, width), 1 is ink."""
    codes: NDArray[np.int32]
    """(glyphs,) code point printed by each id; -1 none, -2 special, -3 right half of a wide one."""
    glyph_of: NDArray[np.uint16]
    """(0x110000,) glyph id of each code point, NO_GLYPH where it is an escape."""
    wide: NDArray[np.bool_]
    """(glyphs,) the glyph takes this cell and the next."""
    sha256: str
    """Hex hash of the font, as its canonical BDF text."""
