"""One page read back: its text, or the cells that are not as printed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from snapcompact.pages.decode import cells_to_text, read_cells
from snapcompact.pages.png import decode

if TYPE_CHECKING:
    from snapcompact.fonts.atlas import Atlas
    from snapcompact.pages.metadata import PageMetadata
    from snapcompact.pages.shape import Shape


@dataclass(frozen=True, slots=True)
class PageText:
    """``text`` is None where cells are damaged; ``damage`` lists their (row, column), from 0."""

    text: bytes | None
    damage: tuple[tuple[int, int], ...]
    metadata: PageMetadata | None
    glyphs: bytes = b""
    """The chunk of the glyphs it carries."""


def read_page(png: bytes, atlas: Atlas, shape: Shape) -> PageText:
    """What the pixels of `png` say. Raises PageError where it is no page of `shape`."""
    image = decode(png)
    read = read_cells(image.scanlines, shape, atlas)
    damage = tuple((int(row), int(column)) for row, column in read.bad)
    text = None if damage else cells_to_text(read.cells, shape, atlas)
    return PageText(text, damage, image.metadata, image.glyphs)
