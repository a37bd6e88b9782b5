"""An archive given back in the form asked for."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from snapcompact.errors import ArchiveError, UsageError
from snapcompact.files import disk_errors
from snapcompact.history.source import Source
from snapcompact.transcript.write import write_transcript

if TYPE_CHECKING:
    from snapcompact.archive.read import Archive
    from snapcompact.history.model import Message

FORMS = ("original", "transcript", "messages")
ORIGINS = ("source", "pixels")


def restored(
    archive: Archive, *, form: str = "original", origin: str = "", span: str = ""
) -> Iterator[bytes]:
    """Bytes of `archive` as `form`, from `origin` (empty: what the form needs), in pieces.

    `span` is ``A:B``, messages A (from 0) up to, not including, B. Raises UsageError for a form,
    origin or span that is none, or that do not go together.
    """
    if form not in FORMS:
        raise UsageError(f"unknown form {form!r}; known are {', '.join(FORMS)}")
    if origin not in ("", *ORIGINS):
        raise UsageError(f"unknown origin {origin!r}; known are {', '.join(ORIGINS)}")
    if form == "original":
        if origin == "pixels":
            raise UsageError("pages hold the transcript, not the file; use --as transcript")
        if span:
            raise UsageError("--messages goes with --as transcript or messages")
        return archive.source()
    start, stop = parse_span(span, archive.manifest.messages)
    if origin == "source":
        return _from_source(archive, form, start, stop)
    return _FROM_PIXELS[form](archive, start, stop)


def parse_span(span: str, count: int) -> tuple[int, int]:
    """First message and one past the last of ``A:B``, ``A:``, ``:B``, ``A`` or nothing."""
    if not span:
        return 0, count
    first, colon, second = span.partition(":")
    try:
        start = int(first) if first else 0
        stop = (int(second) if second else count) if colon else start + 1
    except ValueError:
        raise UsageError(f"--messages takes A:B with whole numbers, not {span[:40]!r}") from None
    start = start + count if start < 0 else start
    stop = stop + count if stop < 0 else stop
    if not 0 <= start <= stop or start > count:
        raise UsageError(f"--messages {span}: the archive has messages 0 to {count - 1}")
    return start, min(stop, count)


def _transcript(archive: Archive, start: int, stop: int) -> Iterator[bytes]:
    if (start, stop) == (0, archive.manifest.messages):
        yield from archive.transcript()
        return
    rows = list(archive.message_rows(start, start + 1)) + list(archive.message_rows(stop - 1, stop))
    if start < stop:
        end = rows[-1].offset + rows[-1].length
        yield from archive.transcript(rows[0].offset, end - rows[0].offset)


def _messages(archive: Archive, start: int, stop: int) -> Iterator[bytes]:
    from snapcompact.history.export.json import message_line

    for message in archive.messages(start, stop, blobs=True):
        yield message_line(message)


_FROM_PIXELS: dict[str, Callable[[Archive, int, int], Iterator[bytes]]] = {
    "transcript": _transcript,
    "messages": _messages,
}


def _from_source(archive: Archive, form: str, start: int, stop: int) -> Iterator[bytes]:
    """The stored source read again, the way it was read when it was archived."""
    from snapcompact.history.session import open_session
    from snapcompact.transcript.fidelity import Prepared

    options = archive.manifest.options
    with spooled_source(archive) as source:
        session = open_session(
            source,
            format=str(archive.manifest.session["format"]),
            branch=str(options.get("branch", "active")),
            select=str(options.get("select", "")),
        )
        prepared = Prepared(session.messages, str(options.get("fidelity", "exact")))
        messages = _all_of(archive, prepared.messages())
        if form == "messages":
            from snapcompact.history.export.json import message_line

            yield from map(message_line, islice(messages, start, stop))
        else:
            yield from islice(write_transcript(messages), start, stop)


def _all_of(archive: Archive, messages: Iterator[Message]) -> Iterator[Message]:
    """`messages`; ArchiveError behind the last where they are fewer than were archived."""
    count = 0
    for message in messages:
        count += 1
        yield message
    if count < archive.manifest.messages:
        raise ArchiveError(
            f"{archive.store.where}: the source gives {count:,} of {archive.manifest.messages:,} "
            "messages; the session lay in several files, and only the named one is kept; "
            "use --from pixels"
        )


@contextmanager
def spooled_source(archive: Archive) -> Iterator[Source]:
    """The stored source as a private temporary file while the body runs."""
    descriptor, path = tempfile.mkstemp(prefix="snapcompact-", suffix=".source")
    try:
        with disk_errors("write", path), open(descriptor, "wb") as file:
            for block in archive.source():
                file.write(block)
        yield Source(str(archive.manifest.session.get("name", "source")), Path(path))
    finally:
        os.unlink(path)
