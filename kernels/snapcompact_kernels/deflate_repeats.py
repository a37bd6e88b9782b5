"""Repetitions on a page of cells, found once for all the scanlines that print them.

Cells that repeat at the same bit phase repeat as bytes in each of their scanlines, all at one
distance. So one search over cells serves a dozen scanlines.
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
"""A power of 2. Shorter repeats gain little over literals, and take the place of better ones."""
GOOD_CELLS = 24
"""Where a repeat has so many, no longer one is looked for."""
SLOT_BITS = 11
WINDOW = 32768
"""Farthest that a match of deflate reaches back, RFC 1951."""
NO_SLOT = U(1 << 32)


@kernel
def hash_row(cells: NDArray[np.uint16], row: int, period: int, out: NDArray[np.uint32]) -> None:
    """Write to `out` a hash of the LEAST_CELLS cells from each column on, and of its bit phase.

    `out` (columns + LEAST_CELLS): each pass adds to every hash, of 1, 2, 4 cells, the one that
    follows it; the last LEAST_CELLS numbers mean nothing.
    """
    columns = cells.shape[1]
    for x in range(columns):
        out[x] = np.uint32(cells[row, x]) + np.uint32(x & (period - 1)) * np.uint32(0xC2B2AE35)
    factor = np.uint32(0x9E3779B1)
    size = 1
    while size < LEAST_CELLS:
        for x in range(columns):
            out[x] += out[x + size] * factor
        factor = np.uint32(factor * np.uint32(0x85EBCA6B))
        size *= 2


@kernel
def exchange_head(
    heads: NDArray[np.uint64],
    earlier: NDArray[np.uint64],
    hashed: np.uint32,
    row: int,
    x: int,
) -> np.uint64:
    """Keep row and column under their hash; its slot if the same hash stood there, or NO_SLOT.

    In ``earlier[slot]`` then stand the last place with that hash and the one before it.
    """
    mixed = U(hashed)
    slot = mixed >> U(32 - SLOT_BITS)
    last = heads[slot]
    heads[slot] = mixed << U(32) | U(row << 16 | x)
    # One test for nearly all columns without a repeat.
    if last >> U(32) != mixed:
        return NO_SLOT
    before = earlier[slot, 0]
    earlier[slot, 0] = last
    earlier[slot, 1] = before if before >> U(32) == mixed else last
    return slot


@kernel
def longest(
    cells: NDArray[np.uint16],
    row: int,
    x: int,
    earlier: NDArray[np.uint64],
    slot: np.uint64,
    pitch_width: int,
    block: int,
    period: int,
) -> tuple[int, int, int]:
    """Cells from (row, x) on that stood before too, their distance in bytes, and their column then.

    The longer repeat of the two places in ``earlier[slot]``. 0 cells where both are too far, at
    another bit phase, or have fewer than LEAST_CELLS.
    """
    best, far, column = LEAST_CELLS - 1, 0, 0
    here = U(row)
    for k in range(2):
        head = earlier[slot, U(k)]
        there = head >> U(16) & U(0xFFFF)
        y = signed(head & U(0xFFFF))
        distance = (row - signed(there)) * block + ((x - y) * pitch_width >> 3)
        if distance < 1 or distance > WINDOW or (x - y) & (period - 1):
            break
        most = U(cells.shape[1] - max(x, y))
        length = U(0)
        while length < most and cells[there, U(y) + length] == cells[here, U(x) + length]:
            length += U(1)
        if signed(length) > best:
            best, far, column = signed(length), distance, y
        if length >= U(GOOD_CELLS):
            break
    return (best, far, column) if far else (0, 0, 0)


@kernel
def find_repeats(
    cells: NDArray[np.uint16],
    width: int,
    pitch_width: int,
    row_bytes: int,
    block: int,
    repeats: NDArray[np.int32],
    first: NDArray[np.int32],
) -> int:
    """Write the repeats on a page of `cells` (rows, columns), left to right; return their number.

    A repeat is first byte in its row, bytes, distance in bytes, true of every scanline; ``first``
    (rows + 1) says where each row's begin, and `repeats` holds columns // LEAST_CELLS a row.
    `block` is the bytes that one row of cells takes; glyphs are `width` px wide, in the middle of
    their pitch. The last two places with the same hash count (one alone: 1 % more bytes, 5 % less
    time); a longer repeat one column on goes first.
    """
    rows, columns = cells.shape
    left = (pitch_width - width) // 2
    period = 1
    while period * pitch_width % 8:
        period *= 2
    heads = np.zeros(1 << SLOT_BITS, np.uint64)  # hash above, row and column below
    earlier = np.zeros((1 << SLOT_BITS, 2), np.uint64)
    hashes = np.zeros(columns + LEAST_CELLS, np.uint32)
    last = columns - LEAST_CELLS
    count = 0
    for row in range(rows):
        first[row] = count
        hash_row(cells, row, period, hashes)
        behind = 0
        x = 0
        while x <= last:
            slot = exchange_head(heads, earlier, hashes[U(x)], row, x)
            x += 1
            if slot == NO_SLOT:
                continue
            length, distance, y = longest(
                cells, row, x - 1, earlier, slot, pitch_width, block, period
            )
            if length == 0:
                continue
            begin = x - 1
            while x <= last:
                slot = exchange_head(heads, earlier, hashes[U(x)], row, x)
                x += 1
                if slot == NO_SLOT:
                    break
                longer, far, at = longest(
                    cells, row, x - 1, earlier, slot, pitch_width, block, period
                )
                if longer <= length:
                    break
                length, distance, y, begin = longer, far, at, x - 1
            stop = begin + length
            back = 0
            most = min(begin - behind, y)
            source = row - (distance - ((begin - y) * pitch_width >> 3)) // block
            while back < most and cells[source, y - back - 1] == cells[row, begin - back - 1]:
                back += 1
            begin -= back
            # Whole bytes between the ink of the cell before and that of the cell behind.
            byte = ((begin - 1) * pitch_width + left + width + 7) >> 3 if begin else 0
            end = min((stop * pitch_width + left) >> 3, row_bytes)
            if end > byte:
                repeats[count, 0] = byte
                repeats[count, 1] = end - byte
                repeats[count, 2] = distance
                count += 1
            behind = stop
            while x < min(stop, last + 1):
                exchange_head(heads, earlier, hashes[U(x)], row, x)
                x += 1
            x = max(x, stop)
    first[rows] = count
    return count
