"""Pages back to text, exactly, from their pixels alone."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from snapcompact.errors import PageError
from snapcompact.fonts.atlas import NO_GLYPH
from snapcompact.pages import png
from snapcompact.pages.glyphs import check_fits, glyph_tables
from snapcompact.pages.layout import grid_to_flow
from snapcompact.pages.metadata import PageMetadata
from snapcompact.pages.render import is_small, raster, thread_buffer
from snapcompact.pages.shape import Shape, parse_shape, shapes
from snapcompact_kernels import cells as cell_kernels
from snapcompact_kernels import hashes as hash_kernels
from snapcompact_kernels import match as match_kernels
from snapcompact_kernels.raster import first_difference
from snapcompact_kernels.readback import read_back

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from snapcompact.fonts.atlas import Atlas
    from snapcompact.pages.cells import PageCells


@dataclass(frozen=True, slots=True, eq=False)
class CellsRead:
    """``cells`` (rows, grid columns) uint16; ``bad`` (n, 2) row and column of damaged ones.

    A damaged cell's pixels differ from those that its glyph prints; its id is NO_GLYPH where no
    glyph has its hash. Damage in the margin right of the grid counts for the last column.
    """

    cells: NDArray[np.uint16]
    bad: NDArray[np.intp]


def read_cells(scanlines: NDArray[np.uint8], shape: Shape, atlas: Atlas) -> CellsRead:
    """The cells printed on a page; never a pixel's difference unseen.

    `scanlines` are (height, 1 + row bytes) uint8 as ``png.decode`` gives them. Glyphs are found by
    hash, printed again and compared. Raises PageError if the size is not that of a page of `shape`.
    """
    check_fits(shape, atlas)
    rows = _rows(scanlines.shape[0], (scanlines.shape[1] - 1), shape)
    cells, lost = _match(scanlines, rows, shape, atlas)
    printable = np.where(cells == NO_GLYPH, 32, cells).astype(np.uint16) if lost else cells
    printed = raster(printable, shape, atlas, thread_buffer(shape, "page"))
    flat = printed.reshape(-1), scanlines.reshape(-1)
    if not lost and first_difference(*flat, shape.row_bytes, scanlines.shape[0]) < 0:
        return CellsRead(cells, np.empty((0, 2), np.intp))
    return CellsRead(cells, _differences(printed ^ scanlines, cells, shape))


def reads_back(data: bytes, printed: NDArray[np.uint8], page: PageCells, shape: Shape) -> bool:
    """Whether `data` is a PNG of ours that is read as the text of `page` and says what is so.

    `printed` are the scanlines that it was drawn as, so that glyphs need not be printed again
    to know that no pixel differs, as :func:`read_cells` does: half of its time. Of what was drawn
    wrong, ink between glyphs, where none belongs, is not seen here, nor are three pixels or more of
    a glyph's column that cancel out in all folds. Raises PageError where it is damaged.
    """
    packed, atlas = png.unpack(data), page.atlas
    if packed is None or packed.filtered is None:
        return False
    if (packed.height, packed.width) != (printed.shape[0], shape.page_width):
        return False
    if packed.metadata != PageMetadata(
        shape.name, atlas.sha256, page.number, page.offset, page.length, page.sha256
    ):
        return False
    if packed.depth == 1 and is_small(shape, atlas):
        cells, lost = _read_back(packed.filtered, printed, shape, atlas)
    else:
        scanlines = png.decode(data).scanlines
        flat = printed.reshape(-1), scanlines.reshape(-1)
        if first_difference(*flat, shape.row_bytes, scanlines.shape[0]) >= 0:
            return False
        cells, lost = _match(scanlines, scanlines.shape[0] // shape.pitch_height, shape, atlas)
    return not lost and cells_to_text(cells, shape, atlas) == page.text


def _read_back(
    filtered: NDArray[np.uint8], printed: NDArray[np.uint8], shape: Shape, atlas: Atlas
) -> tuple[NDArray[np.uint16], int]:
    """As :func:`_match`, of scanlines whose filters stand; -1 where they differ from `printed`."""
    tables = glyph_tables(atlas)
    cells = np.empty((printed.shape[0] // shape.pitch_height, shape.grid_columns), np.uint16)
    lost = read_back(
        filtered,
        printed.reshape(-1),
        shape.line_bytes,
        tables.folds,
        tables.factors,
        (atlas.width, atlas.height),
        (shape.pitch_width, shape.pitch_height),
        tables.singles,
        tables.pairs,
        cells,
    )
    return cells, lost


def _match(
    scanlines: NDArray[np.uint8], rows: int, shape: Shape, atlas: Atlas
) -> tuple[NDArray[np.uint16], int]:
    """(rows, grid columns) the glyph with the hash of each cell, and how many have none."""
    tables = glyph_tables(atlas)
    hashes = _hashes(scanlines, rows, shape, atlas)
    cells = np.empty(hashes.shape, np.uint16)
    lost = match_kernels.read_cells(hashes, tables.singles, tables.pairs, cells)
    return cells, lost


def _hashes(
    scanlines: NDArray[np.uint8], rows: int, shape: Shape, atlas: Atlas
) -> NDArray[np.uint32]:
    """(rows, grid columns) the hash of the pixels of each cell."""
    hashes = np.empty((rows, shape.grid_columns), np.uint32)
    tables = glyph_tables(atlas)
    (hash_kernels.hash_small if is_small(shape, atlas) else hash_kernels.hash_any)(
        scanlines.reshape(-1),
        shape.line_bytes,
        tables.folds,
        tables.factors,
        (atlas.width, atlas.height),
        (shape.pitch_width, shape.pitch_height),
        hashes,
    )
    return hashes


def cells_to_text(cells: NDArray[np.uint16], shape: Shape, atlas: Atlas) -> bytes:
    """The text that `cells` (rows, grid columns) print.

    Raises PageError with the row and column (from 1) of the first cell that no text prints so.
    """
    flow = grid_to_flow(cells, shape)
    out = np.empty(4 * flow.size, np.uint8)
    size, wrong = cell_kernels.cells_to_text(flow, atlas.codes, atlas.wide, shape.column_cells, out)
    if wrong >= 0:
        column, at = divmod(wrong, (cells.shape[0] - shape.header) * shape.column_cells)
        row, x = divmod(at, shape.column_cells)
        x += column * (shape.column_cells + shape.gutter)
        raise PageError(f"page is damaged: {_place(row + shape.header, x)} prints no text")
    return out[:size].tobytes()


def read_text(image: png.PageImage, shape: Shape, atlas: Atlas) -> bytes:
    """The text of `image`, byte for byte.

    Raises PageError with the row and column (from 1) of the first difference, or where the text is
    not the one that the page's metadata, if it has any, carries the hash of.
    """
    read = read_cells(image.scanlines, shape, atlas)
    if len(read.bad):
        row, column = read.bad[0]
        raise PageError(
            f"page is damaged: {len(read.bad)} cells differ from what they print, "
            f"first {_place(row, column)}"
        )
    text = cells_to_text(read.cells, shape, atlas)
    if image.metadata and hashlib.sha256(text).hexdigest() != image.metadata.sha256:
        raise PageError("page is damaged: its pixels read well, but its text has another hash")
    return text


def find_shape(image: png.PageImage, load_atlas: Callable[[str], Atlas]) -> Shape:
    """The shape `image` is printed in: as its metadata says, else the named one that reads best.

    Raises PageError if no named shape reads its first row without a difference.
    """
    if image.metadata:
        return parse_shape(image.metadata.shape)
    for shape in _candidates(image):
        first = image.scanlines[: shape.pitch_height]
        read = read_cells(first, shape, load_atlas(shape.font))
        if not len(read.bad):
            return shape
    raise PageError(
        f"no named shape fits this page of {image.width}x{image.height} px: name its shape"
    )


def _candidates(image: png.PageImage) -> Iterator[Shape]:
    """The named shapes that print pages of the size of `image`."""
    for row in shapes().values():
        shape = row.shape
        whole_rows = image.height % shape.pitch_height == 0
        if whole_rows and shape.page_width == image.width and image.height <= shape.page_height:
            yield shape


def _rows(height: int, row_bytes: int, shape: Shape) -> int:
    """Rows of cells on a page `height` px high; raises PageError if `shape` prints no such."""
    rows, rest = divmod(height, shape.pitch_height)
    if rest or row_bytes != shape.row_bytes or not shape.header < rows <= shape.grid_rows:
        raise PageError(
            f"page of {row_bytes} bytes by {height} px; shape {shape.name!r} prints "
            f"{shape.row_bytes} bytes by a multiple of {shape.pitch_height} px, "
            f"up to {shape.grid_rows} rows"
        )
    return rows


def _differences(
    pixels: NDArray[np.uint8], cells: NDArray[np.uint16], shape: Shape
) -> NDArray[np.intp]:
    """Row and column of cells without a glyph or with a pixel set in `pixels` (scanlines)."""
    rows, columns = cells.shape
    bits = np.unpackbits(pixels[:, 1:], axis=1)
    inside = columns * shape.pitch_width
    body = bits[:, :inside].reshape(rows, shape.pitch_height, columns, shape.pitch_width)
    bad = body.any(axis=(1, 3)) | (cells == NO_GLYPH)
    margin = bits[:, inside:].reshape(rows, -1).any(axis=1)
    bad[:, -1] |= margin | pixels[:, 0].reshape(rows, -1).any(axis=1)
    return np.argwhere(bad)


def _place(row: int, column: int) -> str:
    return f"row {row + 1} column {column + 1}"
