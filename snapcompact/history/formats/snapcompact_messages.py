"""Our own JSON Lines of messages, which ``export --to json`` writes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from snapcompact.errors import FormatError
from snapcompact.history.export.json import message_from_json
from snapcompact.history.jsontext import json_text
from snapcompact.history.model import Message, Meta, Other, Role
from snapcompact.history.records import records

if TYPE_CHECKING:
    from collections.abc import Iterator

    from snapcompact.history.formats import Head, Options
    from snapcompact.history.report import Report
    from snapcompact.history.source import Source


def sniff(head: Head) -> bool:
    """Lines with a role of ours and blocks."""
    roles = [str(role) for role in Role]
    return any(
        isinstance(record, dict)
        and record.get("role") in roles
        and isinstance(record.get("blocks"), list)
        for record in head.records
    )


def read(source: Source, options: Options, report: Report) -> Iterator[Message]:
    """The messages; a line that is none is kept whole as a note."""
    for record, line, offset in records(source, report):
        try:
            yield message_from_json(record)
        except FormatError:
            block = Other("record", json_text(record))
            yield Message(Role.NOTE, (block,), "unknown record", Meta(line=line, offset=offset))
