"""Packed rows of one bit a pixel to glyph ids, exactly."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from snapcompact_kernels._jit import kernel
from snapcompact_kernels.cells import signed
from snapcompact_kernels.words import load_little, store_little, swap

if TYPE_CHECKING:
    from numpy.typing import NDArray

U = np.uint64
MISSING = np.uint16(0xFFFF)
MIX = np.uint32(0x9E3779B1)
"""Odd, 2**32 over the golden ratio: spreads the hash of a left half before the right is added."""


@kernel
def hash_any(
    page: NDArray[np.uint8],
    factors: NDArray[np.uint32],
    width: int,
    pitch_width: int,
    pitch_height: int,
    out: NDArray[np.uint32],
) -> None:
    """Write to `out` (rows, columns) the hash of each cell's pixels on `page`, as printed.

    The hash is the sum, modulo 2**32, of each scanline's bits times its factor; bits beyond 32 are
    folded in by exclusive or. Places as in ``raster.raster_any``.
    """
    height = factors.size
    left = (pitch_width - width) // 2
    top = (pitch_height - height) // 2
    rows, columns = out.shape
    for row in range(rows):
        hashes = out[row]
        hashes[:] = 0
        for line in range(height):
            source = page[row * pitch_height + top + line]
            factor = factors[line]
            for column in range(columns):
                x = 8 + column * pitch_width + left
                bits = np.uint64(source[x // 8] & (255 >> x % 8))
                last = (x + width - 1) // 8
                for byte in range(x // 8 + 1, last + 1):
                    bits = bits << np.uint64(8) | np.uint64(source[byte])
                bits >>= np.uint64(7 - (x + width - 1) % 8)
                folded = np.uint32(bits ^ bits >> np.uint64(32))
                hashes[column] += folded * factor


@kernel
def gather_line(
    page: NDArray[np.uint8],
    start: int,
    groups: int,
    width: int,
    pitch_width: int,
    strip: NDArray[np.uint8],
) -> None:
    """The way back of ``raster.spread_line``: glyph bytes, right-aligned, of one scanline.

    Reads up to 16 bytes a group from `start` on, the last group's beyond its cells.
    """
    left = (pitch_width - width) // 2
    half = U(4 * pitch_width)
    pitch = U(pitch_width)
    first = U(64 - left - width)
    mask = U((1 << width) - 1)
    for group in range(groups):
        at = U(start) + U(group) * pitch
        early = swap(load_little(page, at))
        late = early << half | swap(load_little(page, at + U(8))) >> (U(64) - half)
        if half == U(64):
            late = swap(load_little(page, at + U(8)))
        drop = first
        value = U(0)
        for i in range(4):
            value |= (early >> drop & mask) << U(8 * i) | (late >> drop & mask) << U(8 * i + 32)
            drop -= pitch
        store_little(strip, U(8 * group), value)


@kernel
def hash_small(
    page: NDArray[np.uint8],
    row_bytes: int,
    factors: NDArray[np.uint32],
    width: int,
    pitch: tuple[int, int],
    out: NDArray[np.uint32],
) -> None:
    """As :func:`hash_any`, for glyphs up to 8 px wide on pitches up to 16: 8 cells at a time.

    `page` is flat, with 16 bytes behind it, whose values do not matter.
    """
    pitch_width, pitch_height = pitch
    top = (pitch_height - factors.size) // 2
    rows, columns = out.shape
    groups = (columns + 7) // 8
    strip = np.empty(8 * groups, np.uint8)
    hashes = np.empty(8 * groups, np.uint32)
    for row in range(rows):
        hashes[:] = 0
        for line in range(factors.size):
            start = (row * pitch_height + top + line) * (1 + row_bytes) + 1
            factor = factors[line]
            if pitch_width == 8 and width == 8:
                for x in range(columns):
                    hashes[x] += np.uint32(page[U(start) + U(x)]) * factor
                continue
            gather_line(page, start, groups, width, pitch_width, strip)
            for x in range(columns):
                hashes[x] += np.uint32(strip[x]) * factor
        for x in range(columns):
            out[row, x] = hashes[x]


@kernel
def find(keys: NDArray[np.uint32], ids: NDArray[np.uint16], key: np.uint32) -> Any:
    """Id stored for `key` in the open table of `keys` and `ids`, or MISSING.

    The size is a power of two of at most 2**31; a slot is taken where its id is not MISSING.
    """
    slots = keys.size
    slot = signed(key) * slots >> 32
    while ids[slot] != MISSING:
        if keys[slot] == key:
            return ids[slot]
        slot = (slot + 1) & (slots - 1)
    return MISSING


@kernel
def read_row(
    hashes: NDArray[np.uint32],
    keys: NDArray[np.uint32],
    ids: NDArray[np.uint16],
    pair_keys: NDArray[np.uint32],
    pair_ids: NDArray[np.uint16],
    out: NDArray[np.uint16],
) -> int:
    """Write the ids of one row with wide glyphs to `out`; return how many cells fit no glyph.

    From right to left, the fewest cells without a glyph from each column on; then along that way.
    Undamaged rows have one such way only (``glyphs`` refuses fonts where they would not).
    """
    columns = hashes.size
    cost = np.zeros(columns + 2, np.int64)
    pair = np.empty(columns + 1, np.uint16)
    pair[columns - 1 :] = MISSING
    for x in range(columns - 1, -1, -1):
        cost[x] = cost[x + 1] + (out[x] == MISSING)
        if x + 1 < columns:
            mixed = np.uint32(hashes[x] * MIX + hashes[x + 1])  # numba widens the product
            pair[x] = find(pair_keys, pair_ids, mixed)
            if pair[x] != MISSING and cost[x + 2] <= cost[x]:
                cost[x] = cost[x + 2]
            else:
                pair[x] = MISSING
    x = 0
    while x < columns:
        if pair[x] != MISSING:
            out[x] = pair[x]
            out[x + 1] = pair[x] + 1
            x += 1
        x += 1
    return signed(cost[0])


@kernel
def read_cells(
    hashes: NDArray[np.uint32],
    keys: NDArray[np.uint32],
    ids: NDArray[np.uint16],
    pair_keys: NDArray[np.uint32],
    pair_ids: NDArray[np.uint16],
    out: NDArray[np.uint16],
) -> int:
    """Write the glyph id of each cell (rows, columns) to `out`, MISSING where none fits.

    Returns the number of MISSING cells. `keys` and `ids` find single glyphs, `pair_keys` and
    `pair_ids` wide ones by the mixed hashes of their halves.
    """
    rows, columns = hashes.shape
    missing = 0
    for row in range(rows):
        row_hashes = hashes[row]
        row_out = out[row]
        lost = 0
        for x in range(columns):
            row_out[x] = find(keys, ids, row_hashes[x])
            lost += row_out[x] == MISSING
        if lost:
            lost = read_row(row_hashes, keys, ids, pair_keys, pair_ids, row_out)
        missing += lost
    return missing
