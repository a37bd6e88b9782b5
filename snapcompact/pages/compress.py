"""Scanlines to a zlib stream."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

import deflate
import numpy as np

from snapcompact.errors import UnknownNameError
from snapcompact.pages.glyphs import rows_filtered
from snapcompact.pages.render import thread_buffer
from snapcompact_kernels.deflate import deflate_page, deflate_thoroughly
from snapcompact_kernels.deflate_repeats import LEAST_CELLS, find_repeats
from snapcompact_kernels.deflate_search import search_repeats
from snapcompact_kernels.raster import filter_up

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from snapcompact.fonts.atlas import Atlas
    from snapcompact.pages.shape import Shape


@dataclass(frozen=True, slots=True, eq=False)
class Drawn:
    """A page to be packed: ``cells`` (rows, grid columns) and the ``scanlines`` they print.

    Scanlines of more than one bit a pixel, which own streams are not made for, are longer than the
    shape's.
    """

    cells: NDArray[np.uint16]
    scanlines: NDArray[np.uint8]
    shape: Shape
    atlas: Atlas


def compress(drawn: Drawn, effort: str) -> bytes:
    """The zlib stream of the page's scanlines, filtered; the same bytes for the same page.

    `effort` names a row of EFFORTS; raises UnknownNameError if it does not.
    """
    if effort not in EFFORTS:
        raise UnknownNameError(f"unknown effort {effort!r}: known are {', '.join(EFFORTS)}")
    up = rows_filtered(drawn.shape, drawn.atlas)
    page = drawn.scanlines.reshape(-1)
    line_bytes = drawn.scanlines.shape[1]
    if line_bytes != drawn.shape.line_bytes:
        filtered = np.empty_like(page)
        filter_up(page, line_bytes - 1, up, filtered)
        return bytes(deflate.zlib_compress(filtered, 6))
    filtered = thread_buffer(drawn.shape, "filtered")
    filter_up(page, line_bytes - 1, up, filtered)
    return _from_cells(drawn, filtered, thorough=EFFORTS[effort])


def _from_cells(drawn: Drawn, filtered: NDArray[np.uint8], *, thorough: bool) -> bytes:
    """Our own stream: one search for repetitions serves all scanlines of a row of cells."""
    shape = drawn.shape
    rows, columns = drawn.cells.shape
    find, most, pack = (
        (search_repeats, drawn.cells.size, deflate_thoroughly)
        if thorough
        else (find_repeats, rows * (columns // LEAST_CELLS), deflate_page)
    )
    first = np.empty(rows + 1, np.int32)
    repeats = np.empty((most, 3), np.int32)
    scratch = thread_buffer(shape, "matches", 4)
    matches = scratch[: scratch.size // 12 * 12].view(np.int32).reshape(-1, 3)
    stream = thread_buffer(shape, "stream", 2)
    block = shape.pitch_height * shape.line_bytes
    find(drawn.cells, drawn.atlas.width, shape.pitch_width, shape.row_bytes, block, repeats, first)
    adler = deflate.adler32(filtered[: rows * block])
    size = pack(
        filtered, shape.line_bytes, repeats, first, shape.pitch_height, adler, matches, stream
    )
    return stream[:size].tobytes()


EFFORTS: Mapping[str, bool] = MappingProxyType({"fast": False, "smaller": True})
"""How hard to pack, and whether that is thorough: 10 % fewer bytes in 5 times the time."""
