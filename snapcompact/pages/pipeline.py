"""Cells to PNG files: drawn and packed, streamed over threads in order."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from snapcompact.fonts.typeface import Typeface
from snapcompact.pages import compress, png
from snapcompact.pages.carried import carried_glyphs
from snapcompact.pages.ink import PALETTES, depth_of
from snapcompact.pages.metadata import PageMetadata
from snapcompact.pages.parallel import in_order
from snapcompact.pages.render import is_small, paint, raster, thread_buffer

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import numpy as np
    from numpy.typing import NDArray

    from snapcompact.fonts.atlas import Atlas
    from snapcompact.pages.cells import PageCells
    from snapcompact.pages.shape import Shape


@dataclass(frozen=True, slots=True, eq=False)
class PagePng:
    """A drawn page: ``png`` is the file; ``height`` in px."""

    page: PageCells
    png: bytes
    height: int

    @property
    def png_sha256(self) -> str:
        """Hex hash of the file, made when asked for: a twentieth of the time of a page."""
        return hashlib.sha256(self.png).hexdigest()


def render_pages(
    pages: Iterable[PageCells],
    shape: Shape,
    atlas: Atlas | Typeface,
    *,
    effort: str = "fast",
    jobs: int = 0,
) -> Iterator[PagePng]:
    """`pages` drawn, in their order, on `jobs` threads (0: one a core).

    `effort` names a row of ``compress.EFFORTS``. The bytes do not depend on `jobs`; a few batches
    of pages are ahead of the caller (``parallel.in_order``).
    """
    return in_order(partial(render_page, shape=shape, atlas=atlas, effort=effort), pages, jobs=jobs)


def render_page(
    page: PageCells, shape: Shape, atlas: Atlas | Typeface, *, effort: str = "fast"
) -> PagePng:
    """One page drawn; deterministic."""
    return draw_page(page, shape, atlas, effort=effort)[0]


def draw_page(
    page: PageCells, shape: Shape, atlas: Atlas | Typeface, *, effort: str = "fast"
) -> tuple[PagePng, NDArray[np.uint8]]:
    """One page drawn, and its scanlines as ``render.raster`` gives them.

    They stand in a buffer of this thread, until it draws or reads the next page. Of a typeface,
    which grows, the glyphs are taken that the page was set in.
    """
    if isinstance(atlas, Typeface):
        atlas = page.atlas
    scanlines, stream = draw_cells(page.cells, shape, atlas, effort)
    metadata = PageMetadata(
        shape=shape.name,
        font=atlas.sha256,
        page=page.number,
        offset=page.offset,
        length=page.length,
        sha256=page.sha256,
    )
    height = scanlines.shape[0]
    data = png.encode(
        stream,
        (shape.page_width, height),
        PALETTES[shape.ink],
        metadata,
        depth=depth_of(shape.ink),
        glyphs=carried_glyphs(page.cells, atlas),
    )
    return PagePng(page, data, height), scanlines


def draw_cells(
    cells: NDArray[np.uint16], shape: Shape, atlas: Atlas, effort: str
) -> tuple[NDArray[np.uint8], bytes | memoryview]:
    """Scanlines and zlib stream of the page of `cells`, in buffers of this thread."""
    if effort == "fast" and depth_of(shape.ink) == 1 and is_small(shape, atlas):
        return compress.draw(cells, shape, atlas)
    scanlines = raster(cells, shape, atlas, thread_buffer(shape, "page"))
    painted = paint(scanlines, cells, shape)
    return scanlines, compress.compress(compress.Drawn(cells, painted, shape, atlas), effort)
