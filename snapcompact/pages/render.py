"""Cells to bitmaps: packed rows of one bit a pixel."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from snapcompact.pages.glyphs import glyph_tables
from snapcompact_kernels.raster import raster_any

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from snapcompact.fonts.atlas import Atlas
    from snapcompact.pages.shape import Shape


def raster(
    cells: NDArray[np.uint16], shape: Shape, atlas: Atlas, out: NDArray[np.uint8] | None = None
) -> NDArray[np.uint8]:
    """The page of `cells` (rows, grid columns) as scanlines: (px high, 1 + row bytes) uint8.

    One bit a pixel, the first pixel highest, 1 is ink, before each row a byte 0 (PNG's filter); the
    page is ``shape.page_width`` px wide and as high as its rows. `out`, flat uint8 of at least that
    many bytes, is reused if given, and the result is then a view of it.
    """
    height = cells.shape[0] * shape.pitch_height
    stride = 1 + shape.row_bytes
    page = np.empty(height * stride, np.uint8) if out is None else out[: height * stride]
    page = page.reshape(height, stride)
    tables = glyph_tables(atlas)
    raster_any(cells, tables.bits, atlas.width, shape.pitch_width, shape.pitch_height, page)
    return page
