"""Scanlines, or cells, to a zlib stream."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

import deflate
import numpy as np

from snapcompact.errors import UnknownNameError
from snapcompact.pages.glyphs import glyph_tables, rows_filtered
from snapcompact.pages.render import page_buffer, thread_buffer, thread_held
from snapcompact_kernels.deflate import deflate_page, deflate_thoroughly
from snapcompact_kernels.deflate_repeats import LEAST_CELLS, find_repeats
from snapcompact_kernels.deflate_search import search_repeats
from snapcompact_kernels.draw import draw_small
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
    room = _room(drawn.shape)
    filter_up(page, line_bytes - 1, up, room.filtered)
    return bytes(_from_cells(drawn, room, thorough=EFFORTS[effort]))


def draw(
    cells: NDArray[np.uint16], shape: Shape, atlas: Atlas
) -> tuple[NDArray[np.uint8], memoryview]:
    """Scanlines of a page in black and small glyphs, and their stream, packed as ``fast`` has it.

    The same as ``render.raster`` and :func:`compress` give, in one call. Both stand in buffers of
    this thread, until it draws the next page.
    """
    room = _room(shape)
    rows = cells.shape[0]
    page = thread_buffer(shape, "page")
    size = draw_small(
        cells,
        glyph_tables(atlas).columns,
        (atlas.width, atlas.height),
        (shape.pitch_width, shape.pitch_height),
        shape.row_bytes,
        rows_filtered(shape, atlas),
        page,
        room.filtered,
        room.repeats,
        room.first[: rows + 1],
        room.matches,
        room.stream,
    )
    height = rows * shape.pitch_height
    scanlines = page[: height * shape.line_bytes].reshape(height, shape.line_bytes)
    return scanlines, _sealed(room, size, scanlines.size)


@dataclass(frozen=True, slots=True, eq=False)
class _Room:
    """What a thread packs pages of a shape in, one after the other; what the last left is in it."""

    filtered: NDArray[np.uint8]
    repeats: NDArray[np.int32]
    first: NDArray[np.int32]
    matches: NDArray[np.int32]
    stream: NDArray[np.uint8]


def _room(shape: Shape) -> _Room:
    """The room that this thread has for `shape`."""
    return thread_held((shape, "room"), lambda: _new_room(shape))


def _new_room(shape: Shape) -> _Room:
    scratch = page_buffer(shape, 4)
    most = shape.grid_rows * (shape.grid_columns // LEAST_CELLS)
    return _Room(
        filtered=page_buffer(shape),
        repeats=np.empty((most, 3), np.int32),
        first=np.empty(shape.grid_rows + 1, np.int32),
        matches=scratch[: scratch.size // 12 * 12].view(np.int32).reshape(-1, 3),
        stream=page_buffer(shape, 2),
    )


def _from_cells(drawn: Drawn, room: _Room, *, thorough: bool) -> memoryview:
    """Our own stream: one search for repetitions serves all scanlines of a row of cells."""
    shape, cells = drawn.shape, drawn.cells
    find, repeats, pack = (
        (search_repeats, np.empty((cells.size, 3), np.int32), deflate_thoroughly)
        if thorough
        else (find_repeats, room.repeats, deflate_page)
    )
    first = room.first[: cells.shape[0] + 1]
    block = shape.pitch_height * shape.line_bytes
    find(cells, drawn.atlas.width, shape.pitch_width, shape.row_bytes, block, repeats, first)
    size = pack(
        room.filtered,
        shape.line_bytes,
        repeats,
        first,
        shape.pitch_height,
        room.matches,
        room.stream,
    )
    return _sealed(room, size, cells.shape[0] * block)


def _sealed(room: _Room, size: int, page_bytes: int) -> memoryview:
    """The stream of `size` bytes in `room`, now with the checksum of what it packs."""
    stream = room.stream.data[:size]
    stream[-4:] = deflate.adler32(room.filtered[:page_bytes]).to_bytes(4, "big")
    return stream


EFFORTS: Mapping[str, bool] = MappingProxyType({"fast": False, "smaller": True})
"""How hard to pack, and whether that is thorough: 10 % fewer bytes in 5 times the time."""
