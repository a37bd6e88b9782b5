"""Where cells stand on a page: reading order to grid, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from snapcompact_kernels.paginate import EVERY, FLOW, INDENTED

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from snapcompact.pages.shape import Shape

BLANK = 32


def row_breaks(shape: Shape) -> int:
    """Which line ends end their row on pages of `shape`, as ``paginate.fill_page`` takes it."""
    if shape.layout == "lines":
        return EVERY
    return INDENTED if shape.indent else FLOW


def flow_to_grid(
    flow: NDArray[np.uint16], printed: int, shape: Shape, header: NDArray[np.uint16]
) -> NDArray[np.uint16]:
    """The grid (rows, grid columns) of a page, cut after the last row in use.

    `flow` holds the page's cells in reading order, `printed` of them in use; `header` is the row on
    top, empty where the shape has none. May be a view of `flow`.
    """
    width = shape.column_cells
    deep = shape.text_rows // shape.columns
    rows = min(deep, -(-printed // width))
    if shape.columns == 1 and not shape.header and width == shape.grid_columns:
        return flow[: rows * width].reshape(rows, width)
    grid = np.full((shape.header + rows, shape.grid_columns), BLANK, np.uint16)
    grid[: shape.header, : header.size] = header
    for column in range(shape.columns):
        first = column * deep * width
        left = column * (width + shape.gutter)
        body = flow[first : first + rows * width]
        grid[shape.header :, left : left + width] = body.reshape(rows, width)
    return grid


def grid_to_flow(grid: NDArray[np.uint16], shape: Shape) -> NDArray[np.uint16]:
    """The cells of `grid` (rows, grid columns) in reading order; header and gutters left out."""
    body = grid[int(shape.header) :]
    step = shape.column_cells + shape.gutter
    parts = [
        body[:, left : left + shape.column_cells].reshape(-1)
        for left in range(0, step * shape.columns, step)
    ]
    return np.ascontiguousarray(np.concatenate(parts))


def flow_to_cells(
    values: NDArray[np.uint8], rows: int, shape: Shape, *, fill: int
) -> NDArray[np.uint8]:
    """`values` of the cells that :func:`grid_to_flow` lists, back in their places on the grid.

    The result is (rows, grid columns); header and gutters get `fill`.
    """
    grid = np.full((rows, shape.grid_columns), fill, np.uint8)
    width = shape.column_cells
    for column, part in enumerate(np.split(values, shape.columns)):
        left = column * (width + shape.gutter)
        grid[int(shape.header) :, left : left + width] = part.reshape(-1, width)
    return grid


def header_cells(shape: Shape, short_id: str, number: int, line: int) -> NDArray[np.uint16]:
    """The header row: id, page number, number of the first line; empty if `shape` has none."""
    if not shape.header:
        return np.empty(0, np.uint16)
    text = f"{short_id} p{number} L{line}"
    return np.frombuffer(text.encode("ascii"), np.uint8)[: shape.grid_columns].astype(np.uint16)
