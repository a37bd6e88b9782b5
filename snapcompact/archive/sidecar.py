"""``sidecar.txt``: every exact identifier on an archive's pages, as text, with page and row.

Made on request, since it costs more than the pages: about 10 MB of transcript a second.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from typing import TYPE_CHECKING

from snapcompact.pages.cells import paginate
from snapcompact.transcript.identifiers import find_identifiers
from snapcompact.transcript.sidecar import all_entries, sidecar_text

if TYPE_CHECKING:
    from snapcompact.archive.read import Archive
    from snapcompact.pages.shape import Shape


def archive_sidecar(archive: Archive) -> bytes:
    """The sidecar of all pages of `archive`, in order of the text."""
    starts = [row.offset for row in archive.pages()]
    placed = _Rows(archive)

    def locate(offset: int) -> tuple[int, int]:
        page = bisect_right(starts, offset)
        return page, placed.row(page, offset - starts[page - 1])

    found = find_identifiers(_whole_lines(archive))
    return sidecar_text(all_entries(found, locate))


def _whole_lines(archive: Archive) -> Iterator[bytes]:
    """The transcript in pieces that end with a line end."""
    held = b""
    for piece in archive.transcript():
        whole, end, rest = (held + piece).rpartition(b"\n")
        if end:
            yield whole + end
        held = rest
    if held:
        yield held


class _Rows:
    """Finds rows, page after page; holds the text of one page."""

    def __init__(self, archive: Archive) -> None:
        self._archive = archive
        self._page = 0
        self._text = b""

    def row(self, page: int, offset: int) -> int:
        """The row, from 1, on which byte `offset` of `page` is printed."""
        if page != self._page:
            self._page = page
            self._text = self._archive.page_text(next(self._archive.pages(page)))
        return _row_behind(self._text[:offset], self._archive.shape, self._archive)


def _row_behind(before: bytes, shape: Shape, archive: Archive) -> int:
    """The row in reading order, from 1, where the text behind `before` goes on."""
    page = next(paginate([before], shape, archive.atlas))
    return (page.printed - 1) // shape.column_cells + 1 + shape.header
