"""How many pages a text makes, from layout alone: nothing is drawn but a few samples.

The counts equal those of a real run, because the same kernel fills the pages.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from snapcompact.fonts.typeface import Typeface
from snapcompact.pages.cells import paginate
from snapcompact.pages.glyphs import check_fits, glyph_tables
from snapcompact.pages.layout import row_breaks
from snapcompact.pages.pipeline import render_page
from snapcompact_kernels.paginate import fill_page

if TYPE_CHECKING:
    from snapcompact.fonts.atlas import Atlas
    from snapcompact.pages.shape import Shape

GATHER_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class PageCount:
    """The pages of a text. ``heights_px`` says how many pages have each height.

    ``png_bytes`` is estimated from pages 1, 2, 4, 8 and so on, which are drawn.
    """

    pages: int
    cells: int
    heights_px: tuple[tuple[int, int], ...]
    png_bytes: int


class PageCounter:
    """Counts the pages of a text that is fed in pieces; memory is that of one piece."""

    def __init__(self, shape: Shape, atlas: Atlas | Typeface) -> None:
        check_fits(shape, atlas.atlas if isinstance(atlas, Typeface) else atlas)
        self.shape = shape
        self._fonts = atlas
        self._held: list[bytes] = []
        self._held_bytes = 0
        self._flow = np.empty(shape.page_cells, np.uint16)
        self._pages = 0
        self._cells = 0
        self._heights: Counter[int] = Counter()
        self._sampled_cells = 0
        self._sampled_bytes = 0

    def feed(self, text: bytes) -> None:
        """Count `text` behind what was fed before."""
        self._held.append(text)
        self._held_bytes += len(text)
        if self._held_bytes >= max(GATHER_BYTES, 4 * self._enough):
            self._fill(final=False)

    def result(self) -> PageCount:
        """The count, the text being at its end; no pages for a text without bytes."""
        if self._pages or self._held_bytes:
            self._fill(final=True)
        rate = self._sampled_bytes / max(self._sampled_cells, 1)
        heights = tuple(sorted(self._heights.items(), reverse=True))
        return PageCount(self._pages, self._cells, heights, round(rate * self._cells))

    @property
    def _enough(self) -> int:
        """Bytes that fill a page for certain."""
        return 4 * self.shape.page_cells + 4

    def _fill(self, *, final: bool) -> None:
        text = b"".join(self._held)
        atlas = self._fonts.cover(text) if isinstance(self._fonts, Typeface) else self._fonts
        at, ended = 0, False
        data = np.frombuffer(text, np.uint8)
        while not ended and (final or len(text) - at >= self._enough):
            behind, printed, ended = fill_page(
                data,
                at,
                atlas.glyph_of,
                atlas.wide,
                glyph_tables(atlas).plain,
                self.shape.column_cells,
                row_breaks(self.shape),
                self._flow,
            )
            self._note(text[at:behind], printed, atlas)
            at = behind
        self._held = [] if ended else [text[at:]]
        self._held_bytes = 0 if ended else len(text) - at

    def _note(self, text: bytes, printed: int, atlas: Atlas) -> None:
        shape = self.shape
        deep = shape.text_rows // shape.columns
        rows = min(deep, -(-printed // shape.column_cells)) + shape.header
        self._pages += 1
        self._cells += printed
        self._heights[rows * shape.pitch_height] += 1
        if self._pages & (self._pages - 1) == 0:
            page = next(paginate([text], shape, atlas))
            self._sampled_cells += printed
            self._sampled_bytes += len(render_page(page, shape, atlas).png)
