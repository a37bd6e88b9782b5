"""Claude Code's session files: a ``compact_boundary`` record, then the summary as a user's record.

Seen in the program's requests: the boundary counts only with the ``isCompactSummary`` record behind
it; ``preservedSegment`` (head, anchor = the summary, tail) keeps a tail in place. Copies of records
get message ids of their own, because the program joins records that share one.
"""

from __future__ import annotations

import base64
import uuid
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from snapcompact.compaction.entries import SUMMARY, Entry, Kind, Mark
from snapcompact.compaction.writers.contract import (
    Change,
    Json,
    Stored,
    fresh_ids,
    line,
    noting,
    recorded,
    seed_of,
    source_bytes,
)
from snapcompact.history.blocks import blocks, json_of, text_of
from snapcompact.history.formats import claude_code
from snapcompact.history.formats.claude_records import meta_of, user_label
from snapcompact.history.model import Message, Role, ToolResult
from snapcompact.history.walk import Walk
from snapcompact.llm.contract import Part, Picture

if TYPE_CHECKING:
    from snapcompact.history.session import Session

_REPEATED = ("cwd", "entrypoint", "gitBranch", "sessionId", "slug", "userType", "version")
"""Keys that every record of a session repeats."""


def load(session: Session) -> Stored:
    """The main conversation; records of one answer that follow each other are one entry."""
    taken: set[str] = set()
    walk = Walk(session.source, session.options, noting(claude_code.link, taken))
    entries: list[Entry] = []
    records: dict[str, tuple[Json, ...]] = {}
    last: Json = {}
    boundary: Json | None = None
    for step in walk.steps(session.report):
        record = step.record
        place = claude_code.link(record)
        if place is None or (step.side and not walk.all_side):
            continue
        last = record
        if record.get("subtype") == "compact_boundary":
            boundary = record
        joined = _joins(entries, records, record)
        if joined is not None:
            records[joined] += (record,)
            entries[-1] = _entry(records[joined], entries[-1].parent, None)
            continue
        parent = entries[-1].id if entries else None
        entries.append(_entry((record,), parent, boundary))
        records[place.id] = (record,)
        if record.get("isCompactSummary") is True:
            boundary = None
    facts = {key: last[key] for key in _REPEATED if key in last} | {"leaf": last.get("uuid")}
    return Stored(session, tuple(entries), records=records, facts=facts, taken=frozenset(taken))


def _joins(entries: list[Entry], records: dict[str, tuple[Json, ...]], record: Json) -> str | None:
    """Id of the entry that `record` belongs to: the last one, of the same answer."""
    if not entries or record.get("type") != "assistant":
        return None
    answer = json_of(record.get("message")).get("id")
    before = records[entries[-1].id][-1]
    same = before.get("type") == "assistant" and json_of(before.get("message")).get("id") == answer
    return entries[-1].id if answer and same else None


def _entry(records: tuple[Json, ...], parent: str | None, boundary: Json | None) -> Entry:
    first = records[0]
    entry_id = text_of(first.get("uuid"))
    kind = first.get("type")
    if kind not in ("user", "assistant"):
        return Entry(entry_id, Kind.META, parent=parent)
    said = json_of(records[-1].get("message"))
    meta = meta_of(records[-1], said, 0, 0)
    found = [b for r in records for b in blocks(json_of(r.get("message")).get("content"))]
    if kind == "assistant":
        return Entry(
            entry_id, Kind.MESSAGE, Message(Role.ASSISTANT, tuple(found), "", meta), parent
        )
    label = user_label(first, found)
    if label == SUMMARY and boundary is not None:
        message = Message(Role.USER, tuple(found), SUMMARY, meta)
        mark = Mark(message.text, _first_kept(boundary))
        return Entry(entry_id, Kind.COMPACTION, message, parent, mark)
    role = Role.TOOL if any(isinstance(b, ToolResult) for b in found) else Role.USER
    return Entry(entry_id, Kind.MESSAGE, Message(role, tuple(found), label, meta), parent)


def _first_kept(boundary: Json) -> str:
    details = json_of(boundary.get("compactMetadata"))
    head = json_of(details.get("preservedSegment")).get("headUuid")
    uuids = json_of(details.get("preservedMessages")).get("uuids")
    listed = uuids[0] if isinstance(uuids, list) and uuids else ""
    return text_of(head) or text_of(listed)


def _uuids(stored: Stored, change: Change) -> Iterator[str]:
    """Ids as version-4 UUIDs, made from what is written so that they repeat."""
    for made in fresh_ids(seed_of(stored, change), (), 32):
        yield str(uuid.UUID(made, version=4))


def write(stored: Stored, change: Change) -> Iterator[bytes]:
    """The file as it was, boundary and summary, and copies of what could not stay in place."""
    yield from source_bytes(stored)
    ids = _uuids(stored, change)
    boundary_id, summary_id = next(ids), next(ids)
    common = {key: stored.facts[key] for key in _REPEATED if key in stored.facts}
    common |= {"isSidechain": False, "timestamp": change.iso_time}
    details: Json = {
        "trigger": "auto" if change.automatic else "manual",
        "preTokens": change.tokens_before,
    }
    kept = change.partition.kept
    if change.in_place and kept:
        details["preservedSegment"] = {
            "headUuid": text_of(stored.records[kept[0].id][0].get("uuid")),
            "anchorUuid": summary_id,
            "tailUuid": stored.facts["leaf"],
        }
    boundary: Json = {
        "parentUuid": None, "logicalParentUuid": stored.facts["leaf"], "type": "system",
        "subtype": "compact_boundary", "content": "Conversation compacted", "isMeta": False,
        "level": "info", "uuid": boundary_id, "compactMetadata": details, **common,
    }  # fmt: skip
    summary: Json = {
        "parentUuid": boundary_id, "type": "user", "uuid": summary_id,
        "message": {"role": "user", "content": _content(change)},
        "isVisibleInTranscriptOnly": True, "isCompactSummary": True, **common,
    }  # fmt: skip
    yield line(boundary)
    yield line(summary)
    if not change.in_place:
        yield from _copies(stored, change, summary_id, ids)


def _content(change: Change) -> str | list[Json]:
    if not change.pieces:
        return change.summary
    return [{"type": "text", "text": change.summary}, *map(_part, change.pieces)]


def _part(piece: Part) -> Json:
    if isinstance(piece, Picture):
        data = base64.b64encode(piece.data).decode()
        source = {"type": "base64", "media_type": piece.mime, "data": data}
        return {"type": "image", "source": source}
    return {"type": "text", "text": piece}


def _copies(stored: Stored, change: Change, parent: str, ids: Iterator[str]) -> Iterator[bytes]:
    """Copies of all that is kept, each the child of the one before, answers under new ids."""
    for item in (*change.partition.before, *change.shown):
        answer = f"msg_{next(ids).replace('-', '')[:24]}"
        for record in _records(stored, change, item.id):
            made = {**record, "uuid": next(ids), "parentUuid": parent}
            said = json_of(made.get("message"))
            if made.get("type") == "assistant" and "id" in said:
                made["message"] = {**said, "id": answer}
            yield line(made)
            parent = made["uuid"]


def _records(stored: Stored, change: Change, entry_id: str) -> tuple[Json, ...]:
    """The records of an entry; one that has a part cut becomes one record."""
    records = stored.records[entry_id]
    if entry_id not in change.edited or len(records) == 1:
        return (recorded(stored, change, entry_id, _set_result),) if len(records) == 1 else records
    whole = dict(records[-1])
    content: list[Any] = []
    for record in records:
        said = json_of(record.get("message")).get("content")
        content += said if isinstance(said, list) else [{"type": "text", "text": said}]
    whole["message"] = {**json_of(whole.get("message")), "content": content}
    joined = {**stored.records, entry_id: (whole,)}
    return (recorded(replace(stored, records=joined), change, entry_id, _set_result),)


def _set_result(record: Json, old: ToolResult, text: str) -> None:
    record.pop("toolUseResult", None)  # it repeats what was cut
    content = json_of(record.get("message")).get("content")
    for part in content if isinstance(content, list) else []:
        if json_of(part).get("tool_use_id") == old.call_id:
            part["content"] = text
