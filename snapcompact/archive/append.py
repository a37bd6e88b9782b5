"""An archive grown by what its session has gained since: only the last page is printed again."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING

from snapcompact.archive import names
from snapcompact.archive.fonts import Fonts, typeface_of, used_ids
from snapcompact.archive.manifest import Manifest, SourceSegment, dump_manifest
from snapcompact.archive.read import Archive, open_archive
from snapcompact.archive.replay import Replay
from snapcompact.archive.resumed import ROWS_BEFORE, check_new, resumption, writer_before
from snapcompact.archive.staging import locked, sync_files
from snapcompact.archive.store import refuse_links
from snapcompact.archive.writer import ArchiveWriter, copy_source
from snapcompact.errors import UsageError
from snapcompact.files import disk_errors, write_atomic
from snapcompact.history.resume import CannotResume, OlderCall
from snapcompact.history.source import Source, original_blocks
from snapcompact.transcript.fidelity import Prepared

if TYPE_CHECKING:
    from snapcompact.history.model import Message
    from snapcompact.history.session import Session

_EDGE_BYTES = 64 << 10


def append_archive(
    session: Session,
    out: Path,
    *,
    check: bool = False,
    fonts: Fonts | None = None,
    jobs: int = 0,
    advance: Callable[[int], None] = lambda pages: None,
) -> Manifest:
    """Add to the archive in folder `out` what `session` has gained; its manifest afterwards.

    The archive's own options hold. Its old source must be the beginning of the session's file (its
    edges are compared, all of it with `check`), and its messages the beginning of the session's;
    else UsageError names the first that differs, and nothing is changed. `fonts` are those it was
    made with; they are wanted where new text needs glyphs that are not in the archive yet.
    """
    if not out.is_dir():
        raise UsageError(f"{out} is no folder; --append needs one (a zip is written once)")
    refuse_links(out)
    with locked(out), open_archive(out) as archive:
        old = archive.manifest
        _check_session(session, archive)
        session.source.limit = session.source.size()
        session.leaves_trail = True
        if old.source:
            _check_source(session.source, old.source, out, whole=check)
        kept = old
        try:
            with disk_errors("write", out):
                manifest = _grown(session, archive, out, fonts or Fonts(), jobs, advance)
                if (manifest.totals, manifest.source) != (old.totals, old.source):
                    sync_files(out, _new_files(out, old))
                    write_atomic(out / names.MANIFEST, dump_manifest(manifest))
                    kept = manifest
        finally:
            settle(out, kept)
    return kept


def _grown(
    session: Session,
    archive: Archive,
    out: Path,
    fonts: Fonts,
    jobs: int,
    advance: Callable[[int], None],
) -> Manifest:
    """The new manifest, by reading what is new; by reading all where that does not do."""
    old = archive.manifest
    typeface = typeface_of(archive, fonts)

    def grow(replay: Replay, prepared: Prepared) -> Manifest:
        writer = ArchiveWriter(
            out,
            old.options,
            typeface,
            base=old,
            first_line=replay.first_line,
            used=used_ids(archive, typeface),
        )
        writer.write(replay.pieces, jobs, advance, writer=replay.writer, blobs=replay.blobs)
        segments, length = old.source, old.lengths.get(names.SOURCE, 0)
        covered = sum(segment.bytes for segment in segments)
        if segments and session.source.size() > covered:
            segment, length = copy_source(original_blocks(session.source, covered), out, length)
            segments = (*segments, segment)
        return writer.manifest(session, segments, length, prepared)

    with suppress(CannotResume):
        known = resumption(archive, out)
        for rows in ROWS_BEFORE:
            with suppress(OlderCall):
                writer = writer_before(archive, known.message, rows)
                prepared = Prepared(lambda: session.messages_from(known.point, known.info))
                messages = _first_read(prepared.messages())
                check_new(archive, session.report.trail)
                return grow(Replay(archive, messages, known, writer), prepared)
    options = archive.manifest.options
    redact = options.get("redact") is True
    prepared = Prepared(session.messages, str(options["fidelity"]), redact=redact)
    return grow(Replay(archive, prepared.messages()), prepared)


def _first_read(messages: Iterator[Message]) -> Iterator[Message]:
    """`messages`, the first of them read already: then all links between records are known."""
    first = list(islice(messages, 1))
    return chain(first, messages)


def _check_session(session: Session, archive: Archive) -> None:
    old = archive.manifest
    found, expected = session.format.name, old.session.get("format")
    if found != expected:
        raise UsageError(f"the archive is of a {expected} session, this one is {found}")
    if (session.options.branch, session.options.select) != (
        old.options.get("branch"),
        old.options.get("select"),
    ):
        raise UsageError(
            f"the archive is of branch {old.options.get('branch')!r}, conversation "
            f"{old.options.get('select')!r}; append with the same --branch and --select"
        )


def _check_source(
    source: Source, segments: tuple[SourceSegment, ...], out: Path, *, whole: bool
) -> None:
    """Raise UsageError unless the archived source is the beginning of `source`."""
    covered = sum(segment.bytes for segment in segments)
    if source.size() < covered:
        raise UsageError(
            f"{source.name} has {source.size():,} bytes, the archived source {covered:,}: "
            "it was cut or is another session"
        )
    start = 0
    for segment in segments:
        head = _slice(source, start, min(_EDGE_BYTES, segment.bytes))
        end = start + segment.bytes
        tail = _slice(source, max(end - _EDGE_BYTES, start), min(_EDGE_BYTES, segment.bytes))
        same = (
            hashlib.sha256(head).hexdigest() == segment.head_sha256
            and hashlib.sha256(tail).hexdigest() == segment.tail_sha256
            and (not whole or _hash(source, start, segment.bytes) == segment.sha256)
        )
        if not same:
            raise UsageError(
                f"{source.name} does not begin with the source archived in {out} (bytes "
                f"{start:,} to {end:,} differ): it was rewritten; archive it anew elsewhere"
            )
        start = end


def _slice(source: Source, start: int, length: int) -> bytes:
    return b"".join(_cut(original_blocks(source, start), length))


def _hash(source: Source, start: int, length: int) -> str:
    digest = hashlib.sha256()
    for piece in _cut(original_blocks(source, start), length):
        digest.update(piece)
    return digest.hexdigest()


def _cut(pieces: Iterator[bytes], length: int) -> Iterator[bytes]:
    """The first `length` bytes of `pieces`."""
    while length and (piece := next(pieces, b"")):
        yield piece[:length]
        length -= len(piece[:length])


def settle(out: Path, manifest: Manifest) -> None:
    """Remove from folder `out` what `manifest` does not cover: left by a broken run or replaced."""
    for name in (names.PAGES, names.MESSAGES, names.SOURCE, names.RECORDS):
        path = out / name
        covered = manifest.lengths.get(name, 0)
        if path.is_file() and path.stat().st_size > covered:
            os.truncate(path, covered)
    for path in out.iterdir():
        if names.small_file(path.name) is not None and path.name not in manifest.hashes:
            path.unlink()
    last = manifest.last_page
    for path in _pages_from(out, last.page if last else 1):
        if last is None or path != out / last.file:
            path.unlink()


def _new_files(out: Path, old: Manifest) -> Iterator[Path]:
    """The files of a grown archive that `old` had not, or not so; all blobs, which are few."""
    yield from (path for path in out.iterdir() if path.is_file())
    yield from (out / names.BLOBS).glob("*")
    yield from _pages_from(out, old.last_page.page if old.last_page else 1)


def _pages_from(out: Path, number: int) -> Iterator[Path]:
    """The files of page `number`, in all revisions, and of those behind it, up to a gap.

    Each folder is listed once, for its names alone: there may be ten thousand.
    """
    folder, there = None, dict[str, list[str]]()
    while True:
        first = out / names.page_path(number)
        if first.parent != folder:
            folder, there = first.parent, {}
            for name in os.listdir(folder) if folder.is_dir() else ():
                there.setdefault(name.partition(".")[0], []).append(name)
        found = there.get(first.stem)
        if not found:
            return
        yield from (folder / name for name in found if name.endswith(".png"))
        number += 1
