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
from snapcompact_kernels.deflate import deflate_page
from snapcompact_kernels.deflate_repeats import LEAST_CELLS, find_repeats
from snapcompact_kernels.raster import filter_up

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

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
        return _by_library(drawn, filtered)
    filtered = thread_buffer(drawn.shape, "filtered")
    filter_up(page, line_bytes - 1, up, filtered)
    return EFFORTS[effort](drawn, filtered)


def _from_cells(drawn: Drawn, filtered: NDArray[np.uint8]) -> bytes:
    """Our own stream: one search for repetitions serves all scanlines of a row of cells."""
    shape = drawn.shape
    rows, columns = drawn.cells.shape
    first = np.empty(rows + 1, np.int32)
    repeats = np.empty((rows * (columns // LEAST_CELLS), 3), np.int32)
    scratch = thread_buffer(shape, "matches", 4)
    matches = scratch[: scratch.size // 12 * 12].view(np.int32).reshape(-1, 3)
    stream = thread_buffer(shape, "stream", 2)
    block = shape.pitch_height * shape.line_bytes
    find_repeats(
        drawn.cells, drawn.atlas.width, shape.pitch_width, shape.row_bytes, block, repeats, first
    )
    size = deflate_page(
        filtered,
        shape.line_bytes,
        repeats,
        first,
        shape.pitch_height,
        deflate.adler32(filtered[: rows * block]),
        matches,
        stream,
    )
    return stream[:size].tobytes()


def _by_library(drawn: Drawn, filtered: NDArray[np.uint8]) -> bytes:
    # Level 8 takes 3.3 times as long for 2 % fewer bytes, level 12, the least, 26 for 9 %.
    return bytes(deflate.zlib_compress(filtered[: drawn.scanlines.size], 6))


EFFORTS: Mapping[str, Callable[[Drawn, NDArray[np.uint8]], bytes]] = MappingProxyType(
    {"fast": _from_cells, "smaller": _by_library}
)
"""How hard to pack: ``fast`` for speed, ``smaller`` for bytes."""
