"""Whether a glyph can be told from all that are there already, one by one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from snapcompact.fonts.atlas import glyph_pixels

if TYPE_CHECKING:
    from snapcompact.fonts.atlas import Atlas
    from snapcompact.fonts.font import Glyph

_RIGHT_HALF = -3


class ToldApart:
    """Glyphs of which every row of cells decodes in one way, as the contract of Atlas has it.

    A wide glyph's left half may look like a single glyph; then its right half must look like
    neither a single glyph nor the left half of any.
    """

    def __init__(self, atlas: Atlas) -> None:
        self._width = atlas.width
        self._singles: set[bytes] = set()
        self._rights: dict[bytes, set[bytes]] = {}
        """Right halves by left half."""
        self._decisive: set[bytes] = set()
        """Right halves that alone tell their glyph from a single one."""
        packed = np.packbits(atlas.bitmaps, axis=2)
        known = (atlas.codes != -1) & (atlas.codes != _RIGHT_HALF)
        for glyph_id in np.flatnonzero(known & ~atlas.wide).tolist():
            self._singles.add(packed[glyph_id].tobytes())
        for glyph_id in np.flatnonzero(atlas.wide).tolist():
            self._note_pair(packed[glyph_id].tobytes(), packed[glyph_id + 1].tobytes())

    def add(self, glyph: Glyph) -> bool:
        """Whether `glyph` can be told from those before; if so, it is one of them from now on."""
        parts = [np.packbits(half, axis=1).tobytes() for half in glyph_pixels(glyph, self._width)]
        if not any(map(any, parts)):
            return False
        if len(parts) == 1:
            return self._add_single(parts[0])
        return self._add_pair(*parts)

    def _add_single(self, one: bytes) -> bool:
        behind = self._rights.get(one, set())
        taken = one in self._singles or one in self._decisive or one in behind
        if taken or any(right in self._singles or right in self._rights for right in behind):
            return False
        self._singles.add(one)
        self._decisive |= behind
        return True

    def _add_pair(self, left: bytes, right: bytes) -> bool:
        if left in self._decisive or right in self._rights.get(left, ()):
            return False
        if left in self._singles and (
            right in self._singles or right in self._rights or right == left
        ):
            return False
        self._note_pair(left, right)
        return True

    def _note_pair(self, left: bytes, right: bytes) -> None:
        self._rights.setdefault(left, set()).add(right)
        if left in self._singles:
            self._decisive.add(right)
