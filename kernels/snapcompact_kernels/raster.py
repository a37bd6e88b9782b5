"""Cells to packed rows of one bit a pixel."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from snapcompact_kernels._jit import kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray


@kernel
def raster_any(
    cells: NDArray[np.uint16],
    glyphs: NDArray[np.uint64],
    width: int,
    pitch_width: int,
    pitch_height: int,
    out: NDArray[np.uint8],
) -> None:
    """Print `cells` (rows, columns) into `out` (rows * pitch_height, 1 + row bytes), 1 is ink.

    The first byte of each row is PNG's filter, 0.
    `glyphs` (ids, height) holds `width` bits of each scanline, right-aligned. Glyphs stand in the
    middle of their pitch, the odd pixel right and below. Every byte of `out` is written.
    """
    height = glyphs.shape[1]
    left = (pitch_width - width) // 2
    top = (pitch_height - height) // 2
    rows, columns = cells.shape
    out[:] = 0
    for row in range(rows):
        for line in range(height):
            target = out[row * pitch_height + top + line]
            for column in range(columns):
                bits = glyphs[cells[row, column], line]
                if bits == 0:
                    continue
                x = 8 + column * pitch_width + left
                # Shift so that the first pixel stands at bit 7 - x % 8 of byte x // 8.
                byte = (x + width - 1) // 8
                drop = 7 - (x + width - 1) % 8
                low = np.uint8(bits << np.uint64(drop) & np.uint64(0xFF))
                target[byte] |= low
                rest = bits >> np.uint64(8 - drop)
                while rest != 0:
                    byte -= 1
                    target[byte] |= np.uint8(rest & np.uint64(0xFF))
                    rest >>= np.uint64(8)


@kernel
def first_difference(one: NDArray[np.uint8], other: NDArray[np.uint8]) -> int:
    """Number of the first row in which `one` and `other` (rows, bytes) differ, or -1."""
    rows, size = one.shape
    for row in range(rows):
        a = one[row]
        b = other[row]
        odd = np.uint8(0)
        for i in range(size):
            odd |= a[i] ^ b[i]
        if odd:
            return row
    return -1
