"""Repetitions on a page of cells, found once for all the scanlines that print them.

Cells that repeat at the same bit phase repeat as bytes in each of their scanlines, all at one
distance. So one search over cells finds the matches of a dozen scanlines.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from snapcompact_kernels._jit import kernel
from snapcompact_kernels.cells import signed

if TYPE_CHECKING:
    from numpy.typing import NDArray

U = np.uint64
LEAST_CELLS = 8
"""Shorter repetitions cost more bits than their literals, with rows filtered."""
SLOT_BITS = 13
WINDOW = 32768
LONGEST = 258
"""Window and longest match of deflate, RFC 1951."""


@kernel
def hash_row(cells: NDArray[np.uint16], period: int, out: NDArray[np.uint32]) -> None:
    """Write to `out` a hash of the LEAST_CELLS cells from each column on, and of its bit phase."""
    count = cells.size - LEAST_CELLS + 1
    for x in range(count):
        out[x] = np.uint32(x & (period - 1)) * np.uint32(0xC2B2AE35)
    factor = np.uint32(0x9E3779B1)
    for k in range(LEAST_CELLS):
        later = cells[k:]
        for x in range(count):
            out[x] += np.uint32(later[x]) * factor
        factor = np.uint32(factor * np.uint32(0x85EBCA6B))


@kernel
def find_matches(
    cells: NDArray[np.uint16],
    width: int,
    pitch_width: int,
    row_bytes: int,
    block: int,
    tokens: NDArray[np.int32],
    first: NDArray[np.int32],
) -> int:
    """Write the matches on a page of `cells` (rows, columns), left to right; return their number.

    A token is first byte in its row, length and distance, in bytes, true of every scanline.
    ``first`` (rows + 1) says where each row's tokens begin. `block` is the bytes that one row of
    cells takes; glyphs are `width` px wide, in the middle of their pitch. Greedy: the last place
    with the same hash, forward as far as it goes and back into what was not matched.
    """
    rows, columns = cells.shape
    left = (pitch_width - width) // 2
    period = 1
    while period * pitch_width % 8:
        period *= 2
    heads = np.zeros(1 << SLOT_BITS, np.uint64)  # hash above, row and column below
    hashes = np.empty(columns, np.uint32)
    last = columns - LEAST_CELLS
    nearest = max(1, (WINDOW + block - 1) // block)
    count = 0
    for row in range(rows):
        first[row] = count
        current = cells[row]
        hash_row(current, period, hashes)
        behind = 0
        behind_byte = 0
        x = 0
        while x <= last:
            mixed = U(hashes[x])
            slot = mixed >> U(32 - SLOT_BITS)
            head = heads[slot]
            heads[slot] = mixed << U(32) | U(row << 16 | x)
            from_row = signed(head >> U(16) & U(0xFFFF))
            y = signed(head & U(0xFFFF))
            # One test for nearly all columns without a match: 3.3 ns a cell, with three 4.7.
            if (head >> U(32) != mixed) | (row - from_row > nearest):
                x += 1
                continue
            distance = (row - from_row) * block + ((x - y) * pitch_width >> 3)
            if distance < 1 or distance > WINDOW or (x - y) & (period - 1):
                x += 1
                continue
            earlier = cells[from_row]
            most = columns - max(x, y)
            length = 0
            while length < most and earlier[y + length] == current[x + length]:
                length += 1
            if length < LEAST_CELLS:
                x += 1
                continue
            most = min(x - behind, y)
            back = 0
            while back < most and earlier[y - back - 1] == current[x - back - 1]:
                back += 1
            # Whole bytes between the ink of the cell before and that of the cell behind.
            begin = x - back
            byte = ((begin - 1) * pitch_width + left + width + 7) >> 3 if begin else 0
            byte = max(byte, behind_byte)
            stop = min(((x + length) * pitch_width + left) >> 3, row_bytes)
            while stop - byte >= 3:
                size = min(stop - byte, LONGEST)
                tokens[count, 0] = byte
                tokens[count, 1] = size
                tokens[count, 2] = distance
                count += 1
                byte += size
                behind_byte = byte
            behind = x + length
            for i in range(x + 1, min(behind, last + 1)):
                mixed = U(hashes[i])
                heads[mixed >> U(32 - SLOT_BITS)] = mixed << U(32) | U(row << 16 | i)
            x = behind
    first[rows] = count
    return count
