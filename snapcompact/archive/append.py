"""An archive grown by what its session has gained since: only the last page is printed again."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from snapcompact.archive import names
from snapcompact.archive.fonts import Fonts, typeface_of, used_ids
from snapcompact.archive.manifest import Manifest, MessageRow, SourceSegment, dump_manifest
from snapcompact.archive.read import Archive, open_archive
from snapcompact.archive.staging import locked, sync_files
from snapcompact.archive.store import refuse_links
from snapcompact.archive.transcribe import PIECE_BYTES, Transcriber, blobs_of
from snapcompact.archive.writer import ArchiveWriter, copy_source
from snapcompact.errors import UsageError
from snapcompact.files import disk_errors, write_atomic
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
        if old.source:
            _check_source(session.source, old.source, out, whole=check)
        kept = old
        try:
            with disk_errors("write", out):
                manifest = _grown(session, archive, out, fonts or Fonts(), jobs, advance)
                if (manifest.totals, manifest.source) != (old.totals, old.source):
                    sync_files(out, _new_files(out, old, manifest))
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
    old = archive.manifest
    typeface = typeface_of(archive, fonts)
    prepared = Prepared(
        session.messages,
        str(old.options["fidelity"]),
        redact=old.options.get("redact") is True,
    )
    replay = _Replay(archive, prepared.messages())
    writer = ArchiveWriter(
        out,
        old.options,
        typeface,
        base=old,
        first_line=replay.first_line,
        used=used_ids(archive, typeface),
    )
    writer.write(replay.pieces, jobs, advance)
    segments, length = old.source, old.lengths.get(names.SOURCE, 0)
    covered = sum(segment.bytes for segment in segments)
    if segments and session.source.size() > covered:
        segment, length = copy_source(original_blocks(session.source, covered), out, length)
        segments = (*segments, segment)
    return writer.manifest(session, segments, length, prepared)


class _Replay:
    """The session's messages: the old ones compared with the archive, the new ones passed on."""

    def __init__(self, archive: Archive, messages: Iterator[Message]) -> None:
        self._archive = archive
        self._messages = messages
        last = archive.manifest.last_page
        self._page_offset = last.offset if last else 0
        self.first_line = 1 + self._lines_before_last_page()

    def pieces(self, transcriber: Transcriber) -> Iterator[bytes]:
        """The last page's text, then that of the new messages."""
        held: list[bytes] = []
        last = self._archive.manifest.last_message
        for row, message in self._old_pairs():
            text = transcriber.writer.write(message)
            grows = row == last  # the last one's answer may have been coming in still
            same = hashlib.sha256(text[: row.length]).hexdigest()[:16] == row.hash
            if not same or (len(text) != row.length and not grows):
                raise _differs(row, message)
            if grows:
                transcriber.note(message, text)
            else:
                transcriber.blobs.update(blob.sha256 for blob in blobs_of(message))
            end = row.offset + row.length
            if end > self._page_offset or grows:
                if not grows:
                    transcriber.remember(row.message, end)
                held.append(text[max(self._page_offset - row.offset, 0) :])
            if sum(map(len, held)) > PIECE_BYTES:
                yield b"".join(held)
                held.clear()
        yield b"".join(held)
        yield from transcriber.pieces(self._messages)

    def _old_pairs(self) -> Iterator[tuple[MessageRow, Message]]:
        count = self._archive.manifest.messages
        found = 0
        old = islice(self._messages, count)
        for row, message in zip(self._archive.message_rows(), old, strict=False):
            found += 1
            yield row, message
        if found < count:
            raise UsageError(
                f"the session has {found:,} messages, the archive {count:,}: it was rewound or "
                "cut; archive it anew under another name"
            )

    def _lines_before_last_page(self) -> int:
        """Line ends before the last page; only headers need them."""
        if not self._archive.shape.header:
            return 0
        pieces = self._archive.transcript(0, self._page_offset)
        return sum(piece.count(b"\n") for piece in pieces)


def _differs(row: MessageRow, message: Message) -> UsageError:
    at = f" (line {message.meta.line:,} of the session)" if message.meta.line else ""
    return UsageError(
        f"message {row.message:,}{at} is not the archived one: the session was rewound or edited; "
        "archive it anew under another name"
    )


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
    for name in (names.PAGES, names.MESSAGES, names.SOURCE):
        path = out / name
        covered = manifest.lengths.get(name, 0)
        if path.is_file() and path.stat().st_size > covered:
            os.truncate(path, covered)
    for path in out.iterdir():
        if names.small_file(path.name) is not None and path.name not in manifest.hashes:
            path.unlink()
    last = manifest.last_page
    number = last.page if last else 1
    while files := list(_page_files(out, number)):
        for path in files:
            if last is None or path != out / last.file:
                path.unlink()
        number += 1


def _new_files(out: Path, old: Manifest, new: Manifest) -> Iterator[Path]:
    """The files that `new` has and `old` had not, or not so; all blobs, which are few."""
    yield from (path for path in out.iterdir() if path.is_file())
    yield from (out / names.BLOBS).glob("*")
    first = old.last_page.page if old.last_page else 1
    for number in range(first, new.pages + 1):
        yield from _page_files(out, number)


def _page_files(out: Path, number: int) -> Iterator[Path]:
    """All revisions of page `number`."""
    first = out / names.page_path(number)
    yield from first.parent.glob(f"{first.stem}*.png")
