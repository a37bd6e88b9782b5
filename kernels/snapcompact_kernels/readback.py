"""Filtered scanlines to glyph ids, row by row of cells, beside the scanlines they should be."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from snapcompact_kernels._jit import kernel
from snapcompact_kernels.hashes import STEP_BYTES, fold_row, hash_row, stepped
from snapcompact_kernels.match import find_row
from snapcompact_kernels.raster import copy, unfilters_to

if TYPE_CHECKING:
    from numpy.typing import NDArray


@kernel
def read_back(
    filtered: NDArray[np.uint8],
    printed: NDArray[np.uint8],
    line_bytes: int,
    folds: NDArray[np.int32],
    factors: NDArray[np.uint32],
    glyph: tuple[int, int],
    pitch: tuple[int, int],
    singles: NDArray[np.uint64],
    pairs: NDArray[np.uint64],
    out: NDArray[np.uint16],
) -> int:
    """Write the glyph id of each cell (rows, columns) to `out`; return how many cells have none.

    What ``raster.unfilter``, ``raster.first_difference``, ``hashes.hash_small`` and
    ``match.read_cells`` do one after the other, done while a row of cells is in the nearest cache;
    scanlines that are known to be those printed are not written once more. Returns -1 at the first
    row whose scanlines are not those in the flat `printed`, or are filtered otherwise than we do;
    what is behind is not read. `singles` and `pairs` as for ``read_cells``.
    """
    width, height = glyph
    pitch_width, pitch_height = pitch
    rows, columns = out.shape
    row_bytes = pitch_height * line_bytes
    top = (pitch_height - height) // 2 * line_bytes
    block = np.zeros((height + 1) * line_bytes + STEP_BYTES, np.uint8)
    folded = np.empty(folds.shape[0] * stepped(line_bytes) + STEP_BYTES, np.uint8)
    strip = np.empty((columns + 7) // 8 * 8, np.uint8)
    hashes = np.empty(strip.size, np.uint32)
    missing = 0
    for row in range(rows):
        start = row * row_bytes
        if not unfilters_to(filtered, printed, start, start + row_bytes, line_bytes):
            return -1
        copy(printed, start + top, block, 0, height * line_bytes)
        fold_row(block, line_bytes, folds, folded)
        hash_row(folded, line_bytes, factors, width, pitch_width, strip, hashes)
        missing += find_row(hashes, singles, pairs, out[row])
    return missing
