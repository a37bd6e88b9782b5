"""Repetitions on a page of cells, found once for all the scanlines that print them.

Cells that repeat at the same bit phase repeat as bytes in each of their scanlines, all at one
distance. So one search over cells serves a dozen scanlines.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from snapcompact_kernels._jit import kernel
from snapcompact_kernels.cells import signed
from snapcompact_kernels.words import load_little, low_zeros

if TYPE_CHECKING:
    from numpy.typing import NDArray

U = np.uint64
LEAST_CELLS = 8
"""A power of 2. Shorter repeats gain little over literals, and take the place of better ones."""
GOOD_CELLS = 40
"""Where a repeat has so many, no longer one is looked for."""
SLOT_BITS = 11
WINDOW = 32768
"""Farthest that a match of deflate reaches back, RFC 1951."""


@kernel
def bit_period(pitch_width: int) -> int:
    """After how many cells glyphs stand at the same bit of a byte again; a power of 2."""
    period = 1
    while period * pitch_width % 8:
        period *= 2
    return period


@kernel
def with_slack(cells: NDArray[np.uint16]) -> NDArray[np.uint16]:
    """The flat `cells`, and room behind for :func:`cells_in_common` to look at."""
    rows, columns = cells.shape
    flat = np.zeros(cells.size + 4, np.uint16)
    for row in range(rows):  # a slice that takes an array compiles two seconds longer
        for x in range(columns):
            flat[U(row * columns) + U(x)] = cells[U(row), U(x)]
    return flat


@kernel
def bytes_between_inks(
    begin: int, stop: int, width: int, pitch_width: int, row_bytes: int
) -> tuple[int, int]:
    """The whole bytes of a row between the ink before cell `begin` and that of cell `stop`.

    Glyphs are `width` px wide, in the middle of their pitch.
    """
    left = (pitch_width - width) // 2
    byte = ((begin - 1) * pitch_width + left + width + 7) >> 3 if begin else 0
    return byte, min((stop * pitch_width + left) >> 3, row_bytes)


@kernel
def hash_row(
    cells: NDArray[np.uint16], row: int, period: int, least: int, out: NDArray[np.uint32]
) -> None:
    """Write to `out` a hash of the `least` cells from each column on, and of its bit phase.

    `least` is a power of 2. `out` (columns + least): each pass adds to every hash, of 1, 2, 4
    cells, the one that follows it; the last `least` numbers mean nothing.
    """
    columns = cells.shape[1]
    for x in range(columns):
        out[x] = np.uint32(cells[row, x]) + np.uint32(x & (period - 1)) * np.uint32(0xC2B2AE35)
    factor = np.uint32(0x9E3779B1)
    size = 1
    while size < least:
        for x in range(columns):
            out[x] += out[x + size] * factor
        factor = np.uint32(factor * np.uint32(0x85EBCA6B))
        size *= 2


@kernel
def exchange_places(
    places: NDArray[np.uint64], hashed: np.uint32, row: int, x: int
) -> tuple[np.uint64, np.uint64, np.uint64]:
    """Keep the place of `row` and `x` under its hash; the two that stood there, and this one.

    A place has its hash above, row and column below, and stands in `places` beside the one before.
    """
    mixed = U(hashed)
    slot = mixed >> U(32 - SLOT_BITS) << U(1)
    last = places[slot]
    before = places[slot + U(1)]
    here = mixed << U(32) | U(row << 16 | x)
    places[slot] = here
    places[slot + U(1)] = last
    return last, before, here


@kernel
def seen(found: tuple[np.uint64, np.uint64, np.uint64]) -> bool:
    """Whether a place from ``exchange_places`` has the hash of the new one: of few columns so."""
    last, before, here = found
    return bool((last >> U(32) == here >> U(32)) | (before >> U(32) == here >> U(32)))


@kernel
def cells_in_common(
    cells: NDArray[np.uint8], one: np.uint64, other: np.uint64, most: np.uint64
) -> np.uint64:
    """How many cells from numbers `one` and `other` on are equal, up to `most`.

    `cells` are bytes, two a cell, and 8 more behind; four are compared at a time.
    """
    length = U(0)
    while length < most:
        odd = load_little(cells, U(2) * (one + length))
        odd ^= load_little(cells, U(2) * (other + length))
        if odd:
            return min(length + (U(low_zeros(odd)) >> U(4)), most)
        length += U(4)
    return most


@kernel
def longest(
    cells: NDArray[np.uint8],
    columns: int,
    found: tuple[np.uint64, np.uint64, np.uint64],
    pitch_width: int,
    block: int,
    period: int,
) -> tuple[int, int, int]:
    """Cells from the new place on that stood before too, their distance in bytes, column there.

    The longer repeat of the two that ``exchange_places`` has `found`. 0 cells where both have
    another hash, are too far or at another bit phase, or have fewer than LEAST_CELLS.
    """
    here = found[2]
    row, x = signed(here >> U(16) & U(0xFFFF)), signed(here & U(0xFFFF))
    best, far, column = LEAST_CELLS - 1, 0, 0
    for k in range(2):
        there = found[k]
        if there >> U(32) != here >> U(32):
            continue
        y = signed(there & U(0xFFFF))
        above = signed(there >> U(16) & U(0xFFFF))
        distance = (row - above) * block + ((x - y) * pitch_width >> 3)
        if distance < 1 or distance > WINDOW or (x - y) & (period - 1):
            break
        most = U(columns - max(x, y))
        length = signed(cells_in_common(cells, U(above * columns + y), U(row * columns + x), most))
        if length > best:
            best, far, column = length, distance, y
        if length >= GOOD_CELLS:
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
    period = bit_period(pitch_width)
    data = with_slack(cells).view(np.uint8)
    places = np.zeros(2 << SLOT_BITS, np.uint64)
    hashes = np.zeros(columns + LEAST_CELLS, np.uint32)
    last = columns - LEAST_CELLS
    count = 0
    for row in range(rows):
        first[row] = count
        hash_row(cells, row, period, LEAST_CELLS, hashes)
        behind = 0
        x = 0
        while x <= last:
            found = exchange_places(places, hashes[U(x)], row, x)
            x += 1
            if not seen(found):
                continue
            length, distance, y = longest(data, columns, found, pitch_width, block, period)
            if length == 0:
                continue
            begin = x - 1
            while x <= last and length < GOOD_CELLS:
                found = exchange_places(places, hashes[U(x)], row, x)
                x += 1
                if not seen(found):
                    break
                longer, far, at = longest(data, columns, found, pitch_width, block, period)
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
            byte, end = bytes_between_inks(begin, stop, width, pitch_width, row_bytes)
            if end > byte:
                repeats[count, 0] = byte
                repeats[count, 1] = end - byte
                repeats[count, 2] = distance
                count += 1
            behind = stop
            while x < min(stop, last + 1):
                exchange_places(places, hashes[U(x)], row, x)
                x += 1
            x = max(x, stop)
    first[rows] = count
    return count
