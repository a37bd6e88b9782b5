"""What an archive knows of the reading it was made by, so that an append reads only what is new.

The source is read from a point a few dozen messages before its old end (``history/resume.py``).
What the transcript's writer knew there comes from the rows of the messages before; nothing else of
the old messages is looked at. Whatever cannot be known so raises CannotResume, and all is read.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import dropwhile
from typing import TYPE_CHECKING

from snapcompact.archive import names
from snapcompact.history.model import Message, Role, ToolCall, ToolResult
from snapcompact.history.pairing import Pairing
from snapcompact.history.resume import ID_BYTES, CannotResume, OlderCall, Point, point_from_json
from snapcompact.transcript.write import TranscriptWriter

if TYPE_CHECKING:
    from pathlib import Path

    from snapcompact.archive.manifest import MessageRow
    from snapcompact.archive.read import Archive
    from snapcompact.history.resume import Trail

ROWS_BEFORE = (128, 16_384, None)
"""Rows read to know the open calls, in turn, while results answer older ones; None for all."""
_BLOCK = 1 << 20


@dataclass(frozen=True, slots=True)
class Resumption:
    """A point, the number of the first message from there on, and what was so far."""

    point: Point
    message: int
    info: dict[str, str]
    """What the report knew of the session."""
    blobs: frozenset[str]


def resumption(archive: Archive, out: Path) -> Resumption:
    """Where reading the grown source of `archive`, in folder `out`, goes on; or CannotResume."""
    manifest = archive.manifest
    if manifest.options.get("fidelity") != "exact" or manifest.options.get("redact"):
        raise CannotResume("what is cut or taken out depends on all that came before")
    if not manifest.source or archive.shape.header:
        raise CannotResume("the old source, or the number of lines before its end, is not known")
    point = point_from_json(manifest.resume)
    if manifest.lengths.get(names.RECORDS, 0) != point.rows * ID_BYTES:
        raise CannotResume(f"{names.RECORDS} does not reach to the point")
    folder = out / names.BLOBS
    blobs = frozenset(path.name for path in folder.iterdir()) if folder.is_dir() else frozenset()
    if len(blobs) != manifest.totals.get("blobs", 0):
        raise CannotResume("a broken run left blobs behind")
    row = next(archive.message_rows_at(point.offset), None)
    if row is None or row.at != point.offset:
        raise CannotResume("no message was read at the point")
    info = {key: str(value) for key, value in manifest.session.items()}
    for key in ("name", "format"):
        info.pop(key, None)
    return Resumption(point, row.message, info, blobs)


def check_new(archive: Archive, trail: Trail | None) -> None:
    """Raise CannotResume where a record before the point has an id of `trail`: a copy is new."""
    length = archive.manifest.lengths.get(names.RECORDS, 0)
    if not length or trail is None:
        return
    if archive.store.size(names.RECORDS) < length:
        raise CannotResume(f"{names.RECORDS} is cut off")
    if trail.ids.meet(_blocks(archive, length)):
        raise CannotResume("a record comes again")


def _blocks(archive: Archive, length: int) -> Iterator[bytes]:
    with archive.store.open(names.RECORDS) as file:
        while length and (block := file.read(min(_BLOCK, length))):
            length -= len(block)
            yield block


def writer_before(archive: Archive, message: int, rows: int | None) -> TranscriptWriter:
    """The writer of `archive` as it was before `message`, told by the `rows` rows before it."""
    start = 0 if rows is None else max(0, message - rows)
    found: Iterator[MessageRow] = archive.message_rows(start, message)
    if start:  # parallel calls are told apart by their place among each other: all or none
        found = dropwhile(lambda row: row.role not in (Role.USER, Role.TOOL), found)
    pairing, answered = Pairing(), 0
    for row in found:
        if "" in row.calls or (row.role == Role.TOOL and not row.call_id):
            raise CannotResume("a call or a result without an id")
        answer = pairing.feed(_outline(row))
        if answer is not None:
            answered = max(answered, answer.number)
    if start and not answered:
        raise OlderCall("no answered call in the rows that were read")
    pairing.begins_late = start > 0
    return TranscriptWriter(pairing, answered)


def _outline(row: MessageRow) -> Message:
    """A message that pairs as the one of `row`."""
    if row.role == Role.TOOL:
        return Message(Role.TOOL, (ToolResult(row.call_id, ()),))
    try:
        role = Role(row.role)
    except ValueError as error:
        raise CannotResume(f"unknown role {row.role!r}") from error
    return Message(role, tuple(ToolCall(call, "", b"") for call in row.calls))
