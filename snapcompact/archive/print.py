"""Prints pages into a folder: paginate, draw, decode again, write; finished ones are taken over."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from snapcompact.archive import names
from snapcompact.archive.manifest import PageRow, load_page_row
from snapcompact.errors import InputError, SnapcompactError
from snapcompact.fonts.atlas import Special
from snapcompact.pages.cells import PageStart, paginate

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from snapcompact.fonts.atlas import Atlas
    from snapcompact.fonts.typeface import Typeface
    from snapcompact.pages.cells import PageCells
    from snapcompact.pages.shape import Shape


_POINT, _BYTE = int(Special.POINT_OPEN), int(Special.BYTE_OPEN)
_NEW = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW

ToPrint = tuple["PageCells", PageRow | None]
"""A page, and the row of the page that a broken run printed in its place."""


class PagePrinter:
    """Prints the pages of one archive in `shape`, set in `typeface`.

    Threads may print different pages at once.
    """

    def __init__(
        self,
        folder: Path,
        shape: Shape,
        typeface: Typeface,
        effort: str,
        *,
        start: PageStart | None = None,
        path: Callable[[int], str] = names.page_path,
        used: Iterable[int] = (),
    ) -> None:
        self.folder = folder
        self.shape = shape
        self._typeface = typeface
        self._used = frozenset(used)
        self._effort = effort
        self._start = start or PageStart()
        self._path = path
        self._finished = _finished_pages(folder) if start is None else iter(())

    @property
    def atlas(self) -> Atlas:
        """The glyphs so far."""
        return self._typeface.atlas

    @cached_property
    def _printed(self) -> NDArray[np.bool_]:
        """By glyph id, whether it is on the pages so far."""
        import numpy as np

        return np.zeros(1 << 16, np.bool_)

    @property
    def used(self) -> set[int]:
        """Glyph ids on the pages so far, and those that were used before."""
        return set(self._used).union(self._printed.nonzero()[0].tolist())

    def paginate(self, pieces: Iterable[bytes]) -> Iterator[ToPrint]:
        """The pages of a transcript that comes in `pieces`; notes the glyphs in use."""
        from snapcompact_kernels.cells import mark

        for page in paginate(pieces, self.shape, self._typeface, self._start):
            mark(page.cells, self._printed)
            yield page, next(self._finished, None)

    def print(self, item: ToPrint) -> PageRow:
        """Draw a page, read it back, write its file; its row (whose message span is empty)."""
        from snapcompact.pages.pipeline import draw_page

        page, done = item
        path = self._path(page.number)
        if done is not None and self._is_done(done, page):
            return done
        drawn, printed = draw_page(page, self.shape, page.atlas, effort=self._effort)
        self._check(drawn.png, printed, page)
        self._write(path, drawn.png)
        return PageRow(
            page=page.number,
            file=path,
            sha256=drawn.png_sha256,
            size=len(drawn.png),
            offset=page.offset,
            length=page.length,
            text_sha256=page.sha256,
            messages=(0, 0),
            cells=page.printed,
            rows=page.cells.shape[0],
            escapes=self._escapes(page.cells),
        )

    def glyphs(self) -> bytes:
        """BDF text of the glyphs the pages use."""
        from snapcompact.fonts.atlas import atlas_to_bdf

        return atlas_to_bdf(self.atlas, self.used).encode()

    def _escapes(self, cells: NDArray[np.uint16]) -> int:
        """Characters and bytes that `cells`, a page's that was paginated, print as escapes."""
        from snapcompact_kernels.cells import escapes

        return escapes(cells) if self._printed[_POINT] or self._printed[_BYTE] else 0

    def _check(self, png: bytes, printed: NDArray[np.uint8], page: PageCells) -> None:
        from snapcompact.pages.decode import reads_back

        if not reads_back(png, printed, page, self.shape):
            raise InputError(
                f"page {page.number} does not read back as it was printed; this is a fault of "
                f"snapcompact with shape {self.shape.name}, please report it"
            )

    def _write(self, path: str, data: bytes) -> None:
        target = os.path.join(self.folder, path)
        try:
            descriptor = os.open(target, _NEW, 0o600)
        except FileNotFoundError:
            Path(target).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            descriptor = os.open(target, _NEW, 0o600)
        try:
            while data:
                data = data[os.write(descriptor, data) :]
        finally:
            os.close(descriptor)

    def _is_done(self, row: PageRow, page: PageCells) -> bool:
        """Whether a broken run has already printed this very page."""
        if (row.offset, row.text_sha256) != (page.offset, page.sha256):
            return False
        try:
            data = (self.folder / row.file).read_bytes()
        except OSError:
            return False
        return hashlib.sha256(data).hexdigest() == row.sha256


def _finished_pages(folder: Path) -> Iterator[PageRow]:
    """Rows of the pages that a broken run finished in `folder`, up to the first torn row."""
    old = folder / (names.PAGES + ".old")
    for name in (names.PAGES, names.PAGES + ".new"):
        if (folder / name).is_file():
            os.replace(folder / name, old)
            break
    return _rows(old) if old.is_file() else iter(())


def _rows(path: Path) -> Iterator[PageRow]:
    with open(path, "rb") as file:
        for line in file:
            try:
                yield load_page_row(line, path.name)
            except SnapcompactError:
                return
