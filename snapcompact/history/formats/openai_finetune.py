"""Fine-tune data: many conversations of ``messages``, as JSON Lines or one array.

OpenAI's own, and LLaMA-Factory's, whose content blocks are ``{type, value}``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from snapcompact.history.blobs import blob_url
from snapcompact.history.blocks import Json, json_of, messages, text_of
from snapcompact.history.conversations import chosen
from snapcompact.history.formats import Conversation
from snapcompact.history.formats.openai_chat import message
from snapcompact.history.formats.sharegpt import calls, entries, pictures
from snapcompact.history.jsontext import json_text
from snapcompact.history.model import (
    Block,
    Message,
    Meta,
    Other,
    Role,
    Text,
    Thinking,
    ToolResult,
    wtf8,
)
from snapcompact.history.report import Report

if TYPE_CHECKING:
    from collections.abc import Iterator

    from snapcompact.history.formats import Head, Options
    from snapcompact.history.source import Source

_ROLES = {"system": Role.SYSTEM, "user": Role.USER, "assistant": Role.ASSISTANT}


def sniff(head: Head) -> bool:
    """Lines, or an array, of objects with ``messages`` and no ``model``."""
    whole = head.document
    found = whole if isinstance(whole, list) else [whole, *head.records]
    return any(_is_example(item) for item in found)


def _is_example(item: Any) -> bool:
    value = json_of(item)
    turns = value.get("messages")
    return (
        "model" not in value
        and isinstance(turns, list)
        and any("role" in json_of(turn) for turn in turns)
    )


def read(source: Source, options: Options, report: Report) -> Iterator[Message]:
    """Every selected conversation, in file order."""
    for found in chosen(_listed(source, report), options, report):
        yield from found.note
        value, place = found.body
        yield from _example(value, place, report)


def conversations(source: Source) -> tuple[Conversation, ...]:
    """All of them, called by their number, from 1."""
    return tuple(about for about, _ in _listed(source, Report()))


def _listed(source: Source, report: Report) -> Iterator[tuple[Conversation, tuple[Json, Meta]]]:
    for number, (value, place) in enumerate(entries(source, report), 1):
        yield Conversation(str(number)), (value, place)


def _example(value: Json, place: Meta, report: Report) -> Iterator[Message]:
    if value.get("tools"):
        report.skipped["tool definitions"] += 1
    images = value.get("images")
    media = {"<image>": iter(images if isinstance(images, list) else [])}
    turns = value.get("messages")
    for turn in turns if isinstance(turns, list) else []:
        item = json_of(turn)
        content = item.get("content")
        if isinstance(content, list) and any("value" in json_of(part) for part in content):
            yield from _valued(item, content, place)
            continue
        for said in message(item or {"content": turn}, place, report):
            shown = pictures(said.text, media) if said.role is Role.USER else []
            yield Message(said.role, (*said.blocks, *shown), said.label, said.meta)


def _valued(item: Json, content: list[Any], place: Meta) -> Iterator[Message]:
    """A turn whose blocks are ``{type, value}``; results pair with the calls before them."""
    found = [block for part in content for block in _block(json_of(part), part)]
    said = text_of(item.get("role"))
    if said == "tool":
        parts = tuple(block for block in found if isinstance(block, Text | Other))
        yield Message(Role.TOOL, (ToolResult("", parts),), "", place)
        return
    role = _ROLES.get(said, Role.NOTE)
    yield from messages(role, found, (said or "no role") if role is Role.NOTE else "", place)


def _block(part: Json, whole: Any) -> list[Block]:
    kind, value = part.get("type"), part.get("value")
    match kind, value:
        case "text", str():
            return [Text(wtf8(value))] if value else []
        case "reasoning", str():
            return [Thinking(wtf8(value))]
        case "tool_call", str():
            return calls(value)
        case "image_url", str():
            return [blob_url("image", value)]
    return [Other(text_of(kind) or "block", json_text(whole))]
