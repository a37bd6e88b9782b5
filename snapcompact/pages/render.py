"""Cells to bitmaps: scanlines of one bit a pixel."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from snapcompact.pages.glyphs import glyph_tables
from snapcompact.pages.ink import cell_inks, depth_of
from snapcompact_kernels.raster import colour, raster_any, raster_small

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from snapcompact.fonts.atlas import Atlas
    from snapcompact.pages.shape import Shape

MOST_HELD = 16
"""Held by a thread, for a few shapes in turn."""
SLACK_BYTES = 1024
"""Behind a page: kernels that handle 8 cells at a time write beyond it, a stream has its header."""

Held = TypeVar("Held")

_local = threading.local()


def page_buffer(shape: Shape, times: int = 1) -> NDArray[np.uint8]:
    """Room for `times` the scanlines of one page of `shape`, to be used again and again."""
    page_bytes = shape.grid_rows * shape.pitch_height * shape.line_bytes
    return np.empty(times * page_bytes + SLACK_BYTES, np.uint8)


def thread_buffer(shape: Shape, use: str, times: int = 1) -> NDArray[np.uint8]:
    """The :func:`page_buffer` of this thread for one `use`; what the last page left is in it.

    Writing each page to fresh memory would halve the speed.
    """
    return thread_held((shape, use), lambda: page_buffer(shape, times))


def thread_held(key: tuple[Shape, str], make: Callable[[], Held]) -> Held:
    """What this thread holds for a shape and a use, made when it is first asked for."""
    held: dict[tuple[Shape, str], Any] = vars(_local).setdefault("held", {})
    if key not in held:
        if len(held) >= MOST_HELD:
            held.clear()
        held[key] = make()
    found: Held = held[key]
    return found


def is_small(shape: Shape, atlas: Atlas) -> bool:
    """Whether kernels that take 8 cells at a time do for pages of `shape`."""
    return atlas.width <= 8 and shape.pitch_width <= 16


def paint(
    scanlines: NDArray[np.uint8], cells: NDArray[np.uint16], shape: Shape
) -> NDArray[np.uint8]:
    """The scanlines of the page of `cells` in the colours of its shape's ink.

    (px high, 1 + row bytes) uint8 at ``ink.depth_of`` bits a pixel; the same array for black.
    """
    depth = depth_of(shape.ink)
    if depth == 1:
        return scanlines
    out = np.empty((scanlines.shape[0], 1 + (shape.page_width * depth + 7) // 8), np.uint8)
    colour(scanlines, cell_inks(cells, shape), (shape.pitch_width, shape.pitch_height), depth, out)
    return out


def raster(
    cells: NDArray[np.uint16], shape: Shape, atlas: Atlas, out: NDArray[np.uint8] | None = None
) -> NDArray[np.uint8]:
    """The page of `cells` (rows, grid columns) as scanlines: (px high, 1 + row bytes) uint8.

    One bit a pixel, the first pixel highest, 1 is ink, before each row a byte 0 (PNG's filter); the
    page is ``shape.page_width`` px wide and as high as its rows. `out`, a :func:`page_buffer`, is
    written to if given, and the result is then a view of it.
    """
    height = cells.shape[0] * shape.pitch_height
    buffer = page_buffer(shape) if out is None else out
    page = buffer[: height * shape.line_bytes].reshape(height, shape.line_bytes)
    tables = glyph_tables(atlas)
    pitch = shape.pitch_width, shape.pitch_height
    if is_small(shape, atlas):
        size = atlas.width, atlas.height
        raster_small(cells, tables.columns, size, pitch, shape.row_bytes, buffer)
    else:
        raster_any(cells, tables.bits, atlas.width, *pitch, page)
    return page
