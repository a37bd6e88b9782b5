"""ShareGPT data: many conversations of ``{from, value}`` turns, as one array or as JSON Lines.

No turn has an id: a call pairs with the observation after it. The last turn of preference data
is given twice, labelled ``chosen`` and ``rejected``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from snapcompact.history.blobs import missing
from snapcompact.history.blocks import (
    Json,
    blocks,
    call_args,
    json_of,
    list_of,
    messages,
    name_of,
    text_of,
)
from snapcompact.history.conversations import chosen
from snapcompact.history.documents import document
from snapcompact.history.formats import Conversation
from snapcompact.history.jsontext import json_text
from snapcompact.history.model import (
    Block,
    Message,
    Meta,
    Other,
    Role,
    Text,
    ToolCall,
    ToolResult,
    wtf8,
)
from snapcompact.history.records import records
from snapcompact.history.report import Report
from snapcompact.history.salvage import salvage

if TYPE_CHECKING:
    from collections.abc import Iterator

    from snapcompact.history.formats import Head, Options
    from snapcompact.history.source import Source

_ROLES = {
    "system": Role.SYSTEM,
    "human": Role.USER,
    "user": Role.USER,
    "gpt": Role.ASSISTANT,
    "assistant": Role.ASSISTANT,
    "function_call": Role.ASSISTANT,
    "observation": Role.TOOL,
    "tool": Role.TOOL,
}
_MEDIA = {"<image>": "images", "<video>": "videos", "<audio>": "audios"}
"""Placeholders in the text, and the list of paths that belongs to each."""


def sniff(head: Head) -> bool:
    """Objects with a list ``conversations`` of ``from`` and ``value``."""
    whole = head.document
    found = whole if isinstance(whole, list) else [whole, *head.records]
    return any(_is_conversation(item) for item in found)


def _is_conversation(item: Any) -> bool:
    turns = json_of(item).get("conversations")
    return isinstance(turns, list) and any("from" in json_of(turn) for turn in turns)


def read(source: Source, options: Options, report: Report) -> Iterator[Message]:
    """Every selected conversation, in file order."""
    for found in chosen(_listed(source, report), options, report):
        yield from found.note
        value, place = found.body
        yield from _conversation(value, place, report)


def conversations(source: Source) -> tuple[Conversation, ...]:
    """All of them; one without an id is called by its number, from 1."""
    return tuple(about for about, _ in _listed(source, Report()))


def _listed(source: Source, report: Report) -> Iterator[tuple[Conversation, tuple[Json, Meta]]]:
    for number, (value, place) in enumerate(entries(source, report), 1):
        yield Conversation(name_of(value.get("id")) or str(number)), (value, place)


def entries(source: Source, report: Report) -> Iterator[tuple[Json, Meta]]:
    """The objects of a data set, whether one array, one object or JSON Lines."""
    whole = document(source, report)
    if whole is None:
        for record, line, offset in records(source, report):
            yield record, Meta(line=line, offset=offset)
        return
    for item in whole.value if isinstance(whole.value, list) else [whole.value]:
        if isinstance(item, dict):
            yield item, Meta()
        else:
            report.damage.add("not-an-object", 0)


def _conversation(value: Json, place: Meta, report: Report) -> Iterator[Message]:
    if value.get("tools"):
        report.skipped["tool definitions"] += 1
    yield from messages(Role.SYSTEM, blocks(value.get("system")), "", place)
    media = {kind: iter(list_of(value.get(key))) for kind, key in _MEDIA.items()}
    turns = [(turn, "") for turn in list_of(value.get("conversations"))]
    turns += [(value[key], key) for key in ("chosen", "rejected") if key in value]
    for turn, label in turns:
        yield from _turn(json_of(turn), label, media, place)


def _turn(
    turn: Json, label: str, media: dict[str, Iterator[Any]], place: Meta
) -> Iterator[Message]:
    said, value = turn.get("from", turn.get("role")), turn.get("value", turn.get("content"))
    role = _ROLES.get(said, Role.NOTE) if isinstance(said, str) else Role.NOTE
    text = value if isinstance(value, str) else call_args(value).decode("utf-8", "replace")
    if role is Role.NOTE:
        label = label or name_of(said) or "no role"
    if role is Role.TOOL:
        content = (Text(wtf8(text)),) if text else ()
        yield Message(role, (ToolResult("", content),), label, place)
    elif said == "function_call":
        yield Message(role, tuple(calls(text)), label, place)
    else:
        found: list[Block] = [Text(wtf8(text))] if text else []
        yield from messages(role, found + pictures(text, media), label, place)


def calls(text: str) -> list[Block]:
    """The call, or calls, that `text` describes as JSON; the text as it is where it does not."""
    found = salvage(wtf8(text)).values
    listed = found[0] if len(found) == 1 and isinstance(found[0], list) else found
    if not listed or not all("name" in json_of(call) for call in listed):
        return [Other("function_call", wtf8(text))]
    return [
        ToolCall(
            name_of(call.get("id")),
            name_of(call["name"]),
            call_args(call.get("arguments", call.get("parameters"))),
        )
        for call in listed
    ]


def pictures(text: str, media: dict[str, Iterator[Any]]) -> list[Block]:
    """A blob without bytes for each placeholder in `text`, with the next path of its list."""
    found: list[Block] = []
    for placeholder, paths in media.items():
        kind = "image" if placeholder == "<image>" else "file"
        for _ in range(text.count(placeholder)):
            path = next(paths, None)
            if path is None:
                break
            found.append(missing(kind, text_of(path) or json_text(path).decode("utf-8", "replace")))
    return found
