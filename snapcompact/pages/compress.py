"""Scanlines to a zlib stream."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

import deflate
import numpy as np

from snapcompact.errors import UnknownNameError
from snapcompact.pages.glyphs import rows_filtered
from snapcompact.pages.render import page_buffer
from snapcompact_kernels.deflate import deflate_page
from snapcompact_kernels.deflate_matches import find_matches
from snapcompact_kernels.raster import filter_up

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from snapcompact.fonts.atlas import Atlas
    from snapcompact.pages.shape import Shape


@dataclass(frozen=True, slots=True, eq=False)
class Drawn:
    """A page to be packed: ``cells`` (rows, grid columns) and the ``scanlines`` they print."""

    cells: NDArray[np.uint16]
    scanlines: NDArray[np.uint8]
    shape: Shape
    atlas: Atlas


@dataclass(frozen=True, slots=True, eq=False)
class _Buffers:
    """Memory of one thread: fresh memory for each page would halve the speed."""

    shape: Shape
    filtered: NDArray[np.uint8]
    tokens: NDArray[np.int32]
    stream: NDArray[np.uint8]


_local = threading.local()


def compress(drawn: Drawn, effort: str) -> bytes:
    """The zlib stream of the page's scanlines, filtered; the same bytes for the same page.

    `effort` names a row of EFFORTS; raises UnknownNameError if it does not.
    """
    if effort not in EFFORTS:
        raise UnknownNameError(f"unknown effort {effort!r}: known are {', '.join(EFFORTS)}")
    shape = drawn.shape
    buffers = _buffers(shape)
    page = drawn.scanlines.reshape(-1)
    filtered = buffers.filtered[: page.size]
    filter_up(page, shape.row_bytes, rows_filtered(shape, drawn.atlas), filtered)
    return EFFORTS[effort](drawn, filtered, buffers)


def _from_cells(drawn: Drawn, filtered: NDArray[np.uint8], buffers: _Buffers) -> bytes:
    """Our own stream: one search for repetitions serves all scanlines of a row of cells."""
    shape = drawn.shape
    first = np.empty(drawn.cells.shape[0] + 1, np.int32)
    find_matches(
        drawn.cells,
        drawn.atlas.width,
        shape.pitch_width,
        shape.row_bytes,
        shape.pitch_height * shape.line_bytes,
        buffers.tokens,
        first,
    )
    size = deflate_page(
        filtered,
        shape.line_bytes,
        buffers.tokens,
        first,
        shape.pitch_height,
        deflate.adler32(filtered),
        buffers.stream,
    )
    return buffers.stream[:size].tobytes()


def _by_library(_: Drawn, filtered: NDArray[np.uint8], __: _Buffers) -> bytes:
    return bytes(deflate.zlib_compress(filtered, 8))


EFFORTS: Mapping[str, Callable[[Drawn, NDArray[np.uint8], _Buffers], bytes]] = MappingProxyType(
    {"fast": _from_cells, "smaller": _by_library}
)
"""How hard to pack: ``fast`` for speed, ``smaller`` for bytes."""


def _buffers(shape: Shape) -> _Buffers:
    """The buffers of this thread, made anew when the shape changes."""
    held: _Buffers | None = getattr(_local, "buffers", None)
    if held is None or held.shape != shape:
        filtered = page_buffer(shape)
        tokens = np.empty((shape.grid_rows * shape.line_bytes // 3, 3), np.int32)
        held = _Buffers(shape, filtered, tokens, np.empty(2 * filtered.size + 1024, np.uint8))
        _local.buffers = held
    return held
