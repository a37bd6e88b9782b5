"""pi's and oh-my-pi's session files: entries of a tree, a compaction appended to the leaf.

Seen in the programs' requests: the summary comes first, then the entries from ``firstKeptEntryId``
on; an id that matches none keeps nothing, without a word; an entry without ``id`` loses the whole
history. A ``custom_message`` may hold pictures, and reaches the model as the user's words.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator
from typing import TYPE_CHECKING

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
from snapcompact.compaction.writers.pi_records import pi_entry
from snapcompact.history.blocks import text_of
from snapcompact.history.formats import pi as pi_format
from snapcompact.history.walk import Walk
from snapcompact.llm.contract import Part, Picture

if TYPE_CHECKING:
    from snapcompact.compaction.entries import (
        Entry,
    )
    from snapcompact.history.model import (
        ToolResult,
    )
    from snapcompact.history.session import Session

CUSTOM_TYPE = "snapcompact"
"""``customType`` of the entry that holds our pages."""


def load(session: Session) -> Stored:
    """The path to the last entry; files of version 1, which has no ids, are numbered by line."""
    taken: set[str] = set()
    link = noting(pi_format.link, taken)
    walk = Walk(session.source, session.options, link, one_path=True)
    entries: list[Entry] = []
    records: dict[str, tuple[Json, ...]] = {}
    numbered: list[str] = []
    facts: Json = {"version1": False, "lines": 0}
    for place, step in enumerate(walk.steps(session.report)):
        record = step.record
        entry_id = text_of(record.get("id"))
        if record.get("type") in ("session", "title"):
            numbered.append("")
            continue
        if not entry_id:
            entry_id, facts["version1"] = f"line {place}", True
        numbered.append(entry_id)
        entries.append(pi_entry(record, entry_id, entries[-1].id if entries else None, numbered))
        records[entry_id] = (record,)
    facts["lines"] = {entry_id: at for at, entry_id in enumerate(numbered) if entry_id}
    return Stored(session, tuple(entries), records=records, facts=facts, taken=frozenset(taken))


def write(stored: Stored, change: Change) -> Iterator[bytes]:
    """The file as it was, then the compaction, then copies of what could not stay in place."""
    yield from source_bytes(stored)
    ids = fresh_ids(seed_of(stored, change), stored.taken, 8)
    if stored.facts["version1"]:
        yield from _version1(stored, change)
        return
    before = change.partition.before
    if before and change.partition.previous is None:
        yield from _rewound(stored, change, ids)
        return
    leaf = stored.entries[-1].id
    mark = _compaction(stored, change, next(ids), leaf)
    yield line(mark)
    if change.in_place:
        return
    shown = (*before, *change.shown)
    yield from _tail(stored, change, mark["id"], ids, [item.id for item in shown])


def _compaction(stored: Stored, change: Change, new_id: str, parent: str) -> Json:
    """The entry; keys in pi's order, oh-my-pi's ``shortSummary`` where there is one."""
    made: Json = {
        "type": "compaction", "id": new_id, "parentId": parent, "timestamp": change.iso_time,
        "summary": change.summary,
        "firstKeptEntryId": change.first_kept if change.in_place else "",
        "tokensBefore": change.tokens_before, "details": _details(change),
    }  # fmt: skip
    if change.short and stored.session.format.name == "ohmypi":
        made["shortSummary"] = change.short
    return made


def _details(change: Change) -> Json:
    return {
        "readFiles": list(change.files.read),
        "modifiedFiles": list(change.files.modified),
    }


def _rewound(stored: Stored, change: Change, ids: Iterator[str]) -> Iterator[bytes]:
    """A summary behind what is kept in front of it: a branch from there, as after a rewind."""
    parent = change.partition.before[-1].id
    mark: Json = {
        "type": "branch_summary", "id": next(ids), "parentId": parent,
        "timestamp": change.iso_time, "fromId": parent, "summary": change.summary,
        "details": _details(change),
    }  # fmt: skip
    yield line(mark)
    shown = [item.id for item in change.shown]
    yield from _tail(stored, change, mark["id"], ids, shown)


def _tail(
    stored: Stored, change: Change, parent: str, ids: Iterator[str], shown: list[str]
) -> Iterator[bytes]:
    """Our pages, then copies of the entries `shown`, each the child of the one before."""
    if change.pieces:
        page: Json = {
            "type": "custom_message", "id": next(ids), "parentId": parent,
            "timestamp": change.iso_time, "customType": CUSTOM_TYPE,
            "content": [content_part(piece) for piece in change.pieces], "display": False,
        }  # fmt: skip
        yield line(page)
        parent = page["id"]
    for entry_id in shown:
        record = recorded(stored, change, entry_id, _set_result)
        made = {**record, "id": next(ids), "parentId": parent}
        yield line(made)
        parent = made["id"]


def content_part(piece: Part) -> Json:
    """A part of a message's content, as pi writes it."""
    if isinstance(piece, Picture):
        data = base64.b64encode(piece.data).decode()
        return {"type": "image", "data": data, "mimeType": piece.mime}
    return {"type": "text", "text": piece}


def _set_result(record: Json, old: ToolResult, text: str) -> None:
    record["message"]["content"] = [{"type": "text", "text": text}]


def _version1(stored: Stored, change: Change) -> Iterator[bytes]:
    """Old files name the first entry kept by its place in the file, which copies cannot have."""
    lines = stored.facts["lines"]
    total = max(lines.values(), default=0) + 1
    moved = [] if change.in_place else [*change.partition.before, *change.shown]
    first = lines.get(change.first_kept, total) if change.in_place else total + 1
    mark: Json = {
        "type": "compaction", "timestamp": change.iso_time, "summary": change.summary,
        "firstKeptEntryIndex": first, "tokensBefore": change.tokens_before,
    }  # fmt: skip
    yield line({**mark, "auto": True} if change.automatic else mark)
    if change.pieces:
        content = [content_part(piece) for piece in change.pieces]
        at_ms = int(change.time.timestamp() * 1000)
        said = {"role": "user", "content": content, "timestamp": at_ms}
        yield line({"type": "message", "timestamp": change.iso_time, "message": said})
    for item in moved:
        yield line(recorded(stored, change, item.id, _set_result))
