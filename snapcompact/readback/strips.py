"""Rows of a page as pictures for OCR engines: cut on the known grid, cells set a little apart.

Measured (bench/legibility.py): glyphs that fill their cells are read better with one column between
cells and two scanlines between rows; RapidOCR's errors fall by a third, Tesseract finds the lines.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from snapcompact.pages.picture import read_grey
from snapcompact.readback.exact import ink_of
from snapcompact.readback.grid import find_grid, straighten

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from snapcompact.fonts.atlas import Atlas
    from snapcompact.pages.shape import Shape
    from snapcompact.readback.reader import PagePicture

COLUMN_GAP_PX = 1
ROW_GAP_PX = 2


def page_strips(page: PagePicture) -> NDArray[np.uint8]:
    """The rows of `page` (rows, height, width), 255 is paper: in reading order, header left out.

    Raises PageError where the picture is none that is read.
    """
    shape = page.shape
    ink = ink_of(read_grey(page.data))
    grid = find_grid(ink, shape, page.atlas)
    rows = int((ink.shape[0] - grid.top) / grid.scale_y / shape.pitch_height + 0.5)
    rows = min(max(rows, 1), shape.grid_rows)
    size = (rows * shape.pitch_height, shape.grid_columns * shape.pitch_width)
    strips = spread(straighten(ink, grid, size), shape, page.atlas)
    width = strips.shape[2] // shape.grid_columns
    step = (shape.column_cells + shape.gutter) * width
    columns = [
        strips[int(shape.header) :, :, step * at : step * at + shape.column_cells * width]
        for at in range(shape.columns)
    ]
    grey = 255.0 - 255.0 * np.clip(np.concatenate(columns), 0.0, 1.0)
    return np.asarray(grey.round(), np.uint8)


def spread(ink: NDArray[np.float32], shape: Shape, atlas: Atlas) -> NDArray[np.float32]:
    """`ink` as (rows, height, width) with at least the gaps above between glyphs."""
    height, width = shape.pitch_height, shape.pitch_width
    cells = ink.reshape(ink.shape[0] // height, height, ink.shape[1] // width, width)
    down = max(0, ROW_GAP_PX - (height - atlas.height))
    across = max(0, COLUMN_GAP_PX - (width - atlas.width))
    wider = np.pad(cells, ((0, 0), (0, down), (0, 0), (0, across)))
    return wider.reshape(wider.shape[0], height + down, -1)


def blank_cells(strip: NDArray[np.uint8], cells: int) -> NDArray[np.bool_]:
    """(cells,) which cells of one strip have no ink to speak of."""
    darkest = strip.reshape(strip.shape[0], cells, -1).min(axis=(0, 2))
    return np.asarray(darkest > 200)
