"""A session written as an archive: transcript, pages, rows, blobs, source, manifest.

Each page is decoded again before its file is written, so an archive that exists has been read once.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from itertools import chain as joined
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import orjson

from snapcompact.archive import names
from snapcompact.archive.guide import guide
from snapcompact.archive.manifest import (
    CHAIN_START,
    Manifest,
    PageRow,
    SourceSegment,
    chain,
    dump_manifest,
    dump_row,
)
from snapcompact.archive.print import PagePrinter
from snapcompact.archive.staging import staging
from snapcompact.archive.transcribe import Transcriber, blob_file
from snapcompact.errors import InputError
from snapcompact.files import disk_errors
from snapcompact.pages.parallel import in_order
from snapcompact.pages.shape import parse_shape

if TYPE_CHECKING:
    from snapcompact.history.model import Blob, Message
    from snapcompact.history.session import Session
    from snapcompact.history.source import Source

DEFAULT_SHAPE = "default"
_EDGE_BYTES = 64 << 10
_ZSTD_LEVEL = 3
"""Measured on agent sessions: level 1 is 8 % larger and little faster beside the pages' cost."""


@dataclass(frozen=True, slots=True)
class ArchiveOptions:
    """What an archive is made with. `jobs` and `effort` change no pixel."""

    shape: str = DEFAULT_SHAPE
    fidelity: str = "exact"
    effort: str = "fast"
    keep_source: bool = True
    as_zip: bool = False
    force: bool = False
    jobs: int = 0


@dataclass(slots=True)
class Losses:
    """What was folded or cut on the way to the transcript, counted by kind."""

    counts: dict[str, int] = field(default_factory=dict)


def write_archive(
    session: Session,
    out: Path,
    options: ArchiveOptions | None = None,
    *,
    prepare: Callable[[Iterator[Message]], Iterator[Message]] = iter,
    losses: dict[str, int] | None = None,
    advance: Callable[[int], None] = lambda pages: None,
) -> Manifest | None:
    """Archive `session` at `out`; None, and nothing written, if it has no message.

    `prepare` changes the messages before they are written (lean, redaction) and counts what it
    took away in `losses`. `advance` is called with pages done. Raises OutputExistsError, DiskError,
    InputError; then, and when interrupted, nothing is at `out` that was not there before.
    """
    options = options or ArchiveOptions()
    session.source.limit = session.source.size()  # an agent may be writing to it right now
    messages = prepare(session.messages())
    first = next(messages, None)
    if first is None:
        return None
    fingerprint = _fingerprint(session, options)
    with staging(out, fingerprint, as_zip=options.as_zip, force=options.force) as folder:
        writer = _Writer(folder, session, options)
        writer.write(joined([first], messages), advance)
        segments = (_copy_source(session.source, folder),) if options.keep_source else ()
        if segments and segments[0].bytes != session.source.size():
            raise InputError(f"{session.source.name} shrank while it was read; run this again")
        manifest = writer.manifest(segments, losses or {})
        with disk_errors("write", folder):
            _write_private(folder / names.MANIFEST, dump_manifest(manifest))
    return manifest


def _fingerprint(session: Session, options: ArchiveOptions) -> bytes:
    """All that finished pages depend on, besides their text."""
    from importlib.metadata import version

    kept = {
        "tool": version("snapcompact"),
        "shape": parse_shape(options.shape).name,
        "effort": options.effort,
    }
    return orjson.dumps(kept)


class _Writer:
    """Writes all files but the manifest into a folder."""

    def __init__(self, folder: Path, session: Session, options: ArchiveOptions) -> None:
        self._folder = folder
        self._session = session
        self._options = options
        self._printer = PagePrinter(folder, parse_shape(options.shape), options.effort)
        self._blobs: dict[str, int] = {}
        self._totals = {"cells": 0, "png_bytes": 0}
        self._pages_chain = CHAIN_START
        self._pages_bytes = 0
        self._last: PageRow | None = None
        self._transcriber: Transcriber | None = None

    def write(self, messages: Iterator[Message], advance: Callable[[int], None]) -> None:
        """Pages, rows and blobs of `messages`."""
        with (
            disk_errors("write", self._folder),
            _open_private(self._folder / names.MESSAGES) as rows,
            _open_private(self._folder / (names.PAGES + ".new")) as pages,
        ):
            transcriber = self._transcriber = Transcriber(rows, self._store_blob)
            cells = self._printer.paginate(transcriber.pieces(messages))
            printed = in_order(self._printer.print, cells, jobs=self._options.jobs)
            for row in printed:
                spanned = replace(row, messages=transcriber.span(row.offset, row.length))
                self._keep(spanned, pages)
                advance(1)
        with disk_errors("write", self._folder):
            os.replace(self._folder / (names.PAGES + ".new"), self._folder / names.PAGES)
            (self._folder / (names.PAGES + ".old")).unlink(missing_ok=True)
            self._drop_stale_pages()

    def manifest(self, segments: tuple[SourceSegment, ...], losses: dict[str, int]) -> Manifest:
        """The manifest of what was written; writes the small files it lists."""
        assert self._transcriber is not None
        assert self._last is not None
        transcriber, atlas = self._transcriber, self._printer.atlas
        shape = self._printer.shape
        small = {
            names.GLYPHS: self._printer.glyphs(),
            names.GUIDE: guide(shape, self._printer.used_codes()).encode(),
        }
        for name, data in small.items():
            _write_private(self._folder / name, data)
        report = self._session.report
        return Manifest(
            options={
                "shape": shape.name,
                "fidelity": self._options.fidelity,
                "effort": self._options.effort,
                "source": self._options.keep_source,
                "branch": self._session.options.branch,
                "select": self._session.options.select,
            },
            session=_session_facts(self._session),
            font={"name": atlas.name, "sha256": atlas.sha256},
            totals={
                "messages": transcriber.count,
                "pages": self._last.page,
                "transcript_bytes": transcriber.offset,
                **self._totals,
                "blobs": len(self._blobs),
                "blob_bytes": sum(self._blobs.values()),
            },
            lengths={names.PAGES: self._pages_bytes, names.MESSAGES: transcriber.rows_bytes},
            chains={names.PAGES: self._pages_chain, names.MESSAGES: transcriber.chain},
            hashes={name: hashlib.sha256(data).hexdigest() for name, data in small.items()},
            last_page=self._last,
            source=segments,
            losses=losses,
            damage=dict(sorted(report.damage.counts.items())),
            skipped=dict(sorted(report.skipped.items())),
            tool=_tool_version(),
        )

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

    def _store_blob(self, blob: Blob) -> None:
        if blob.sha256 in self._blobs or blob.data is None:
            return
        path = self._folder / blob_file(blob)
        path.parent.mkdir(mode=0o700, exist_ok=True)
        _write_private(path, blob.data)
        self._blobs[blob.sha256] = len(blob.data)

    def _drop_stale_pages(self) -> None:
        """Remove pages and blobs that a broken run left and this one did not make again."""
        assert self._last is not None
        kept_blobs = {names.blob_path(sha256) for sha256 in self._blobs}
        number = self._last.page + 1
        while (path := self._folder / names.page_path(number)).exists():
            path.unlink()
            number += 1
        for path in (self._folder / names.BLOBS).glob("*"):
            if f"{names.BLOBS}/{path.name}" not in kept_blobs:
                path.unlink()


def _session_facts(session: Session) -> dict[str, Any]:
    facts = {"name": os.path.basename(session.source.name), "format": session.format.name}
    return facts | dict(sorted(session.report.info.items()))


def _tool_version() -> str:
    from importlib.metadata import version

    return version("snapcompact")


def _copy_source(source: Source, folder: Path) -> SourceSegment:
    """Write ``source.zst``; the segment that describes the original bytes."""
    import zstandard

    edges = _EdgeHash()
    with (
        disk_errors("write", folder),
        _open_private(folder / names.SOURCE) as file,
        zstandard.ZstdCompressor(level=_ZSTD_LEVEL).stream_writer(file, closefd=False) as out,
        source.raw() as original,
    ):
        while block := original.read(1 << 20):
            edges.update(block)
            out.write(block)
    return edges.segment()


class _EdgeHash:
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


def _open_private(path: Path) -> BinaryIO:
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb")


def _write_private(path: Path, data: bytes) -> None:
    with _open_private(path) as file:
        file.write(data)
