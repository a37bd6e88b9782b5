"""Claude.ai's ``conversations.json``, and files of one conversation: ``chat_messages``.

A message's ``text`` is empty or repeats its ``content``, so it is read only where content has no
words. Calls have no ids as a rule; results follow them inside the assistant's message.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from snapcompact.history.blobs import missing
from snapcompact.history.blocks import Json, blocks, json_of, list_of, messages, name_of, text_of
from snapcompact.history.conversations import read_all
from snapcompact.history.formats import Conversation
from snapcompact.history.formats.chatgpt_export import unwrapped
from snapcompact.history.formats.sharegpt import entries
from snapcompact.history.jsontext import json_text
from snapcompact.history.model import Block, Message, Meta, Other, Role, Text, wtf8
from snapcompact.history.report import Report
from snapcompact.history.times import time_text
from snapcompact.history.tree import left, mark, segments

if TYPE_CHECKING:
    from snapcompact.history.formats import Head, Options
    from snapcompact.history.source import Source

_ROLES = {"human": Role.USER, "user": Role.USER, "assistant": Role.ASSISTANT}


def sniff(head: Head) -> bool:
    """Objects with a list ``chat_messages``: one, or an array."""
    whole = head.document
    found = whole if isinstance(whole, list) else [whole, *head.records]
    return any(isinstance(json_of(item).get("chat_messages"), list) for item in found)


def read(source: Source, options: Options, report: Report) -> Iterator[Message]:
    """Every selected conversation, in file order; one alone has no note before it."""
    listed = [about_one(value) for value in _values(source, report)]
    return read_all(listed, lambda value: conversation(value, options, report), options, report)


def conversations(source: Source) -> tuple[Conversation, ...]:
    """All of them, in file order."""
    return tuple(about_one(value)[0] for value in _values(source, Report()))


def _values(source: Source, report: Report) -> list[Json]:
    return [inner for value, _ in entries(source, report) for inner in unwrapped(value)]


def about_one(value: Json) -> tuple[Conversation, Json]:
    """The id, title and time of the conversation `value`, and itself."""
    title, time = text_of(value.get("name")), time_text(value.get("created_at"))
    return Conversation(name_of(value.get("uuid") or value.get("id")), title, time), value


def conversation(value: Json, options: Options, report: Report) -> Iterator[Message]:
    """The messages of one conversation, on the branches that `options` asks for."""
    said = value.get("chat_messages")
    listed = said if isinstance(said, list) else []
    report.learn("model", value.get("model"))
    model = text_of(value.get("model"))
    nodes = {name_of(json_of(item).get("uuid")): item for item in listed}
    parents = {
        key: name_of(json_of(item).get("parent_message_uuid")) for key, item in nodes.items()
    }
    active = name_of(value.get("current_leaf_message_uuid"))
    if len(nodes) < len(listed) or not any(parents[key] in nodes for key in parents):
        for item in listed:  # the bulk export has no parents: the file's order is the order
            yield from _message(item, model, report)
        return
    if active not in nodes:
        active = next(reversed(nodes))
    report.branches += left(parents, active)
    for segment in segments(parents, active, options.branch):
        if segment.leaf:
            yield mark(segment)
        for key in segment.nodes:
            yield from _message(nodes[key], model, report)


def _message(value: Any, model: str, report: Report) -> Iterator[Message]:
    item = json_of(value)
    if not item:
        yield Message(Role.NOTE, (Other("message", json_text(value)),), "no role")
        return
    sender = item.get("sender")
    role = _ROLES.get(sender, Role.NOTE) if isinstance(sender, str) else Role.NOTE
    meta = Meta(
        id=name_of(item.get("uuid")),
        time=time_text(item.get("created_at")),
        model=model if role is Role.ASSISTANT else "",
        stop=text_of(item.get("stop_reason")),
    )
    for attachment in list_of(item.get("attachments")):
        yield from _attachment(json_of(attachment), role, meta)
    found = blocks(item.get("content")) or blocks(text_of(item.get("text")))
    found += _files(item)
    if not found:
        report.skipped["empty message"] += 1
    label = (name_of(sender) or "no role") if role is Role.NOTE else ""
    yield from messages(role, found, label, meta)


def _attachment(item: Json, role: Role, meta: Meta) -> Iterator[Message]:
    """A pasted or attached text: its words were part of the prompt."""
    text, name = text_of(item.get("extracted_content")), text_of(item.get("file_name"))
    label = f"attachment {name}" if name else "attachment"
    if text:
        yield Message(role, (Text(wtf8(text)),), label, meta)
    elif name:
        kind = text_of(item.get("file_type"))
        yield Message(role, (missing("file", "not in the export", kind, name),), label, meta)


def _files(item: Json) -> list[Block]:
    """Uploaded files: the export has their names alone."""
    found: list[Block] = []
    for file in list_of(item.get("files")):
        name = text_of(json_of(file).get("file_name"))
        kind = "image" if json_of(file).get("file_kind") == "image" else "file"
        place = text_of(json_of(file).get("file_uuid"))
        found.append(missing(kind, f"file {place}, not in the export".replace("  ", " "), "", name))
    return found
