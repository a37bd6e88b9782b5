"""Writes the files of an archive into its folder: new, or growing behind what a manifest covers.

Growing, nothing that the old manifest names is changed: rows are added behind the bytes it covers,
the last page and small files get a new revision, and the new manifest, written last by the caller,
is the commit.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from snapcompact.archive import names
from snapcompact.archive.guide import guide
from snapcompact.archive.manifest import (
    CHAIN_START,
    Manifest,
    PageRow,
    SourceSegment,
    chain,
    dump_row,
)
from snapcompact.archive.print import PagePrinter
from snapcompact.archive.read import Archive
from snapcompact.archive.store import FolderStore
from snapcompact.archive.transcribe import Transcriber
from snapcompact.history.resume import ID_BYTES
from snapcompact.pages.cells import PageStart
from snapcompact.pages.parallel import in_order
from snapcompact.pages.shape import parse_shape

if TYPE_CHECKING:
    from snapcompact.fonts.typeface import Typeface
    from snapcompact.history.model import Blob
    from snapcompact.history.resume import Trail
    from snapcompact.history.session import Session
    from snapcompact.transcript.fidelity import Prepared
    from snapcompact.transcript.write import TranscriptWriter

_EDGE_BYTES = 64 << 10
_ZSTD_LEVEL = 3
"""Measured on agent sessions: level 1 is 8 % larger and little faster beside the pages' cost."""

Feed = Callable[[Transcriber], Iterator[bytes]]
"""Gives the transcript's pieces, noting each message in the Transcriber."""


class ArchiveWriter:
    """Writes all files but the manifest. `base` is the manifest of an archive that grows."""

    def __init__(
        self,
        folder: Path,
        options: dict[str, Any],
        typeface: Typeface,
        *,
        base: Manifest | None = None,
        first_line: int = 1,
        used: Iterable[int] = (),
    ) -> None:
        self._folder = folder
        self._options = options
        self._typeface = typeface
        self._base = base
        last = None if base is None else base.last_page
        self._revised = last.page if last else 0
        self._revision = names.page_revision(last.file, last.page) + 1 if last else 1
        start = PageStart(last.page, last.offset, first_line, _short_id(folder)) if last else None
        self._printer = PagePrinter(
            folder,
            parse_shape(str(options["shape"])),
            typeface,
            str(options["effort"]),
            start=start,
            path=self._path,
            used=used,
        )
        self._totals = {"cells": 0, "escapes": 0, "png_bytes": 0, "blobs": 0, "blob_bytes": 0}
        if base is not None:
            self._totals = {k: base.totals.get(k, 0) for k in self._totals}
            self._totals["cells"] -= last.cells if last else 0
            self._totals["png_bytes"] -= last.size if last else 0
            self._totals["escapes"] -= last.escapes if last else 0
        self._pages_chain = base.chains[names.PAGES] if base else CHAIN_START
        self._pages_bytes = base.lengths.get(names.PAGES, 0) if base else 0
        self._messages_bytes = base.lengths.get(names.MESSAGES, 0) if base else 0
        self._last: PageRow | None = None
        self._transcriber: Transcriber | None = None

    def write(
        self,
        feed: Feed,
        jobs: int,
        advance: Callable[[int], None],
        *,
        writer: TranscriptWriter | None = None,
        blobs: Iterable[str] = (),
    ) -> None:
        """Pages, rows and blobs of what `feed` gives; `advance` is called with pages done.

        `writer` and `blobs` (hashes of those stored) are of messages that `feed` does not give.
        """
        base = self._base
        with (
            _open_behind(self._folder / names.MESSAGES, self._messages_bytes) as rows,
            _open_behind(self._folder / self._pages_name, self._pages_bytes) as pages,
        ):
            transcriber = self._transcriber = Transcriber(
                rows,
                self._store_blob,
                count=base.last_message.message if base and base.last_message else 0,
                offset=base.last_message.offset if base and base.last_message else 0,
                chained=base.chains[names.MESSAGES] if base else CHAIN_START,
                writer=writer,
                blobs=blobs,
            )
            cells = self._printer.paginate(feed(transcriber))
            for row in in_order(self._printer.print, cells, jobs=jobs):
                spanned = row._replace(messages=transcriber.span(row.offset, row.length))
                self._keep(spanned, pages)
                advance(1)
        if base is None:
            os.replace(self._folder / self._pages_name, self._folder / names.PAGES)
            self._drop_stale()

    def manifest(
        self,
        session: Session,
        source: tuple[SourceSegment, ...],
        source_bytes: int,
        prepared: Prepared,
    ) -> Manifest:
        """The manifest of what was written; writes the small files it lists."""
        assert self._transcriber is not None
        assert self._last is not None
        transcriber, printer = self._transcriber, self._printer
        small = {
            names.GLYPHS: printer.glyphs(),
            names.GUIDE: guide(printer.shape, printer.used).encode(),
        }
        lengths = {
            names.PAGES: self._pages_bytes,
            names.MESSAGES: self._messages_bytes + transcriber.rows_bytes,
            names.SOURCE: source_bytes,
        }
        report = session.report
        resume, lengths[names.RECORDS] = self._write_point(report.trail)
        manifest = Manifest(
            options=self._options,
            session={k: prepared.words(v) for k, v in _session_facts(session).items()},
            font=self._font_facts(),
            totals={
                "messages": transcriber.count,
                "pages": self._last.page,
                "transcript_bytes": transcriber.offset,
                **self._totals,
            },
            lengths={name: length for name, length in lengths.items() if length},
            chains={names.PAGES: self._pages_chain, names.MESSAGES: transcriber.chain},
            hashes=dict(self._write_small(name, data) for name, data in small.items()),
            last_page=self._last,
            last_message=transcriber.last,
            source=source,
            losses=dict(sorted(prepared.losses.items())),
            damage=dict(sorted(report.damage.counts.items())),
            skipped=dict(sorted(report.skipped.items())),
            resume=resume,
            tool=version("snapcompact"),
        )
        return self._with_sidecar(manifest) if self._options.get("sidecar") else manifest

    def _font_facts(self) -> dict[str, str]:
        atlas, own = self._typeface.atlas, self._typeface.own_sha256
        return {"name": atlas.name, "sha256": atlas.sha256} | ({"own": own} if own else {})

    def _write_point(self, trail: Trail | None) -> tuple[dict[str, Any], int]:
        """Where the next append may go on reading, and how many bytes of records.ids count."""
        point = trail.point if trail else None
        covered = self._base.lengths.get(names.RECORDS, 0) if self._base else 0
        if trail is None or point is None or point.rows * ID_BYTES < covered:
            return {}, 0
        if point.rows:
            start, stop = covered // ID_BYTES - trail.begin, point.rows - trail.begin
            with _open_behind(self._folder / names.RECORDS, covered) as file:
                file.write(trail.ids.data(start, stop))
        return point.to_json(), point.rows * ID_BYTES

    def _with_sidecar(self, manifest: Manifest) -> Manifest:
        """`manifest` with the sidecar of the pages it covers, which is written."""
        from snapcompact.archive.sidecar import archive_sidecar

        with Archive(FolderStore(self._folder), manifest) as archive:
            path, digest = self._write_small(names.SIDECAR, archive_sidecar(archive))
        return replace(manifest, hashes=manifest.hashes | {path: digest})

    @property
    def _pages_name(self) -> str:
        """A new archive's rows get their name when all are there, so that a broken run is seen."""
        return names.PAGES if self._base else names.PAGES + ".new"

    def _path(self, number: int) -> str:
        return names.page_path(number, self._revision if number == self._revised else 1)

    def _keep(self, row: PageRow, pages: BinaryIO) -> None:
        """Count a page; its row goes to pages.jsonl once it is known not to be the last."""
        if self._last is not None:
            line = dump_row(self._last)
            pages.write(line)
            self._pages_bytes += len(line)
            self._pages_chain = chain(self._pages_chain, line)
        self._last = row
        self._totals["cells"] += row.cells
        self._totals["png_bytes"] += row.size
        self._totals["escapes"] += row.escapes

    def _write_small(self, name: str, data: bytes) -> tuple[str, str]:
        """Write a small file where it changed; its path in force and hash."""
        digest = hashlib.sha256(data).hexdigest()
        old = self._base.small_file(name) if self._base else None
        if old is None:
            path = name
        elif self._base is not None and self._base.hashes[old] == digest:
            return old, digest
        else:
            path = names.revised(name, (names.small_file(old) or ("", 1))[1] + 1)
        write_private(self._folder / path, data)
        return path, digest

    def _store_blob(self, blob: Blob) -> None:
        """Keep a blob that no message before has; what a broken run left of it is written over."""
        assert blob.data is not None
        path = self._folder / names.blob_path(blob.sha256)
        path.parent.mkdir(mode=0o700, exist_ok=True)
        write_private(path, blob.data)
        self._totals["blobs"] += 1
        self._totals["blob_bytes"] += len(blob.data)

    def _drop_stale(self) -> None:
        """Remove what a broken run left and this one did not make again."""
        assert self._last is not None
        assert self._transcriber is not None
        (self._folder / (names.PAGES + ".old")).unlink(missing_ok=True)
        number = self._last.page + 1
        while (path := self._folder / names.page_path(number)).exists():
            path.unlink()
            number += 1
        for path in (self._folder / names.BLOBS).glob("*"):
            if path.name not in self._transcriber.blobs:
                path.unlink()


def copy_source(
    blocks: Iterable[bytes], folder: Path, covered: int = 0
) -> tuple[SourceSegment, int]:
    """Add `blocks` to ``source.zst`` behind its first `covered` bytes, as a frame of its own.

    Returns the segment that describes them, and how many bytes of the file now count.
    """
    import zstandard

    edges = EdgeHash()
    with _open_behind(folder / names.SOURCE, covered) as file:
        compressor = zstandard.ZstdCompressor(level=_ZSTD_LEVEL)
        with compressor.stream_writer(file, closefd=False) as out:
            for block in blocks:
                edges.update(block)
                out.write(block)
        file.flush()
        return edges.segment(), file.tell()


class EdgeHash:
    """Hashes of a stream: whole, and its first and last 64 KiB."""

    def __init__(self) -> None:
        self._whole = hashlib.sha256()
        self._bytes = 0
        self._head = b""
        self._tail = b""

    def update(self, block: bytes) -> None:
        """More of the stream."""
        self._whole.update(block)
        self._bytes += len(block)
        if len(self._head) < _EDGE_BYTES:
            self._head += block[: _EDGE_BYTES - len(self._head)]
        self._tail = (self._tail + block[-_EDGE_BYTES:])[-_EDGE_BYTES:]

    def segment(self) -> SourceSegment:
        """What the manifest says of it."""
        return SourceSegment(
            self._bytes,
            self._whole.hexdigest(),
            hashlib.sha256(self._head).hexdigest(),
            hashlib.sha256(self._tail).hexdigest(),
        )


def write_private(path: Path, data: bytes) -> None:
    """Write `path` readable by its owner alone."""
    with _open_behind(path, 0) as file:
        file.write(data)


def _open_behind(path: Path, covered: int) -> BinaryIO:
    """`path` (0600), cut to its first `covered` bytes, to write behind them."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    os.ftruncate(descriptor, covered)
    os.lseek(descriptor, covered, os.SEEK_SET)
    return os.fdopen(descriptor, "wb")


def _short_id(folder: Path) -> str | None:
    """The id in the headers of the archive in `folder`: of its first page, as first written."""
    from snapcompact.archive.manifest import load_page_row

    with open(folder / names.PAGES, "rb") as file:
        line = file.readline()
    return load_page_row(line, names.PAGES).text_sha256[:8] if line else None


def _session_facts(session: Session) -> dict[str, str]:
    name = os.fsencode(os.path.basename(session.source.name)).decode("utf-8", "backslashreplace")
    facts = {"name": name, "format": session.format.name}
    return facts | dict(sorted(session.report.info.items()))
