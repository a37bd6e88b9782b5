"""Filtered scanlines to glyph ids, row by row of cells, beside the scanlines they should be."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from snapcompact_kernels._jit import kernel
from snapcompact_kernels.hashes import STEP_BYTES, fold_row, hash_row, stepped
from snapcompact_kernels.match import find_row
from snapcompact_kernels.raster import copy, unfilter_lines

if TYPE_CHECKING:
    from numpy.typing import NDArray


U = np.uint64


@kernel
def read_back(
    filtered: NDArray[np.uint8],
    printed: NDArray[np.uint8],
    line_bytes: int,
    folds: NDArray[np.int32],
    factors: NDArray[np.uint32],
    glyph: tuple[int, int],
    pitch: tuple[int, int],
    tables: tuple[NDArray[np.uint32], NDArray[np.uint16], NDArray[np.uint32], NDArray[np.uint16]],
    out: NDArray[np.uint16],
) -> int:
    """Write the glyph id of each cell (rows, columns) to `out`; return how many cells have none.

    What ``raster.unfilter``, ``raster.first_difference``, ``hashes.hash_small`` and
    ``match.read_cells`` do one after the other, done while a row of cells is in the nearest cache.
    Returns -1 at the first row whose scanlines are not those in the flat `printed`, or are filtered
    otherwise than we do; what is behind is not read. `tables` are the four of ``read_cells``.
    """
    width, height = glyph
    pitch_width, pitch_height = pitch
    keys, ids, pair_keys, pair_ids = tables
    rows, columns = out.shape
    row_bytes = pitch_height * line_bytes
    top = line_bytes + (pitch_height - height) // 2 * line_bytes
    lines = np.empty(line_bytes + row_bytes, np.uint8)  # the last of the row above comes first
    block = np.zeros((height + 1) * line_bytes + STEP_BYTES, np.uint8)
    folded = np.empty(folds.shape[0] * stepped(line_bytes) + STEP_BYTES, np.uint8)
    strip = np.empty((columns + 7) // 8 * 8, np.uint8)
    hashes = np.empty(strip.size, np.uint32)
    missing = 0
    for row in range(rows):
        start = row * row_bytes
        if not unfilter_lines(filtered, start, start + row_bytes, line_bytes, lines, line_bytes):
            return -1
        odd = np.uint8(0)
        for i in range(row_bytes):
            odd |= lines[U(line_bytes) + U(i)] ^ printed[U(start) + U(i)]
        if odd:
            return -1
        copy(lines, top, block, 0, height * line_bytes)
        fold_row(block, line_bytes, folds, folded)
        hash_row(folded, line_bytes, factors, width, pitch_width, strip, hashes)
        missing += find_row(hashes, keys, ids, pair_keys, pair_ids, out[row])
        copy(lines, row_bytes, lines, 0, line_bytes)
    return missing
