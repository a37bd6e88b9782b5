"""pi sessions, versions 1 (a list, no ids) to 3 (a tree), and those of old oh-my-pi."""

from __future__ import annotations

from typing import TYPE_CHECKING

from snapcompact.history.blocks import Json, json_of, text_of
from snapcompact.history.formats.pi_entries import Entries
from snapcompact.history.links import Link, LinkNames
from snapcompact.history.walk import Walk, told

if TYPE_CHECKING:
    from collections.abc import Iterator

    from snapcompact.history.formats import Head, Options
    from snapcompact.history.model import Message
    from snapcompact.history.report import Report
    from snapcompact.history.resume import Point
    from snapcompact.history.source import Source


NAMES = LinkNames("id", "parentId", outside=("session", "title"))


def sniff(head: Head) -> bool:
    """A ``session`` header with an id."""
    return any(
        isinstance(record, dict) and record.get("type") == "session" and "id" in record
        for record in head.records
    )


def read(source: Source, options: Options, report: Report) -> Iterator[Message]:
    """The messages on the path to the last entry, in file order."""
    walk = Walk(source, options, link, names=NAMES, one_path=True, trail=report.trail)
    return told(walk, Entries(report, None), report, _asks)


def resume(source: Source, options: Options, report: Report, point: Point) -> Iterator[Message]:
    """The messages on the active path from `point` on."""
    walk = Walk(source, options, link, one_path=True, trail=report.trail, point=point)
    return told(walk, Entries(report, point), report, _asks)


def _asks(entry: Json) -> bool:
    """Whether an entry gives a message that no answer goes on with."""
    return json_of(entry.get("message")).get("role") in ("user", "toolResult")


def link(entry: Json) -> Link | None:
    """An entry's place; the header, the title slot and version 1 have none."""
    entry_id = text_of(entry.get("id"))
    if not entry_id or entry.get("type") in NAMES.outside:
        return None
    return Link(entry_id, text_of(entry.get("parentId")))
