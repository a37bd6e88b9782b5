"""Session files that are one JSON document, read whole within a stated limit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import orjson

from snapcompact.errors import InputError
from snapcompact.history.salvage import salvage

if TYPE_CHECKING:
    from snapcompact.history.report import Report
    from snapcompact.history.source import Source

MAX_DOCUMENT_BYTES = 1 << 30
"""Largest JSON document read; parsed it takes about five times its size in memory."""


class Document(NamedTuple):
    """The JSON value of a whole file."""

    value: Any


def document(source: Source, report: Report) -> Document | None:
    """The one JSON value that `source` holds, None where it holds lines or no JSON.

    Tells lines from a document by the first megabyte, so that lines are never read whole. Raises
    InputError where a document is larger than MAX_DOCUMENT_BYTES.
    """
    if _is_lines(source.head(1 << 20)):
        return None
    data = _whole(source, report)
    try:
        return Document(orjson.loads(data))
    except orjson.JSONDecodeError:
        found = salvage(data)
    if len(found.values) != 1 or "joined-records" in found.damage:
        return None
    for kind in found.damage:
        report.damage.add(kind, 0)
    return Document(found.values[0])


def _is_lines(head: bytes) -> bool:
    """Whether the first line is a whole JSON value and more follows, or most lines are.

    A document spread over lines has commas after all but the last of its one-line values.
    """
    body = head.removeprefix(b"\xef\xbb\xbf").lstrip(b"\0 \t\r\n")
    if not body.startswith((b"{", b"[")):
        return True
    first, *others = body.split(b"\n", 50)
    if not any(line.strip(b"\0 \t\r") for line in others):
        return False
    whole = [_is_value(line) for line in others[:-1] if line.startswith(b"{")]
    return _is_value(first) or sum(whole) * 2 > len(whole)


def _is_value(line: bytes) -> bool:
    try:
        orjson.loads(line)
    except orjson.JSONDecodeError:
        return False
    return True


def _whole(source: Source, report: Report) -> bytes:
    pieces, size = [], 0
    for block in source.blocks(damaged=lambda: report.damage.add("cut-stream", 0)):
        size += len(block)
        if size > MAX_DOCUMENT_BYTES:
            raise InputError(
                f"{source.name} is one JSON document of more than {MAX_DOCUMENT_BYTES:,} bytes; "
                "JSON Lines of any size are read"
            )
        pieces.append(block)
    return b"".join(pieces)
