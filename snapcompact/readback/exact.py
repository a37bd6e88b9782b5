"""Exact decoding of a picture of a page, whatever became of the picture since.

A page as printed is read by the hashes of its cells, without a doubt left. Any other picture (made
a JPEG, scaled, shifted, cropped, salted, turned a little) is straightened to the grid found on it
and each cell compared with every glyph, blurred as the page is. Cells whose second best glyph comes
near are *unsure*.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from snapcompact.errors import PageError
from snapcompact.fonts.atlas import NO_GLYPH
from snapcompact.pages.carried import page_atlas
from snapcompact.pages.decode import read_cells
from snapcompact.pages.picture import read_grey
from snapcompact.pages.png import decode
from snapcompact.pages.shape import parse_shape, shapes
from snapcompact.readback.deskew import set_upright
from snapcompact.readback.grid import Grid, find_grid, straighten
from snapcompact.readback.loose import loose_text
from snapcompact.readback.nearest import nearest_glyphs
from snapcompact.readback.optics import phases_of, scaled_taps
from snapcompact.readback.templates import glyph_templates
from snapcompact.readback.truth import page_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from snapcompact.fonts.atlas import Atlas
    from snapcompact.pages.png import PageImage
    from snapcompact.pages.shape import Shape

UNSURE = 6.0
"""A margin (log odds) below this is unsure. On pages of the corpus at 8x16, 6x12 and 5x8 after JPEG
10, half size and 5 % noise; figures in bench/README.md."""
WORST_MISFIT = 0.85
"""Of the grid; above it no page of the shape is seen. Photographs of other text give 0.9."""

MOST_UNSURE, MOST_UNSURE_TURNED = 0.5, 0.2
"""Shares of a page's cells. Noise that was turned gives 0.4, its grid being what fits it best."""


@dataclass(frozen=True, slots=True, eq=False)
class CellsSeen:
    """The cells on a picture of a page.

    ``cells`` (rows, grid columns) uint16, NO_GLYPH where the picture shows none; ``unsure`` the
    same size, bool. ``as_printed`` is true where every pixel is one that these cells print.
    ``sha256`` is the hex hash of the text that the page says it holds, empty where it says none.
    """

    cells: NDArray[np.uint16]
    unsure: NDArray[np.bool_]
    shape: Shape
    atlas: Atlas
    as_printed: bool
    sha256: str = ""

    def unsure_places(self) -> list[tuple[int, int]]:
        """Row and column, from 0, of the cells of the text that are unsure, in order."""
        return [(int(row), int(column)) for row, column in np.argwhere(self.unsure)]


def see_cells(
    data: bytes, load_atlas: Callable[[str], Atlas], *, shape: Shape | None = None
) -> CellsSeen:
    """The cells on the picture in `data`.

    `shape` is taken from the page itself where it is None: from its metadata, else the named shape
    that fits best. Glyphs that the page carries are added to those that `load_atlas` gives for its
    font, or stand alone where that raises UnknownNameError. Raises PageError where it is no picture
    that is read, or shows no such page.
    """
    image = decode(data)
    said = shape or (parse_shape(image.metadata.shape) if image.metadata else None)
    for known in [said] if said else _same_width(image.width):
        seen = _as_printed(image, known, page_atlas(image, known, load_atlas))
        if seen is not None:
            return _trusted(_told(seen, image), image)
    if said:
        load_atlas = partial(_only, page_atlas(image, said, load_atlas))
    ink = ink_of(read_grey(data))
    tried = [said] if said else _pitches()
    try:
        seen = _damaged(ink, tried, load_atlas, MOST_UNSURE)
    except PageError as as_it_stands:
        try:
            seen = _damaged(set_upright(ink), tried, load_atlas, MOST_UNSURE_TURNED)
        except PageError:
            raise as_it_stands from None
    return _confirmed(_told(seen, image))


def _damaged(
    ink: NDArray[np.float32],
    tried: Sequence[Shape],
    load_atlas: Callable[[str], Atlas],
    most_unsure: float,
) -> CellsSeen:
    """The cells, with at most the share `most_unsure` of them unsure; else PageError."""
    found, grid = _best_grid(ink, tried, load_atlas)
    seen = _see(ink, grid, found, load_atlas(found.font), settle_width=len(tried) > 1)
    of_text = page_rows(seen.cells, seen.shape, seen.atlas)[1]
    if seen.unsure.sum() > most_unsure * of_text.size:
        raise _no_page(ink, f"shape {seen.shape.name!r}")
    return seen


def _only(atlas: Atlas, _: str) -> Atlas:
    return atlas


def _told(seen: CellsSeen, image: PageImage) -> CellsSeen:
    """`seen`, with what the page says of its text."""
    return replace(seen, sha256=image.metadata.sha256) if image.metadata else seen


def _trusted(seen: CellsSeen, image: PageImage) -> CellsSeen:
    """`seen`. Glyphs that came with the page are trusted for the text it has the hash of alone.

    Raises PageError where they say another.
    """
    if not image.glyphs or image.metadata is None:
        return seen
    text = loose_text(seen.cells, seen.shape, seen.atlas)
    if hashlib.sha256(text).hexdigest() != image.metadata.sha256:
        raise PageError("the glyphs that the page carries do not say the text it has the hash of")
    return seen


def _same_width(width: int) -> list[Shape]:
    return [row.shape for row in shapes().values() if row.shape.page_width == width]


def _as_printed(image: PageImage, shape: Shape, atlas: Atlas) -> CellsSeen | None:
    """The cells by their hashes, or None if a pixel differs."""
    if image.width != shape.page_width or image.height % shape.pitch_height:
        return None
    if not int(shape.header) < image.height // shape.pitch_height <= shape.grid_rows:
        return None
    read = read_cells(image.scanlines, shape, atlas)
    if len(read.bad):
        return None
    return CellsSeen(read.cells, np.zeros(read.cells.shape, np.bool_), shape, atlas, True)


def ink_of(grey: NDArray[np.float32]) -> NDArray[np.float32]:
    """Brightness as ink, 0 at the paper's level and 1 at the darkest 1 % of what is not paper."""
    paper = float(np.median(grey))
    dark = grey[grey < paper - 32]
    black = float(np.percentile(dark, 1)) if dark.size > 16 else 0.0
    ink = np.clip((paper - grey) / max(paper - black, 1.0), 0.0, 1.0)
    return np.asarray(ink, np.float32)


def _pitches() -> list[Shape]:
    """A named shape for each font and pitch."""
    first: dict[tuple[str, int, int], Shape] = {}
    for row in shapes().values():
        shape = row.shape
        first.setdefault((shape.font, shape.pitch_width, shape.pitch_height), shape)
    return list(first.values())


def _best_grid(
    ink: NDArray[np.float32], tried: Iterable[Shape], load_atlas: Callable[[str], Atlas]
) -> tuple[Shape, Grid]:
    found = [(shape, find_grid(ink, shape, load_atlas(shape.font))) for shape in tried]
    shape, grid = min(found, key=lambda pair: pair[1].misfit)
    if grid.misfit > WORST_MISFIT:
        raise _no_page(ink, f"shape {shape.name!r}" if len(found) == 1 else "any named shape")
    return shape, grid


def _see(
    ink: NDArray[np.float32], grid: Grid, shape: Shape, atlas: Atlas, *, settle_width: bool
) -> CellsSeen:
    """The cells in `grid`. With `settle_width` the named shape of this pitch and width is taken."""
    height, width = shape.pitch_height, shape.pitch_width
    # One cell more on each side: the first cells may be cut by the picture's edge.
    down = int(np.ceil((ink.shape[0] - grid.top) / grid.scale_y / height)) + 1
    across = int(np.ceil((ink.shape[1] - grid.left) / grid.scale_x / width)) + 1
    wide = Grid(
        grid.left - width * grid.scale_x, grid.top - height * grid.scale_y,
        grid.scale_x, grid.scale_y,
    )  # fmt: skip
    inked_size = (down + 1) * height, (across + 1) * width
    page = straighten(ink, wide, inked_size)
    inked = page.reshape(down + 1, height, across + 1, width).mean(axis=(1, 3))
    columns = _used(inked.mean(axis=0))
    rows = _used(inked.mean(axis=1))
    if settle_width:
        shape = _of_width(shape, columns.stop - columns.start)
    # Below the last full row there may be one with the end sign alone, and blank rows behind it.
    last_row = min(rows.start + shape.grid_rows, _rows_inside(ink, wide, height))
    used = (
        slice(
            rows.start * height,
            min(max(rows.stop, last_row), rows.start + shape.grid_rows) * height,
        ),
        slice(columns.start * width, (columns.start + shape.grid_columns) * width),
    )
    page = page[used]
    shown = straighten(np.ones_like(ink), wide, inked_size)[used] > 0.99
    templates = glyph_templates(shape, atlas)
    origin = replace(
        wide,
        left=wide.left + used[1].start * wide.scale_x,
        top=wide.top + used[0].start * wide.scale_y,
    )
    nearest = nearest_glyphs(
        np.ascontiguousarray(page), shown, templates, phases_of(origin, page.shape),
        scaled_taps(origin) if min(grid.scale_x, grid.scale_y) < 1 else None,
    )  # fmt: skip
    cells = np.full((nearest.cells.shape[0], shape.grid_columns), NO_GLYPH, np.uint16)
    unsure = np.ones(cells.shape, np.bool_)
    cells[:, : nearest.cells.shape[1]] = templates.ids[nearest.cells]
    unsure[:, : nearest.cells.shape[1]] = nearest.margin < UNSURE
    of_text = np.zeros(cells.size, np.bool_)
    of_text[page_rows(cells, shape, atlas)[1]] = True
    return CellsSeen(cells, unsure & of_text.reshape(cells.shape), shape, atlas, False)


def _no_page(ink: NDArray[np.float32], wanted: str) -> PageError:
    return PageError(
        f"no page of {wanted} is seen in this picture of {ink.shape[1]}x{ink.shape[0]} px: "
        "name the shape it was printed in, or give a sharper picture"
    )


def _used(means: NDArray[np.float32]) -> slice:
    """From the first to the last place with a quarter of the usual ink, noise taken off."""
    typical = float(np.percentile(means, 75))
    used = np.flatnonzero(means > 0.25 * typical)
    return slice(int(used[0]), int(used[-1]) + 1) if used.size else slice(0, means.size)


def _rows_inside(ink: NDArray[np.float32], grid: Grid, height: int) -> int:
    """Rows of which at least half is in the picture."""
    return int((ink.shape[0] - grid.top) / grid.scale_y / height + 0.5)


def _of_width(shape: Shape, columns: int) -> Shape:
    """The named shape of the same font and pitch whose pages are nearest to `columns` cells."""
    alike = [
        row.shape
        for row in shapes().values()
        if (row.shape.font, row.shape.pitch_width, row.shape.pitch_height)
        == (shape.font, shape.pitch_width, shape.pitch_height)
    ]
    return min(alike, key=lambda other: abs(other.grid_columns - columns))


def _confirmed(seen: CellsSeen) -> CellsSeen:
    """`seen`, with no doubt left where its text has the hash that the page carries."""
    if not seen.sha256:
        return seen
    text = loose_text(seen.cells, seen.shape, seen.atlas)
    if hashlib.sha256(text).hexdigest() != seen.sha256:
        return seen
    return replace(seen, unsure=np.zeros_like(seen.unsure))
