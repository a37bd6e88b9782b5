"""Lists of messages, of OpenAI Chat Completions and of Anthropic Messages, as one JSON or as lines.

The new list is the old one with a user's message, the summary and its pages, in place of what was
compacted. System messages in front of it stay where they are. All else of a request stays as it is.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from snapcompact.compaction.entries import SUMMARY, Entry, Kind, Mark
from snapcompact.compaction.writers.contract import Change, Json, Stored, recorded
from snapcompact.errors import InputError
from snapcompact.history.blocks import json_of, text_of
from snapcompact.history.documents import document
from snapcompact.history.formats.openai_chat import message as parse_message
from snapcompact.history.jsontext import json_text
from snapcompact.history.model import Block, Message, Meta, Role, Text, ToolResult, wtf8
from snapcompact.history.records import records
from snapcompact.llm.contract import Part, Picture

if TYPE_CHECKING:
    from snapcompact.history.session import Session

SUMMARY_HEAD = "[Summary of the conversation so far, which it replaces]\n\n"
"""How the summary's message begins, and how it is known again."""
_LISTS = ("messages", "history")


def load(session: Session) -> Stored:
    """The messages as entries ``m1``, ``m2``…; system messages in front are the head."""
    whole = document(session.source, session.report)
    if whole is None:
        value: Any = [record for record, _, _ in records(session.source, session.report)]
    else:
        value = [whole.value] if "role" in json_of(whole.value) else whole.value
    items, key = _list(value, session)
    entries: list[Entry] = []
    by_id: dict[str, tuple[Json, ...]] = {}
    head: list[Message] = []
    for number, item in enumerate(items, 1):
        message = _message(json_of(item) or {"content": item}, session)
        if message.role is Role.SYSTEM and not entries:
            head.append(message)
            continue
        entry_id = f"m{number}"
        entries.append(_entry(entry_id, message, entries[-1].id if entries else None))
        by_id[entry_id] = (item,)
    lines = whole is None or value is not whole.value
    facts = {"lines": lines, "list": key, "head": len(head)}
    return Stored(session, tuple(entries), tuple(head), by_id, value, facts)


def _list(value: Any, session: Session) -> tuple[list[Any], str]:
    if isinstance(value, list):
        if any(isinstance(json_of(item).get("messages"), list) for item in value):
            raise InputError(
                f"{session.source.name} holds several requests, one a line; split it, or archive it"
            )
        return value, ""
    key = next((k for k in _LISTS if isinstance(json_of(value).get(k), list)), "")
    if not key:
        raise InputError(f"{session.source.name}: no list of messages in it")
    return value[key], key


def _message(item: Json, session: Session) -> Message:
    """One message for one of theirs, tool results and words together."""
    parts = list(parse_message(item, Meta(), session.report))
    if not parts:
        role = Role.ASSISTANT if item.get("role") == "assistant" else Role.USER
        return Message(role, ())
    found: tuple[Block, ...] = tuple(block for part in parts for block in part.blocks)
    if any(isinstance(block, ToolResult) for block in found):
        return replace(parts[0], role=Role.TOOL, blocks=found)
    return replace(parts[0], blocks=found)


def _entry(entry_id: str, message: Message, parent: str | None) -> Entry:
    head = SUMMARY_HEAD.encode()
    first = message.blocks[0] if message.blocks else None
    if message.role is Role.USER and isinstance(first, Text) and first.data.startswith(head):
        said = replace(message, label=SUMMARY, blocks=(Text(first.data[len(head) :]),
                                                       *message.blocks[1:]))  # fmt: skip
        text = first.data[len(head) :].decode("utf-8", "replace")
        return Entry(entry_id, Kind.COMPACTION, said, parent, Mark(text))
    return Entry(entry_id, Kind.MESSAGE, message, parent)


def write(stored: Stored, change: Change) -> Iterator[bytes]:
    """The new list, in the shape of the old file."""
    anthropic = stored.session.format.name == "anthropic_messages"
    make = _anthropic_image if anthropic else openai_image
    shown = [recorded(stored, change, item.id, _set_result) for item in change.shown]
    before = [recorded(stored, change, item.id, _set_result) for item in change.partition.before]
    made = [*before, {"role": "user", "content": _content(change, make)}, *shown]
    items, _ = _list(stored.document, stored.session)
    new = [*items[: stored.facts["head"]], *made]
    if stored.facts["lines"]:
        yield from (json_text(item) + b"\n" for item in new)
        return
    key = stored.facts["list"]
    yield indented({**stored.document, key: new} if key else new)


def indented(value: Any) -> bytes:
    """`value` as JSON to look at."""
    return wtf8(json.dumps(value, ensure_ascii=False, indent=1)) + b"\n"


def _content(change: Change, make: Callable[[Picture], Json]) -> str | list[Json]:
    text = SUMMARY_HEAD + change.summary
    if not change.pieces:
        return text
    parts = [_part(piece, make) for piece in change.pieces]
    return [{"type": "text", "text": text}, *parts]


def _part(piece: Part, make: Callable[[Picture], Json]) -> Json:
    return make(piece) if isinstance(piece, Picture) else {"type": "text", "text": piece}


def _anthropic_image(picture: Picture) -> Json:
    data = base64.b64encode(picture.data).decode()
    return {"type": "image", "source": {"type": "base64", "media_type": picture.mime, "data": data}}


def openai_image(picture: Picture) -> Json:
    """A picture as Chat Completions takes it."""
    data = base64.b64encode(picture.data).decode()
    return {"type": "image_url", "image_url": {"url": f"data:{picture.mime};base64,{data}"}}


def _set_result(record: Json, old: ToolResult, text: str) -> None:
    if record.get("role") in ("tool", "function"):
        record["content"] = text
        return
    content = record.get("content")
    for part in content if isinstance(content, list) else []:
        if text_of(json_of(part).get("tool_use_id")) == old.call_id:
            part["content"] = text
