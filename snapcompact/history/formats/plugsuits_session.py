"""plugsuits sessions: every message twice, in the snapshot and as a line; each is given once."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from snapcompact.history.blocks import Json, json_of, text_of
from snapcompact.history.formats.vercel_ai import message as model_message
from snapcompact.history.jsontext import json_text
from snapcompact.history.model import Message, Meta, Other, Role, Text, wtf8
from snapcompact.history.records import records
from snapcompact.history.seen import Seen
from snapcompact.history.times import time_text
from snapcompact.history.titles import Titles

if TYPE_CHECKING:
    from collections.abc import Iterator

    from snapcompact.history.formats import Head, Options
    from snapcompact.history.report import Report
    from snapcompact.history.source import Source


def sniff(head: Head) -> bool:
    """A ``header`` record with a ``sessionId``."""
    return any(
        isinstance(record, dict) and record.get("type") == "header" and "sessionId" in record
        for record in head.records
    )


def read(source: Source, options: Options, report: Report) -> Iterator[Message]:
    """The snapshot's messages, then those lines that it does not hold."""
    titles = Titles(report)
    told = Seen()
    for record, line, offset in records(source, report):
        meta = Meta(line=line, offset=offset)
        match record.get("type"):
            case "header":
                report.learn("id", record.get("sessionId"))
            case "snapshot":
                listed = json_of(record.get("snapshot")).get("messages")
                for item in listed if isinstance(listed, list) else []:
                    yield from _message(json_of(item), meta, told, titles, report)
            case "message":
                yield from _message(record, meta, told, titles, report)
            case "checkpoint":
                report.skipped["checkpoint"] += 1
            case kind:
                label = f"unknown {text_of(kind)}".strip()
                yield Message(Role.NOTE, (Other(label, json_text(record)),), label, meta)


def _message(
    item: Json, place: Meta, told: Seen, titles: Titles, report: Report
) -> Iterator[Message]:
    item_id = text_of(item.get("id"))
    if item_id and not told.add(item_id):
        report.duplicates["snapshot and line"] += 1
        return
    meta = place._replace(id=item_id, time=time_text(item.get("createdAt")))
    for message in model_message(json_of(item.get("message")), meta, report):
        if item.get("isSummary") is True:
            yield replace(message, label="summary", meta=meta)
            continue
        if message.role is Role.USER:
            titles.prompt(message.text)
        yield replace(
            message, meta=message.meta._replace(id=item_id, time=meta.time, line=meta.line)
        )
    yield from _original(item.get("originalContent"), meta)


def _original(said: Any, meta: Meta) -> Iterator[Message]:
    """The text of a message that was rewritten, before that."""
    if isinstance(said, str) and said:
        yield Message(Role.NOTE, (Text(wtf8(said)),), "original content", meta)
