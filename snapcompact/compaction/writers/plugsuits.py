"""plugsuits' session files: a snapshot of the context, rewritten whole at every save.

Its own compaction leaves only the summary and the tail in the file, so ours does; the past is in
the input, its backup, or the archive.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from snapcompact.compaction.entries import SUMMARY, Entry, Kind, Mark
from snapcompact.compaction.writers.contract import (
    Change,
    Json,
    Stored,
    fresh_ids,
    line,
    recorded,
    seed_of,
)
from snapcompact.history.blocks import json_of, text_of
from snapcompact.history.formats.vercel_ai import message as parse_message
from snapcompact.history.model import Block, Message, Meta, Role, ToolResult
from snapcompact.history.records import records
from snapcompact.llm.contract import Part, Picture

if TYPE_CHECKING:
    from snapcompact.history.session import Session


def load(session: Session) -> Stored:
    """The snapshot's messages, else those of the lines."""
    lines: dict[str, Json] = {}
    listed: list[Any] = []
    facts: Json = {"header": {"type": "header", "sessionId": "", "version": 1}, "snapshot": {}}
    for record, _, _ in records(session.source, session.report):
        kind = record.get("type")
        if kind == "header":
            facts["header"] = record
        elif kind == "snapshot":
            facts["snapshot"] = json_of(record.get("snapshot"))
            found = facts["snapshot"].get("messages")
            listed = found if isinstance(found, list) else []
        elif kind == "message":
            lines[text_of(record.get("id")) or f"line {len(lines)}"] = record
    items = [json_of(item) for item in listed] or list(lines.values())
    entries: list[Entry] = []
    by_id: dict[str, tuple[Json, ...]] = {}
    for number, item in enumerate(items):
        entry_id = text_of(item.get("id")) or f"m{number}"
        entries.append(_entry(item, entry_id, entries[-1].id if entries else None, session))
        by_id[entry_id] = (item,)
    taken = frozenset(by_id) | frozenset(lines)
    return Stored(session, tuple(entries), records=by_id, facts=facts, taken=taken)


def _entry(item: Json, entry_id: str, parent: str | None, session: Session) -> Entry:
    parts = list(parse_message(json_of(item.get("message")), Meta(entry_id), session.report))
    found: tuple[Block, ...] = tuple(block for part in parts for block in part.blocks)
    role = parts[0].role if parts else Role.USER
    if any(isinstance(block, ToolResult) for block in found):
        role = Role.TOOL
    summary = item.get("isSummary") is True
    meta = parts[0].meta if parts else Meta(entry_id)
    message = Message(role, found, SUMMARY if summary else "", meta)
    created = item.get("createdAt")
    time_ms = created if isinstance(created, int) else 0
    if summary:
        return Entry(entry_id, Kind.COMPACTION, message, parent, Mark(message.text), time_ms)
    return Entry(entry_id, Kind.MESSAGE, message, parent, time_ms=time_ms)


def write(stored: Stored, change: Change) -> Iterator[bytes]:
    """Header, messages, snapshot and checkpoint, with the summary as the message it points to."""
    summary_id = next(fresh_ids(seed_of(stored, change), stored.taken, 16))
    now_ms = int(change.time.timestamp() * 1000)
    content: Any = change.summary
    if change.pieces:
        content = [{"type": "text", "text": change.summary}, *map(_part, change.pieces)]
    # Pictures are only allowed in a user's message.
    role = "user" if change.pieces else "assistant"
    summary: Json = {
        "id": summary_id, "message": {"role": role, "content": content}, "createdAt": now_ms,
        "isSummary": True,
    }  # fmt: skip
    before = [_record(stored, change, item.id) for item in change.partition.before]
    kept = [_record(stored, change, item.id) for item in change.shown]
    messages = [*before, summary, *kept]
    snapshot = {
        **stored.facts["snapshot"],
        "messages": messages,
        "revision": _next(stored.facts["snapshot"].get("revision")),
        "compactionState": {
            **json_of(stored.facts["snapshot"].get("compactionState")),
            "summaryMessageId": summary_id,
        },
    }
    yield line(stored.facts["header"])
    yield from (line({"type": "message", **message}) for message in messages)
    yield line({"type": "snapshot", "snapshot": snapshot, "updatedAt": now_ms})
    yield line({"type": "checkpoint", "summaryMessageId": summary_id, "updatedAt": now_ms})


def _next(revision: Any) -> int:
    return revision + 1 if isinstance(revision, int) else 1


def _part(piece: Part) -> Json:
    if isinstance(piece, Picture):
        data = base64.b64encode(piece.data).decode()
        return {"type": "image", "image": data, "mediaType": piece.mime}
    return {"type": "text", "text": piece}


def _record(stored: Stored, change: Change, entry_id: str) -> Json:
    record = recorded(stored, change, entry_id, _set_result)
    return {key: value for key, value in record.items() if key != "type"} | {"id": entry_id}


def _set_result(record: Json, old: ToolResult, text: str) -> None:
    content = json_of(record.get("message")).get("content")
    for part in content if isinstance(content, list) else []:
        if json_of(part).get("toolCallId") == old.call_id and part.get("type") == "tool-result":
            for key in ("result", "experimental_content"):
                part.pop(key, None)
            part["output"] = {"type": "text", "value": text}
