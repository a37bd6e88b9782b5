"""pi's and oh-my-pi's session files: entries of a tree, a compaction appended to the leaf.

Seen in the programs' requests: the summary comes first, then the entries from ``firstKeptEntryId``
on; an id that matches none keeps nothing, without a word; an entry without ``id`` loses the whole
history. A ``custom_message`` may hold pictures, and reaches the model as the user's words.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from snapcompact.compaction.entries import (
    BASH,
    BRANCH_SUMMARY,
    CUSTOM,
    SUMMARY,
    Entry,
    Files,
    Kind,
    Mark,
    summary_message,
)
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
from snapcompact.history.blobs import blob_base64
from snapcompact.history.blocks import blocks, json_of, name_of, result_content, text_of
from snapcompact.history.formats import pi as pi_format
from snapcompact.history.formats.pi_entries import usage_of
from snapcompact.history.model import (
    Block,
    Message,
    Meta,
    Other,
    Role,
    Text,
    ToolResult,
    wtf8,
)
from snapcompact.history.walk import Walk
from snapcompact.llm.contract import Part, Picture

if TYPE_CHECKING:
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
        entries.append(_entry(record, entry_id, entries[-1].id if entries else None, numbered))
        records[entry_id] = (record,)
    facts["lines"] = {entry_id: at for at, entry_id in enumerate(numbered) if entry_id}
    return Stored(session, tuple(entries), records=records, facts=facts, taken=frozenset(taken))


def _entry(record: Json, entry_id: str, parent: str | None, numbered: list[str]) -> Entry:
    kind = text_of(record.get("type"))
    time_ms = _time_ms(record)
    if kind in ("compaction", "branch_summary"):
        return _summary(record, entry_id, parent, numbered, time_ms)
    if kind == "model_change":
        model = text_of(record.get("modelId")) or text_of(record.get("model"))
        provider = text_of(record.get("provider"))
        return Entry(entry_id, Kind.MODEL, parent=parent, provider=provider, value=model)
    if kind == "thinking_level_change":
        level = text_of(record.get("thinkingLevel"))
        return Entry(entry_id, Kind.THINKING, parent=parent, value=level)
    if kind == "reset_boundary":
        return Entry(entry_id, Kind.RESET, parent=parent, time_ms=time_ms)
    if kind == "custom_message":
        said = Message(Role.USER, tuple(blocks(record.get("content"))), CUSTOM, Meta(entry_id))
        return Entry(entry_id, Kind.CUSTOM, said, parent, time_ms=time_ms)
    if kind != "message":
        return Entry(entry_id, Kind.META, parent=parent, time_ms=time_ms)
    return _message(json_of(record.get("message")), entry_id, parent, time_ms)


def _summary(
    record: Json, entry_id: str, parent: str | None, numbered: list[str], time_ms: int
) -> Entry:
    text, details = text_of(record.get("summary")), json_of(record.get("details"))
    files = Files(_paths(details.get("readFiles")), _paths(details.get("modifiedFiles")))
    foreign = record.get("fromHook") is True or record.get("fromExtension") is True
    if record["type"] == "branch_summary":
        said = summary_message(text, label=BRANCH_SUMMARY)
        return Entry(entry_id, Kind.BRANCH, said, parent, Mark(text, "", files, foreign), time_ms)
    first = text_of(record.get("firstKeptEntryId"))
    index = record.get("firstKeptEntryIndex")
    if not first and isinstance(index, int) and 0 <= index < len(numbered) - 1:
        first = next((one for one in numbered[index:-1] if one), "")
    said = Message(Role.USER, (Text(wtf8(text)), *_frames(record)), SUMMARY)
    return Entry(
        entry_id, Kind.COMPACTION, said, parent, Mark(text, first, files, foreign), time_ms
    )


def _paths(value: Any) -> tuple[str, ...]:
    listed = value if isinstance(value, list) else []
    return tuple(path for path in listed if isinstance(path, str))


def _frames(record: Json) -> list[Block]:
    """The pictures and edges of text that oh-my-pi puts behind a summary."""
    kept = json_of(json_of(record.get("preserveData")).get("snapcompact"))
    found = blocks(text_of(kept.get("textHead")))
    frames = kept.get("frames")
    for frame in frames if isinstance(frames, list) else []:
        data = json_of(frame).get("data")
        if isinstance(data, str):
            found.append(blob_base64("image", text_of(json_of(frame).get("mimeType")), data))
    return found + blocks(text_of(kept.get("textTail")))


def _message(said: Json, entry_id: str, parent: str | None, time_ms: int) -> Entry:
    role = text_of(said.get("role"))
    total = json_of(said.get("usage")).get("totalTokens")
    entry = Entry(
        entry_id, Kind.MESSAGE, None, parent,
        time_ms=said["timestamp"] if isinstance(said.get("timestamp"), int) else time_ms,
        provider=text_of(said.get("provider")),
        reported_total=total if isinstance(total, int) else 0,
    )  # fmt: skip
    error = text_of(said.get("errorMessage"))
    meta = Meta(
        entry_id, model=text_of(said.get("model")), usage=usage_of(said.get("usage")),
        stop=f"error: {error}" if error else text_of(said.get("stopReason")),
    )  # fmt: skip
    content = tuple(blocks(said.get("content")))
    tools = {}
    if role == "system":  # pi's own prompt, sent whatever is compacted
        return entry
    if role == "assistant":
        message = Message(Role.ASSISTANT, content, meta=meta)
    elif role == "toolResult":
        call = name_of(said.get("toolCallId"))
        failed = said.get("isError") is True
        tools = {call: name_of(said.get("toolName"))}
        result = ToolResult(call, result_content(said.get("content")), failed)
        message = Message(Role.TOOL, (result,), meta=meta)
    elif role == "bashExecution":
        if said.get("excludeFromContext") is True:
            return entry
        message = _bash(said, meta)
    elif role in ("custom", "hookMessage"):
        message = Message(Role.USER, content, CUSTOM, meta)
    elif role == "user":
        message = Message(Role.USER, content, meta=meta)
    else:
        message = Message(Role.NOTE, content, role, meta)
    return Entry(
        entry.id, entry.kind, message, parent, time_ms=entry.time_ms, provider=entry.provider,
        reported_total=entry.reported_total, tools=tools,
    )  # fmt: skip


def _bash(said: Json, meta: Meta) -> Message:
    parts: list[Block] = [
        Text(wtf8(text_of(said.get("command")))), Text(wtf8(text_of(said.get("output")))),
    ]  # fmt: skip
    if code := said.get("exitCode"):
        parts.append(Other("exit", str(code).encode()))
    return Message(Role.USER, tuple(parts), BASH, meta)


def _time_ms(record: Json) -> int:
    from datetime import datetime

    try:
        return int(datetime.fromisoformat(text_of(record.get("timestamp"))).timestamp() * 1000)
    except ValueError:
        return 0


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
