"""Items of OpenAI's Responses API, in a request or as a bare list.

A reasoning item and the item behind it are one entry, because the API takes neither without the
other. What OpenAI's own compaction gives is written as it came: the user's words and a sealed item
that stands for all else, and that only OpenAI can read.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from snapcompact.compaction.entries import SUMMARY, Entry, Kind, Mark
from snapcompact.compaction.writers.chat import SUMMARY_HEAD, indented
from snapcompact.compaction.writers.contract import Change, Json, Stored, recorded
from snapcompact.errors import InputError
from snapcompact.history.blocks import json_of, text_of
from snapcompact.history.documents import document
from snapcompact.history.formats.openai_responses import item_messages
from snapcompact.history.jsontext import json_text
from snapcompact.history.model import Block, Message, Meta, Other, Role, Text, ToolResult
from snapcompact.llm.contract import Part, Picture
from snapcompact.llm.openai import data_url

if TYPE_CHECKING:
    from snapcompact.history.session import Session

SEALED = ("compaction", "compaction_summary")
"""Types of the item that OpenAI's own compaction leaves."""


def load(session: Session) -> Stored:
    """The items as entries ``i1``, ``i2``…; system messages in front are the head."""
    whole = document(session.source, session.report)
    value = whole.value if whole is not None else None
    items = value if isinstance(value, list) else json_of(value).get("input")
    if not isinstance(items, list):
        raise InputError(f"{session.source.name}: no list of input items in it")
    entries: list[Entry] = []
    by_id: dict[str, tuple[Json, ...]] = {}
    head: list[Message] = []
    held: tuple[Json, ...] = ()
    for number, item in enumerate(items, 1):
        record = json_of(item) or {"role": "user", "content": item}
        held = (*held, record)
        if record.get("type") == "reasoning" and number < len(items):
            continue
        message = _message(held, session)
        if message.role is Role.SYSTEM and not entries:
            head.append(message)
        else:
            entry_id = f"i{number}"
            entries.append(_entry(entry_id, held[-1], message, entries))
            by_id[entry_id] = held
        held = ()
    return Stored(session, tuple(entries), tuple(head), by_id, value, {"head": len(head)})


def _message(records: tuple[Json, ...], session: Session) -> Message:
    found = [m for record in records for m in item_messages(record, Meta(), session.report)]
    if not found:
        return Message(Role.USER, ())
    joined: tuple[Block, ...] = tuple(block for message in found for block in message.blocks)
    return replace(found[-1], role=found[0].role, blocks=joined)


def _entry(entry_id: str, record: Json, message: Message, before: list[Entry]) -> Entry:
    parent = before[-1].id if before else None
    if record.get("type") in SEALED:
        said = Message(Role.USER, (Other("compaction", json_text(record)),), SUMMARY)
        # The user's words in front of the sealed item are sent with it.
        first = before[0].id if before else ""
        return Entry(entry_id, Kind.COMPACTION, said, parent, Mark("", first))
    first_block = message.blocks[0] if message.blocks else None
    head = SUMMARY_HEAD.encode()
    if isinstance(first_block, Text) and first_block.data.startswith(head):
        text = first_block.data[len(head) :]
        blocks = (Text(text), *message.blocks[1:])
        said = Message(Role.USER, blocks, SUMMARY)
        return Entry(entry_id, Kind.COMPACTION, said, parent, Mark(text.decode("utf-8", "replace")))
    return Entry(entry_id, Kind.MESSAGE, message, parent)


def is_sealed(message: Message) -> bool:
    """True for a compaction whose content only the provider can read."""
    return message.label == SUMMARY and any(isinstance(b, Other) for b in message.blocks)


def write(stored: Stored, change: Change) -> Iterator[bytes]:
    """The new items, in the shape of the old file."""
    document_items = stored.document if isinstance(stored.document, list) else None
    items = document_items if document_items is not None else stored.document["input"]
    made: list[Any] = [*items[: stored.facts["head"]]]
    made += [r for item in change.partition.before for r in _records(stored, change, item.id)]
    made += change.native or [_summary(change)]
    made += [r for item in change.shown for r in _records(stored, change, item.id)]
    yield indented(made if document_items is not None else {**stored.document, "input": made})


def _records(stored: Stored, change: Change, entry_id: str) -> tuple[Json, ...]:
    records = stored.records[entry_id]
    if entry_id not in change.edited:
        return records
    last = replace(stored, records={entry_id: records[-1:]})
    return (*records[:-1], recorded(last, change, entry_id, _set_result))


def _summary(change: Change) -> Json:
    parts: tuple[Part, ...] = (SUMMARY_HEAD + change.summary, *change.pieces)
    return {"type": "message", "role": "user", "content": [_part(part) for part in parts]}


def _part(part: Part) -> Json:
    if isinstance(part, Picture):
        return {"type": "input_image", "image_url": data_url(part), "detail": part.detail or "auto"}
    return {"type": "input_text", "text": part}


def _set_result(record: Json, old: ToolResult, text: str) -> None:
    if text_of(record.get("type")).endswith("_output"):
        record["output"] = text
