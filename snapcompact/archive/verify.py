"""Whether an archive still holds what was put into it, found out from the pixels.

Every page is decoded and its text compared with the hash in its row; every row, message, blob,
glyph and the source with the manifest. Damage is a finding, never a crash.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from snapcompact.archive import names
from snapcompact.archive.manifest import (
    CHAIN_START,
    MOST_PAGE_BYTES,
    Manifest,
    MessageRow,
    PageRow,
    chain,
    load_message_row,
    load_page_row,
)
from snapcompact.archive.read import MOST_GLYPH_BYTES, Archive
from snapcompact.archive.rows import lines
from snapcompact.archive.store import read_file
from snapcompact.errors import SnapcompactError
from snapcompact.history.model import Blob, ToolResult
from snapcompact.pages.parallel import in_order
from snapcompact.transcript.parse import parse_transcript

if TYPE_CHECKING:
    from snapcompact.archive.page import PageText

MOST_PROBLEMS = 1000
"""Found problems kept; beyond these only their number grows."""

_BLOB_MARKS = ("¶image:".encode(), "¶file:".encode())


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong. ``page``, ``row`` and ``column`` count from 1, 0 where unknown."""

    what: str
    page: int = 0
    row: int = 0
    column: int = 0

    def __str__(self) -> str:
        """For people."""
        place = f"page {self.page}" if self.page else ""
        place += f", row {self.row}" if self.row else ""
        place += f", column {self.column}" if self.column else ""
        return f"{place}: {self.what}" if place else self.what


@dataclass(frozen=True, slots=True)
class Verification:
    """What was checked, and what is wrong with it (the first MOST_PROBLEMS)."""

    pages: int
    messages: int
    characters: int
    problem_count: int
    problems: tuple[Problem, ...]

    @property
    def sound(self) -> bool:
        """Whether nothing is wrong."""
        return self.problem_count == 0


def verify_archive(
    archive: Archive,
    *,
    source: Iterator[bytes] | None = None,
    jobs: int = 0,
    advance: Callable[[int], None] = lambda pages: None,
) -> Verification:
    """Check all of `archive`; with `source`, also that its source is these bytes.

    `jobs` threads decode (0: one a core). `advance` is called with pages done.
    """
    found = _Findings()
    _check_small_files(archive, found)
    _check_records(archive, found)
    messages = _MessageCheck(archive, found)
    rows = _checked_rows(archive, found)
    for row, text in in_order(lambda row: _decoded(archive, row, found), rows, jobs=jobs):
        messages.feed(row, text)
        advance(1)
    messages.close()
    _check_source(archive, source, found)
    return Verification(
        pages=archive.manifest.pages,
        messages=archive.manifest.messages,
        characters=archive.manifest.totals.get("cells", 0),
        problem_count=found.count,
        problems=tuple(sorted(found.kept, key=lambda p: (p.page, p.row, p.column))),
    )


class _Findings:
    def __init__(self) -> None:
        self.count = 0
        self.kept: list[Problem] = []

    def add(self, what: str, page: int = 0, row: int = 0, column: int = 0) -> None:
        self.count += 1
        if len(self.kept) < MOST_PROBLEMS:
            self.kept.append(Problem(what, page, row, column))


def _check_small_files(archive: Archive, found: _Findings) -> None:
    if not archive.manifest.intact:
        found.add(f"{names.MANIFEST} is not as it was written (its seal does not fit)")
    for name, expected in archive.manifest.hashes.items():
        if names.small_file(name) is None:
            found.add(f"the manifest names a file {name[:80]!r} that no archive has")
            continue
        try:
            data = read_file(archive.store, name, MOST_GLYPH_BYTES)
        except SnapcompactError as exc:
            found.add(str(exc))
            continue
        if hashlib.sha256(data).hexdigest() != expected:
            found.add(f"{name} is not the file that was written (its SHA-256 differs)")


def _check_records(archive: Archive, found: _Findings) -> None:
    length = archive.manifest.lengths.get(names.RECORDS, 0)
    try:
        if length and archive.store.size(names.RECORDS) < length:
            found.add(f"{names.RECORDS} is shorter than the manifest says")
    except SnapcompactError as exc:
        found.add(str(exc))


def _checked_rows(archive: Archive, found: _Findings) -> Iterator[PageRow]:
    """The page rows in order; what is wrong with them as rows is noted."""
    manifest = archive.manifest
    chained, offset, number = CHAIN_START, 0, 0
    for line in _lines(archive, names.PAGES, found):
        chained = chain(chained, line)
        try:
            row = load_page_row(line, f"{names.PAGES} line {number + 1}")
        except SnapcompactError as exc:
            found.add(str(exc), page=number + 1)
            number += 1
            continue
        _check_place(row, number + 1, offset, found)
        number, offset = row.page, row.offset + row.length
        yield row
    if chained != manifest.chains.get(names.PAGES, CHAIN_START):
        found.add(f"{names.PAGES} is not the list the manifest was written for")
    if manifest.last_page is not None:
        _check_place(manifest.last_page, number + 1, offset, found)
        yield manifest.last_page


def _check_place(row: PageRow, number: int, offset: int, found: _Findings) -> None:
    if row.page != number:
        found.add(f"the list of pages goes on with page {row.page}", page=number)
    elif row.offset != offset:
        found.add(f"begins at byte {row.offset:,}, but the page before ends at {offset:,}", number)


def _lines(archive: Archive, name: str, found: _Findings) -> Iterator[bytes]:
    length = archive.manifest.lengths.get(name, 0)
    if not length:
        return
    try:
        if archive.store.size(name) < length:
            found.add(f"{name} is shorter than the manifest says")
        with archive.store.open(name) as file:
            yield from lines(file, 0, length, name)
    except SnapcompactError as exc:
        found.add(str(exc))


def _decoded(archive: Archive, row: PageRow, found: _Findings) -> tuple[PageRow, bytes | None]:
    """The row and its page's text, None if that is not what was printed."""
    from snapcompact.archive.page import read_page
    from snapcompact.pages.carried import agrees

    try:
        png = read_file(archive.store, row.file, MOST_PAGE_BYTES)
        page = read_page(png, archive.atlas, archive.shape)
        if page.glyphs and not agrees(page.glyphs, archive.atlas):
            found.add("carries glyphs that are not those of the archive", row.page)
    except SnapcompactError as exc:
        found.add(str(exc), row.page)
        return row, None
    changed = len(png) != row.size or hashlib.sha256(png).hexdigest() != row.sha256
    if page.text is not None and hashlib.sha256(page.text).hexdigest() == row.text_sha256:
        if changed:
            found.add("the file has changed, though its text reads right", row.page)
        return row, page.text
    _explain(page, row, found)
    return row, None


def _explain(page: PageText, row: PageRow, found: _Findings) -> None:
    """Say where a page's text differs from what was printed."""
    if page.damage:
        first_row, first_column = page.damage[0]
        found.add(
            f"{len(page.damage):,} cells are not as printed; the first is here",
            row.page,
            first_row + 1,
            first_column + 1,
        )
        return
    said = page.metadata
    if said is not None and said.sha256 != row.text_sha256:
        found.add(
            f"holds the text of page {said.page} at byte {said.offset:,}: "
            "pages were swapped, or the manifest is another archive's",
            row.page,
            1,
        )
    else:
        found.add("reads as text, but not the text that was printed", row.page, 1)


class _MessageCheck:
    """Compares the pages' text with ``messages.jsonl`` while it passes, message by message."""

    def __init__(self, archive: Archive, found: _Findings) -> None:
        self._archive = archive
        self._found = found
        self._chain = CHAIN_START
        self._expected = 0
        self._offset = 0
        self._rows = self._read_rows()
        self._row = next(self._rows, None)
        self._held = b""
        self._parts: list[bytes] = []
        self._size = 0
        self._base = 0
        self._blobs: set[str] = set()

    def feed(self, page: PageRow, text: bytes | None) -> None:
        """The text of the next page, None where it could not be read."""
        if text is None:
            self._skip_to(page.offset + page.length)
            return
        if page.offset > self._base + self._size:  # behind a gap: from here on again
            self._parts, self._size, self._base = [], 0, page.offset
        self._parts.append(text)
        self._size += len(text)
        end = self._base + self._size
        if self._row is not None and self._row.offset + self._row.length > end:
            return  # a long message spans thousands of pages: joined once, when it is whole
        self._held = b"".join(self._parts)
        while self._row is not None and self._row.offset + self._row.length <= end:
            self._check(self._row)
            self._row = next(self._rows, None)
        if self._row is None or self._row.offset > self._base:
            keep = end if self._row is None else min(self._row.offset, end)
            self._held = self._held[keep - self._base :]
            self._base = keep
        self._parts, self._size = [self._held], len(self._held)

    def close(self) -> None:
        """All pages have passed: what is left of the rows, the chain and the count."""
        while self._row is not None:
            if self._base <= self._row.offset and not self._found.count:
                self._found.add(f"message {self._row.message} lies behind the last page")
            self._row = next(self._rows, None)
        manifest = self._archive.manifest
        if self._chain != manifest.chains.get(names.MESSAGES, CHAIN_START):
            self._found.add(f"{names.MESSAGES} is not the list the manifest was written for")
        elif self._expected != manifest.messages or self._offset != manifest.transcript_bytes:
            self._found.add(f"{names.MESSAGES} does not add up to the manifest's totals")

    def _skip_to(self, offset: int) -> None:
        """Pass over messages that touch bytes before `offset`, which cannot be read."""
        while self._row is not None and self._row.offset < offset:
            self._row = next(self._rows, None)
        self._parts, self._size, self._base = [], 0, offset

    def _read_rows(self) -> Iterator[MessageRow]:
        for line in _lines(self._archive, names.MESSAGES, self._found):
            self._chain = chain(self._chain, line)
            try:
                row = load_message_row(line, f"{names.MESSAGES} line {self._expected + 1}")
            except SnapcompactError as exc:
                self._found.add(str(exc))
                return
            if not self._in_place(row):
                return
            yield row
        last = self._archive.manifest.last_message
        if last is not None and self._in_place(last):
            yield last

    def _in_place(self, row: MessageRow) -> bool:
        """Whether `row` follows the one before; said where it does not."""
        if row.message != self._expected or row.offset != self._offset:
            self._found.add(f"{names.MESSAGES}: message {self._expected} is out of place")
            return False
        self._expected += 1
        self._offset += row.length
        return True

    def _check(self, row: MessageRow) -> None:
        at = row.offset - self._base
        if at < 0:  # it began on a page that cannot be read
            return
        text = self._held[at : at + row.length]
        if hashlib.sha256(text).hexdigest()[:16] != row.hash:
            self._found.add(f"message {row.message} is not the one its row was written for")
        elif any(mark in text for mark in _BLOB_MARKS):
            self._check_blobs(row, text)

    def _check_blobs(self, row: MessageRow, text: bytes) -> None:
        for message in parse_transcript([text]):
            for block in message.blocks:
                for part in block.content if isinstance(block, ToolResult) else (block,):
                    if isinstance(part, Blob) and part.sha256 and part.sha256 not in self._blobs:
                        self._blobs.add(part.sha256)
                        self._check_blob(row, part.sha256)

    def _check_blob(self, row: MessageRow, sha256: str) -> None:
        try:
            self._archive.blob(sha256)
        except SnapcompactError as exc:
            self._found.add(f"message {row.message}: {exc}")


def _check_source(archive: Archive, given: Iterator[bytes] | None, found: _Findings) -> None:
    manifest = archive.manifest
    if manifest.source:
        try:
            for _ in archive.source():
                pass
        except SnapcompactError as exc:
            found.add(str(exc))
    if given is not None:
        _compare_source(manifest, given, found)


def _compare_source(manifest: Manifest, given: Iterator[bytes], found: _Findings) -> None:
    if not manifest.source:
        found.add("the archive keeps no source to compare the file with")
        return
    held = b""
    for segment in manifest.source:
        digest, left = hashlib.sha256(), segment.bytes
        while left:
            held = held or next(given, b"")
            if not held:
                found.add("the source file is shorter than the archived one")
                return
            digest.update(held[:left])
            left, held = left - min(left, len(held)), held[left:]
        if digest.hexdigest() != segment.sha256:
            found.add("the source file is not the one that was archived")
            return
    if held or next(given, b""):
        found.add("the source file has grown since; `archive --append` adds what is new")
