"""Packed rows of one bit a pixel to hashes of the glyphs printed there.

A glyph is known by fewer bits than it has: its scanlines are *folded*, each fold the exclusive or
of some of them, before bits are gathered to cells, which is what takes the time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from snapcompact_kernels._jit import kernel
from snapcompact_kernels.raster import copy
from snapcompact_kernels.words import load_little, store_little, swap

if TYPE_CHECKING:
    from numpy.typing import NDArray

U = np.uint64
STEP_BYTES = 256
"""Loops over scanlines go on to a multiple of this: four registers of AVX-512, which is how LLVM
unrolls them; the rest would be done byte by byte."""


@kernel
def stepped(line_bytes: int) -> int:
    """`line_bytes` up to a multiple of STEP_BYTES."""
    return (line_bytes + STEP_BYTES - 1) // STEP_BYTES * STEP_BYTES


@kernel
def fold_row(
    block: NDArray[np.uint8],
    line_bytes: int,
    folds: NDArray[np.int32],
    out: NDArray[np.uint8],
) -> None:
    """Write to `out` the folded scanlines of one row of cells, ``stepped(line_bytes)`` each.

    `block` has the scanlines of its glyphs, `line_bytes` each, behind them one of zeros and
    STEP_BYTES of anything; ``folds`` (folds, 7) the numbers of those that each fold is made of.
    """
    stride = stepped(line_bytes)
    for fold in range(folds.shape[0]):
        to = U(fold * stride)
        a, b = U(folds[fold, 0] * line_bytes), U(folds[fold, 1] * line_bytes)
        c, d = U(folds[fold, 2] * line_bytes), U(folds[fold, 3] * line_bytes)
        e, f = U(folds[fold, 4] * line_bytes), U(folds[fold, 5] * line_bytes)
        g = U(folds[fold, 6] * line_bytes)
        for i in range(stride):
            x = U(i)
            early = block[a + x] ^ block[b + x] ^ block[c + x] ^ block[d + x]
            out[to + x] = early ^ block[e + x] ^ block[f + x] ^ block[g + x]


@kernel
def hash_any(
    page: NDArray[np.uint8],
    line_bytes: int,
    folds: NDArray[np.int32],
    factors: NDArray[np.uint32],
    glyph: tuple[int, int],
    pitch: tuple[int, int],
    out: NDArray[np.uint32],
) -> None:
    """Write to `out` (rows, columns) the hash of each cell's pixels on the flat `page`, as printed.

    The hash is the sum, modulo 2**32, of each fold's bits times its factor; bits beyond 32 are
    folded in by exclusive or. `glyph` and `pitch` are (width, height); places as in
    ``raster.raster_any``.
    """
    width, height = glyph
    pitch_width, pitch_height = pitch
    left = (pitch_width - width) // 2
    top = (pitch_height - height) // 2
    size = height * line_bytes
    block = np.zeros(size + line_bytes + STEP_BYTES, np.uint8)
    stride = stepped(line_bytes)
    folded = np.empty(folds.shape[0] * stride, np.uint8)
    rows, columns = out.shape
    for row in range(rows):
        hashes = out[row]
        hashes[:] = 0
        copy(page, (row * pitch_height + top) * line_bytes, block, 0, size)
        fold_row(block, line_bytes, folds, folded)
        for fold in range(folds.shape[0]):
            source = folded[fold * stride :]
            factor = factors[fold]
            for column in range(columns):
                x = 8 + column * pitch_width + left
                bits = np.uint64(source[x // 8] & (255 >> x % 8))
                last = (x + width - 1) // 8
                for byte in range(x // 8 + 1, last + 1):
                    bits = bits << np.uint64(8) | np.uint64(source[byte])
                bits >>= np.uint64(7 - (x + width - 1) % 8)
                wide = np.uint32(bits ^ bits >> np.uint64(32))
                hashes[column] += wide * factor


@kernel
def moves(width: int, pitch: int) -> tuple[tuple[int, int, int], tuple[int, int, int], int]:
    """How 4 cells on `pitch`, in one number, come to stand on 8 bits, and how far from its end.

    Two moves: the bits that stay, those that have come, moved right by how many. Above 8, every
    second cell comes to its neighbour, then two by two; below 8 the other way round, away from it.
    """
    ink = (1 << width) - 1
    end = 64 - (pitch - width) // 2 - width
    if pitch >= 8:
        stay = ink | ink << 2 * pitch
        return (
            (stay, stay << 8, pitch - 8),
            (0xFFFF, 0xFFFF0000, 2 * pitch - 16),
            end - 3 * pitch,
        )
    stay = ink << 24 | ink << 24 - pitch
    rest = ink << 24 | ink << 8
    return (stay, stay >> 16, 16 - 2 * pitch), (rest, rest >> 8, 8 - pitch), end - 24


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

    Two halves of 4 cells, each in one number (see :func:`moves`). Reads up to 16 bytes a group from
    `start` on, the last group's beyond its cells.
    """
    pitch = U(pitch_width)
    further, into = U(4 * pitch_width // 8), U(4 * pitch_width % 8)
    one, two, drop = moves(width, pitch_width)
    stay, come, by = U(one[0]), U(one[1]), U(one[2])
    stay_two, come_two, by_two = U(two[0]), U(two[1]), U(two[2])
    for group in range(groups):
        at = U(start) + U(group) * pitch
        early = swap(load_little(page, at)) >> U(drop)
        late = swap(load_little(page, at + further)) << into >> U(drop)
        early = early & stay | early >> by & come
        late = late & stay | late >> by & come
        early = early & stay_two | early >> by_two & come_two
        late = late & stay_two | late >> by_two & come_two
        store_little(strip, U(8 * group), swap(early << U(32) | late))


@kernel
def hash_row(
    folded: NDArray[np.uint8],
    line_bytes: int,
    factors: NDArray[np.uint32],
    width: int,
    pitch_width: int,
    strip: NDArray[np.uint8],
    hashes: NDArray[np.uint32],
) -> None:
    """Write to `hashes` those of one row of cells, of what :func:`fold_row` wrote to `folded`.

    `strip` is scratch; both are as long as the row or longer, a multiple of 8.
    """
    cells = hashes.size
    stride = stepped(line_bytes)
    hashes[:] = 0
    for fold in range(factors.size):
        start = fold * stride + 1
        factor = factors[fold]
        if pitch_width == 8 and width == 8:
            for x in range(cells):
                hashes[x] += np.uint32(folded[U(start) + U(x)]) * factor
            continue
        gather_line(folded, start, cells // 8, width, pitch_width, strip)
        for x in range(cells):
            hashes[x] += np.uint32(strip[x]) * factor


@kernel
def hash_small(
    page: NDArray[np.uint8],
    line_bytes: int,
    folds: NDArray[np.int32],
    factors: NDArray[np.uint32],
    glyph: tuple[int, int],
    pitch: tuple[int, int],
    out: NDArray[np.uint32],
) -> None:
    """As :func:`hash_any`, for glyphs up to 8 px wide on pitches up to 16: 8 cells at a time."""
    width, height = glyph
    pitch_width, pitch_height = pitch
    top = (pitch_height - height) // 2
    rows, columns = out.shape
    size = height * line_bytes
    block = np.zeros(size + line_bytes + STEP_BYTES, np.uint8)
    folded = np.empty(folds.shape[0] * stepped(line_bytes) + STEP_BYTES, np.uint8)
    strip = np.empty((columns + 7) // 8 * 8, np.uint8)
    hashes = np.empty(strip.size, np.uint32)
    for row in range(rows):
        copy(page, (row * pitch_height + top) * line_bytes, block, 0, size)
        fold_row(block, line_bytes, folds, folded)
        hash_row(folded, line_bytes, factors, width, pitch_width, strip, hashes)
        for x in range(columns):
            out[row, x] = hashes[x]
