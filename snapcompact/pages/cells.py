"""Text to pages of cells, as a stream."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from snapcompact.fonts.typeface import Typeface
from snapcompact.pages.glyphs import check_fits, glyph_tables
from snapcompact.pages.layout import flow_to_grid, header_cells, row_breaks
from snapcompact_kernels.cells import LINE_END
from snapcompact_kernels.paginate import fill_page

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from snapcompact.fonts.atlas import Atlas
    from snapcompact.pages.shape import Shape

GATHER_BYTES = 1 << 20
"""Small chunks are joined to this size, so that few bytes are copied twice."""


@dataclass(frozen=True, slots=True)
class PageStart:
    """Where a run of pages begins; the defaults begin a text.

    ``number`` of the first page; ``offset`` in bytes and ``line``, both of the text's first byte
    there; ``short_id``, the id that headers carry, or None to take it from the first page.
    """

    number: int = 1
    offset: int = 0
    line: int = 1
    short_id: str | None = None


@dataclass(frozen=True, slots=True, eq=False)
class PageCells:
    """One page, not yet drawn.

    ``cells`` (rows, grid columns) uint16 is the grid as printed, header included, cut after the
    last row in use. ``printed`` counts the cells of the text, END included. ``offset`` and
    ``length`` are bytes of the whole text, ``text`` those printed here, ``sha256`` their hex hash;
    ``last`` is true where the text ends here. ``start`` begins this page, ``next_start`` the one
    after it. ``atlas`` has the glyphs of the cells.
    """

    cells: NDArray[np.uint16]
    printed: int
    length: int
    text: bytes
    sha256: str
    last: bool
    start: PageStart
    next_start: PageStart
    atlas: Atlas

    @property
    def number(self) -> int:
        """Number of the page, counted from 1."""
        return self.start.number

    @property
    def offset(self) -> int:
        """Offset in bytes of the page's text."""
        return self.start.offset


def paginate(
    chunks: Iterable[bytes],
    shape: Shape,
    atlas: Atlas | Typeface,
    start: PageStart | None = None,
) -> Iterator[PageCells]:
    """The pages of the text that `chunks` make, in order; memory is that of one chunk.

    A typeface takes up the glyphs that the text needs; each page tells which atlas it is set in.

    A page depends on `start` and on the text from its own first byte on alone, so pages begun at
    page k equal those of the whole. When a text grows, begin again at the first page that ends
    within its last 3 bytes or carries its end. A text without bytes has one page. Raises UsageError
    where glyphs and shape do not fit.
    """
    check_fits(shape, atlas.atlas if isinstance(atlas, Typeface) else atlas)
    state = start or PageStart()
    enough = 4 * shape.page_cells + 4
    rest = b""
    for chunk, final in _with_last(_gather(chunks)):
        text = rest + chunk
        glyphs = atlas.cover(text) if isinstance(atlas, Typeface) else atlas
        at = 0
        ended = False
        while not ended and (final or len(text) - at >= enough):
            page = _page(text, at, shape, glyphs, state)
            yield page
            at += page.length
            state = page.next_start
            ended = page.last
        rest = text[at:]


def _page(text: bytes, at: int, shape: Shape, atlas: Atlas, start: PageStart) -> PageCells:
    """The page that begins at byte `at` of `text`."""
    flow = np.empty(shape.page_cells, np.uint16)
    behind, printed, ended = fill_page(
        np.frombuffer(text, np.uint8),
        at,
        atlas.glyph_of,
        atlas.wide,
        glyph_tables(atlas).plain,
        shape.column_cells,
        row_breaks(shape),
        flow,
    )
    behind, printed = int(behind), int(printed)  # kernels that run as plain Python give NumPy's
    body = text[at:behind]
    digest = hashlib.sha256(body).hexdigest()
    line_ends = int(np.count_nonzero(np.frombuffer(body, np.uint8) == LINE_END))
    short_id = start.short_id or digest[:8]
    header = header_cells(shape, short_id, start.number, start.line)
    return PageCells(
        cells=flow_to_grid(flow, printed, shape, header),
        printed=printed,
        length=behind - at,
        text=body,
        sha256=digest,
        last=ended,
        start=start,
        next_start=PageStart(
            start.number + 1,
            start.offset + behind - at,
            start.line + line_ends,
            short_id,
        ),
        atlas=atlas,
    )


def _gather(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """`chunks` joined to at least GATHER_BYTES each, the last one excepted."""
    parts: list[bytes] = []
    size = 0
    for chunk in chunks:
        parts.append(chunk)
        size += len(chunk)
        if size >= GATHER_BYTES:
            yield b"".join(parts)
            parts.clear()
            size = 0
    yield b"".join(parts)


def _with_last(chunks: Iterable[bytes]) -> Iterator[tuple[bytes, bool]]:
    """Each chunk, and whether it is the last."""
    before: bytes | None = None
    for chunk in chunks:
        if before is not None:
            yield before, False
        before = chunk
    yield before or b"", True
