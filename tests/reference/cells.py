"""The slow, obvious twin of the cell kernels: one unit at a time, in plain Python."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from snapcompact.fonts.atlas import NO_GLYPH, Atlas, Special

if TYPE_CHECKING:
    from collections.abc import Iterator

_SURROGATE = re.compile(rb"\xed[\xa0-\xbf][\x80-\xbf]")
BLANK = 32


def units(text: bytes, atlas: Atlas) -> Iterator[tuple[int, list[int]]]:
    """Bytes taken, and cells printed, of each unit of `text`."""
    at = 0
    while at < len(text):
        length, point = point_at(text, at)
        yield length, _cells(text[at], point, atlas)
        at += length


def pages(text: bytes, atlas: Atlas, width: int, rows: int, *, breaks: int) -> list[list[int]]:
    """The cells of each page of `text`, in reading order, `width` by `rows`."""
    made: list[list[int]] = []
    page: list[int] = []
    at = 0
    for length, cells in [*units(text, atlas), (0, [int(Special.END)])]:
        at += length
        if len(page) == width * rows:
            made.append(page)
            page = []
        if atlas.wide[cells[0]] and len(page) % width == width - 1:
            page.append(Special.PAD)
            if len(page) == width * rows:
                made.append(page)
                page = []
        if len(page) + len(cells) > width * rows:
            made.append(page + [int(Special.PAD)] * (width * rows - len(page)))
            page = []
        page.extend(cells)
        ends = breaks == 2 or (breaks == 1 and text[at : at + 1] in {b" ", b"\t"})
        if ends and cells == [10] and len(page) % width:
            page.append(Special.PAD)
            page.extend([BLANK] * (-len(page) % width))
    made.append(page + [BLANK] * (width * rows - len(page)))
    return [[int(cell) for cell in page] for page in made]


def point_at(text: bytes, at: int) -> tuple[int, int | None]:
    """Length and code point of the unit at `at`; None for a byte that is no UTF-8."""
    if _SURROGATE.match(text, at):
        return 3, ord(text[at : at + 3].decode("utf-8", "surrogatepass"))
    for length in (1, 2, 3, 4):
        try:
            return length, ord(text[at : at + length].decode("utf-8"))
        except (UnicodeDecodeError, TypeError):
            continue
    return 1, None


def _cells(byte: int, point: int | None, atlas: Atlas) -> list[int]:
    """The cells that print one unit."""
    if point is None:
        return [Special.BYTE_OPEN, *f"{byte:02X}".encode()]
    glyph = int(atlas.glyph_of[point])
    if glyph == NO_GLYPH or 0xD800 <= point <= 0xDFFF:
        return [Special.POINT_OPEN, *f"{point:04X}".encode(), Special.CLOSE]
    return [glyph, glyph + 1] if atlas.wide[glyph] else [glyph]
