"""The exact values of a payload: the sidecar of the pages that it carries."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from snapcompact.history.model import shown
from snapcompact.pages.cells import paginate
from snapcompact.transcript.identifiers import Identifier, find_identifiers, line_blocks
from snapcompact.transcript.sidecar import choose, sidecar_text

if TYPE_CHECKING:
    from snapcompact.fonts.atlas import Atlas
    from snapcompact.pages.shape import Shape
    from snapcompact.payload.source import DrawnPage

Read = Callable[[int, int], bytes]
"""Bytes of the text from one offset up to another."""

ROW_GUESS = 99
"""Stands for a row while costs are counted; finding the true one costs a page's layout."""


def values_text(
    read: Read,
    pages: Sequence[tuple[DrawnPage, Shape]],
    atlas: Callable[[Shape], Atlas],
    cost: Callable[[bytes], int],
    budget: int,
) -> str:
    """Lines of transcript/sidecar.py for these pages, numbered from 1, within `budget` tokens.

    `atlas` gives the glyphs that pages of a shape are printed with.
    """
    starts = [page.offset for page, _ in pages]
    found = _identifiers(read, list(_ranges([page for page, _ in pages])))
    entries = choose(found, lambda at: (bisect_right(starts, at), ROW_GUESS), cost, budget)
    placed = (
        replace(entry, row=_row(read, page, entry.identifier.offset, shape, atlas(shape)))
        for entry in entries
        for page, shape in (pages[entry.page - 1],)
    )
    return shown(sidecar_text(placed))


def row_of(before: bytes, shape: Shape, atlas: Atlas) -> int:
    """The row of a page, from 1 in reading order, on which the text behind `before` begins."""
    page = next(paginate([before], shape, atlas))
    return (page.printed - 1) // shape.column_cells + 1 + shape.header


def _row(read: Read, page: DrawnPage, offset: int, shape: Shape, atlas: Atlas) -> int:
    return row_of(read(page.offset, offset), shape, atlas)


def _ranges(pages: Sequence[DrawnPage]) -> Iterator[tuple[int, int]]:
    """The stretches of text that the pages show without a gap."""
    start = end = None
    for page in pages:
        if page.offset != end:
            if start is not None and end is not None:
                yield start, end
            start = page.offset
        end = page.offset + page.length
    if start is not None and end is not None:
        yield start, end


def _identifiers(read: Read, ranges: Sequence[tuple[int, int]]) -> list[Identifier]:
    """The identifiers of all stretches, each once, at its first place."""
    merged: dict[bytes, Identifier] = {}
    for start, end in ranges:
        for found in find_identifiers(line_blocks(read(start, end))):
            known = merged.get(found.text)
            merged[found.text] = (
                replace(known, count=known.count + found.count)
                if known
                else replace(found, offset=start + found.offset)
            )
    return list(merged.values())
