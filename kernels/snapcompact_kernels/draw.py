"""Cells to scanlines and to a zlib stream at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from snapcompact_kernels._jit import kernel
from snapcompact_kernels.deflate import deflate_page
from snapcompact_kernels.deflate_repeats import find_repeats
from snapcompact_kernels.raster import filter_up, raster_small

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@kernel
def draw_small(
    cells: NDArray[np.uint16],
    columns: NDArray[np.uint64],
    size: tuple[int, int],
    pitch: tuple[int, int],
    row_bytes: int,
    up: NDArray[np.bool_],
    scanlines: NDArray[np.uint8],
    filtered: NDArray[np.uint8],
    repeats: NDArray[np.int32],
    first: NDArray[np.int32],
    matches: NDArray[np.int32],
    stream: NDArray[np.uint8],
) -> int:
    """Print, filter and pack the page of `cells`; return the length of its `stream`.

    What ``raster.raster_small``, ``raster.filter_up``, ``deflate_repeats.find_repeats`` and
    ``deflate.deflate_page`` do one after the other, arguments as theirs, all outputs flat. At once,
    since a thread that comes back from a kernel may have to wait for the GIL.
    """
    line_bytes = 1 + row_bytes
    block = pitch[1] * line_bytes
    raster_small(cells, columns, size, pitch, row_bytes, scanlines)
    filter_up(scanlines[: cells.shape[0] * block], row_bytes, up, filtered)
    find_repeats(cells, size[0], pitch[0], row_bytes, block, repeats, first)
    return deflate_page(filtered, line_bytes, repeats, first, pitch[1], matches, stream)
