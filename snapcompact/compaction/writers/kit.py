"""kit's session files: pi's tree with snake-case keys; a compaction is a new root.

After loading, kit takes the entries from ``first_kept_entry_id`` up to the compaction in the order
of the *file*, whatever their branch. So the tail stays in place only where no other branch lies
among it; else its entries are appended again behind the compaction.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from snapcompact.compaction.entries import BRANCH_SUMMARY, Entry, Files, Kind, Mark, summary_message
from snapcompact.compaction.writers.contract import (
    Change,
    Json,
    Stored,
    fresh_ids,
    line,
    recorded,
    seed_of,
    source_bytes,
)
from snapcompact.history.blocks import json_of, text_of
from snapcompact.history.formats import kit as kit_format
from snapcompact.history.formats.kit import part_blocks
from snapcompact.history.model import Block, Message, Meta, Role, ToolResult
from snapcompact.history.records import records
from snapcompact.history.report import Report
from snapcompact.history.walk import Walk
from snapcompact.llm.contract import Part, Picture

if TYPE_CHECKING:
    from snapcompact.history.links import Link
    from snapcompact.history.session import Session

_ROLES = {"user": Role.USER, "assistant": Role.ASSISTANT, "tool": Role.TOOL, "system": Role.SYSTEM}


def load(session: Session) -> Stored:
    """The path to the last entry. A compaction, which has no parent, follows what it compacted."""
    places = (kit_format.link(record) for record, _, _ in records(session.source, Report()))
    order = [place.id for place in places if place is not None]
    before = dict(zip(order[1:], order, strict=False))

    def link(record: Json) -> Link | None:
        place = kit_format.link(record)
        if place is not None and record.get("type") == "compaction" and not place.parent:
            return place._replace(parent=before.get(place.id, ""))
        return place

    walk = Walk(session.source, session.options, link, one_path=True)
    entries: list[Entry] = []
    by_id: dict[str, tuple[Json, ...]] = {}
    for step in walk.steps(session.report):
        place = kit_format.link(step.record)
        if place is None:
            continue
        entries.append(_entry(step.record, place.id, entries[-1].id if entries else None, session))
        by_id[place.id] = (step.record,)
    return Stored(
        session, tuple(entries), records=by_id, facts={"order": order}, taken=frozenset(order)
    )


def _entry(record: Json, entry_id: str, parent: str | None, session: Session) -> Entry:
    kind = text_of(record.get("type"))
    text = text_of(record.get("summary"))
    if kind == "compaction":
        files = Files(_paths(record.get("read_files")), _paths(record.get("modified_files")))
        first = text_of(record.get("first_kept_entry_id"))
        return Entry(entry_id, Kind.COMPACTION, summary_message(text), parent,
                     Mark(text, first, files))  # fmt: skip
    if kind == "branch_summary":
        said = summary_message(text, label=BRANCH_SUMMARY)
        return Entry(entry_id, Kind.BRANCH, said, parent, Mark(text))
    if kind == "model_change":
        return Entry(entry_id, Kind.MODEL, parent=parent, provider=text_of(record.get("provider")),
                     value=text_of(record.get("model_id")))  # fmt: skip
    if kind != "message":
        return Entry(entry_id, Kind.META, parent=parent)
    parts = record.get("parts")
    listed = parts if isinstance(parts, list) else []
    found: tuple[Block, ...] = tuple(
        b for part in listed for b in part_blocks(part, session.report)
    )
    role = _ROLES.get(text_of(record.get("role")), Role.NOTE)
    meta = Meta(entry_id, model=text_of(record.get("model")))
    tools = {
        text_of(json_of(json_of(part).get("data")).get("tool_call_id")):
            text_of(json_of(json_of(part).get("data")).get("name"))
        for part in listed if json_of(part).get("type") == "tool_result"
    }  # fmt: skip
    return Entry(entry_id, Kind.MESSAGE, Message(role, found, meta=meta), parent, tools=tools,
                 provider=text_of(record.get("provider")))  # fmt: skip


def _paths(value: Any) -> tuple[str, ...]:
    listed = value if isinstance(value, list) else []
    return tuple(path for path in listed if isinstance(path, str))


def write(stored: Stored, change: Change) -> Iterator[bytes]:
    """The file as it was, the compaction, and copies of what could not stay in place."""
    yield from source_bytes(stored)
    ids = fresh_ids(seed_of(stored, change), stored.taken, 16)
    stays = change.in_place and _unmixed(stored, change.first_kept)
    mark: Json = {
        "type": "compaction", "id": next(ids), "timestamp": change.iso_time,
        "summary": change.summary, "first_kept_entry_id": change.first_kept if stays else "",
        "tokens_before": change.tokens_before, "tokens_after": change.tokens_after,
        "messages_removed": change.removed,
    }  # fmt: skip
    lists = (("read_files", change.files.read), ("modified_files", change.files.modified))
    mark |= {key: list(paths) for key, paths in lists if paths}
    yield line(mark)
    if not stays:
        yield from _copies(stored, change, mark["id"], ids)


def _unmixed(stored: Stored, first_kept: str) -> bool:
    """True where all entries of the file from `first_kept` on are on the active path."""
    order = stored.facts["order"]
    if first_kept not in order:
        return not first_kept
    active = {entry.id for entry in stored.entries}
    return all(one in active for one in order[order.index(first_kept) :])


def _copies(stored: Stored, change: Change, parent: str, ids: Iterator[str]) -> Iterator[bytes]:
    if change.pieces:
        page: Json = {
            "type": "message", "id": next(ids), "parent_id": parent, "timestamp": change.iso_time,
            "role": "user", "parts": [_part(piece) for piece in change.pieces],
        }  # fmt: skip
        yield line(page)
        parent = page["id"]
    for item in (*change.partition.before, *change.shown):
        record = recorded(stored, change, item.id, _set_result)
        made = {**record, "id": next(ids), "parent_id": parent}
        yield line(made)
        parent = made["id"]


def _part(piece: Part) -> Json:
    if isinstance(piece, Picture):
        data = base64.b64encode(piece.data).decode()
        return {"type": "image", "data": {"data": data, "media_type": piece.mime}}
    return {"type": "text", "data": {"text": piece}}


def _set_result(record: Json, old: ToolResult, text: str) -> None:
    for part in record["parts"]:
        data = json_of(json_of(part).get("data"))
        if json_of(part).get("type") == "tool_result" and data.get("tool_call_id") == old.call_id:
            data["content"] = text
