"""ChatGPT's ``conversations.json``: trees of messages, one or many.

The active path ends at ``current_node``. Calls have no ids: a call is an assistant's message to a
recipient other than ``all``, and its results are the tool's messages right below it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from snapcompact.history.blobs import blob, missing
from snapcompact.history.blocks import Json, json_of, messages, name_of, text_of
from snapcompact.history.conversations import read_all
from snapcompact.history.formats import Conversation
from snapcompact.history.formats.sharegpt import entries
from snapcompact.history.jsontext import json_text
from snapcompact.history.model import (
    Blob,
    Block,
    Content,
    Message,
    Meta,
    Other,
    Role,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    wtf8,
)
from snapcompact.history.report import Report
from snapcompact.history.times import time_text
from snapcompact.history.tree import leaves, left, mark, segments

if TYPE_CHECKING:
    from snapcompact.history.formats import Head, Options
    from snapcompact.history.source import Source

Asset = Callable[[str], bytes | None]
"""Bytes of the file with an id, where the export came with its files."""

_ROLES = {"system": Role.SYSTEM, "user": Role.USER, "assistant": Role.ASSISTANT, "tool": Role.TOOL}
_THINKING = ("thoughts", "reasoning_recap")
_CONTEXT = ("user_editable_context", "model_editable_context")


def sniff(head: Head) -> bool:
    """Objects with a dict ``mapping``: one, an array, or a list ``conversations``."""
    whole = head.document
    if isinstance(whole, dict) and isinstance(whole.get("conversations"), list):
        whole = whole["conversations"]
    found = whole if isinstance(whole, list) else [whole, *head.records]
    return any(isinstance(json_of(item).get("mapping"), dict) for item in found)


def read(source: Source, options: Options, report: Report) -> Iterator[Message]:
    """Every selected conversation, in file order; one alone has no note before it."""
    listed = [about_one(value) for value in _values(source, report)]
    return read_all(listed, lambda value: conversation(value, options, report), options, report)


def conversations(source: Source) -> tuple[Conversation, ...]:
    """All of them, in file order."""
    return tuple(about_one(value)[0] for value in _values(source, Report()))


def _values(source: Source, report: Report) -> list[Json]:
    return [inner for value, _ in entries(source, report) for inner in unwrapped(value)]


def unwrapped(value: Any) -> list[Json]:
    """The conversations of a whole file's `value` or of one element of it."""
    if isinstance(value, list):
        return [item for item in value if isinstance(item, dict)]
    inner = json_of(value).get("conversations")
    if isinstance(inner, list):
        return unwrapped(inner)
    return [value] if isinstance(value, dict) else []


def about_one(value: Json) -> tuple[Conversation, Json]:
    """The id, title and time of the conversation `value`, and itself."""
    found = name_of(value.get("conversation_id") or value.get("id"))
    return Conversation(
        found, text_of(value.get("title")), time_text(value.get("create_time"))
    ), value


def conversation(
    value: Json, options: Options, report: Report, asset: Asset = lambda _: None
) -> Iterator[Message]:
    """The messages of one conversation, on the branches that `options` asks for."""
    nodes = {key: json_of(node) for key, node in json_of(value.get("mapping")).items()}
    parents = {key: name_of(node.get("parent")) for key, node in nodes.items()}
    active = name_of(value.get("current_node"))
    if active not in parents:
        active = _newest_leaf(nodes, parents)
    report.branches += left(parents, active)
    report.learn("model", value.get("default_model_slug"))
    for segment in segments(parents, active, options.branch):
        if segment.leaf:
            yield mark(segment)
        call = ""
        for key in segment.nodes:
            said = json_of(nodes[key].get("message"))
            if not said:
                continue
            for message in _messages(key, said, call, report, asset):
                yield message
                call = _open_call(message, call)


def _newest_leaf(nodes: dict[str, Json], parents: dict[str, str]) -> str:
    """The leaf with the latest time; of equal ones, the last in the file."""
    newest, best = "", float("-inf")
    for leaf in leaves(parents):
        time = json_of(nodes[leaf].get("message")).get("create_time")
        stamp = float(time) if isinstance(time, int | float) else float("-inf")
        if stamp >= best:
            newest, best = leaf, stamp
    return newest


def _open_call(message: Message, call: str) -> str:
    """Id of the call that a tool's message after `message` answers."""
    for block in message.blocks:
        if isinstance(block, ToolCall):
            return block.id
    return call if message.role is Role.TOOL or message.label == "hidden" else ""


def _messages(key: str, said: Json, call: str, report: Report, asset: Asset) -> Iterator[Message]:
    author, content = json_of(said.get("author")), json_of(said.get("content"))
    role = _ROLES.get(text_of(author.get("role")), Role.NOTE)
    kind, meta = text_of(content.get("content_type")), _meta(key, said)
    recipient = text_of(said.get("recipient")) or "all"
    label = _label(said, kind, role)
    if kind in _THINKING:
        words = _words(content)
        found: list[Block] = [Thinking(words)] if words else []
    elif role is Role.ASSISTANT and recipient != "all":
        found = [ToolCall(meta.id, recipient, _words(content))]
    else:
        found = _blocks(content, kind, asset)
    found += _attachments(said, found, asset)
    if not found:
        report.skipped["empty message"] += 1
    elif role is Role.TOOL:
        parts = tuple(part for part in found if isinstance(part, Text | Blob | Other))
        parts += tuple(Text(part.data) for part in found if isinstance(part, Thinking))
        result = ToolResult(call, parts, kind == "system_error")
        yield Message(role, (result,), label, meta)
    else:
        yield from messages(role, found, label, meta)


def _label(said: Json, kind: str, role: Role) -> str:
    details = json_of(said.get("metadata"))
    if kind in _CONTEXT or details.get("is_user_system_message") is True:
        return "context"
    if details.get("is_visually_hidden_from_conversation") is True:
        return "hidden"
    if role is Role.NOTE:
        return name_of(json_of(said.get("author")).get("role")) or "no role"
    return text_of(json_of(said.get("author")).get("name")) if role is Role.TOOL else ""


def _meta(key: str, said: Json) -> Meta:
    details = json_of(said.get("metadata"))
    finish = json_of(details.get("finish_details"))
    return Meta(
        id=text_of(said.get("id")) or key,
        time=time_text(said.get("create_time")),
        model=text_of(details.get("model_slug")),
        stop=text_of(finish.get("type")),
    )


def _words(content: Json) -> bytes:
    """The words of a content of any type, as one text."""
    return b"\n".join(part.data for part in _texts(content))


def _texts(content: Json) -> list[Text]:
    parts = content.get("parts")
    if isinstance(parts, list) and parts:
        found = [part if isinstance(part, str) else _object_text(part) for part in parts]
    else:
        found = [_object_text(content)]
    return [Text(wtf8(text)) for text in found if text]


def _object_text(part: Any) -> str:
    item = json_of(part)
    thoughts = item.get("thoughts")
    if isinstance(thoughts, list):
        pairs = [(json_of(t).get("summary"), json_of(t).get("content")) for t in thoughts]
        return "\n\n".join("\n".join(filter(None, map(text_of, pair))) for pair in pairs)
    context = [text_of(item.get(key)) for key in ("user_profile", "user_instructions")]
    if any(context):
        return "\n\n".join(filter(None, context))
    keys = ("text", "result", "content", "output_str", "model_set_context")
    return next((text for key in keys if (text := text_of(item.get(key)))), "")


def _blocks(content: Json, kind: str, asset: Asset) -> list[Block]:
    parts = content.get("parts")
    if not isinstance(parts, list) or not parts:
        found: list[Block] = list(_texts(content))
        if not found and set(content) - {"content_type", "parts", "language", "text"}:
            found.append(Other(kind or "content", json_text(content)))
        return found
    return [block for part in parts for block in _part(part, asset)]


def _part(part: Any, asset: Asset) -> list[Content]:
    if isinstance(part, str):
        return [Text(wtf8(part))] if part else []
    item = json_of(part)
    pointer = item.get("asset_pointer")
    if isinstance(pointer, str):
        kind = "image" if "image" in text_of(item.get("content_type")) else "file"
        return [_pointed(kind, pointer, item, asset)]
    text = _object_text(item)
    if text:
        return [Text(wtf8(text))]
    return [Other(text_of(item.get("content_type")) or "part", json_text(part))]


def _pointed(kind: str, pointer: str, item: Json, asset: Asset) -> Blob:
    data = asset(pointer.rpartition("/")[2])
    if data is not None:
        return blob(kind, "", data)
    return Blob(
        kind=kind,
        width_px=_count(item.get("width")),
        height_px=_count(item.get("height")),
        size=_count(item.get("size_bytes")),
        ref=wtf8(pointer).decode("utf-8", "replace"),
    )


def _attachments(said: Json, found: list[Block], asset: Asset) -> list[Block]:
    """Files that came with the message, but for those that a part points to."""
    pointed = {block.ref.rpartition("/")[2] for block in found if isinstance(block, Blob)}
    listed = json_of(said.get("metadata")).get("attachments")
    files: list[Block] = []
    for item in listed if isinstance(listed, list) else []:
        file = json_of(item)
        file_id = text_of(file.get("file_id")) or text_of(file.get("id"))
        mime, name = text_of(file.get("mime_type")), text_of(file.get("name"))
        if file_id in pointed or not (file_id or name):
            continue
        kind = "image" if mime.startswith("image/") else "file"
        data = asset(file_id) if file_id else None
        if data is None:
            files.append(missing(kind, f"file {file_id}, not in the export", mime, name))
        elif not any(isinstance(b, Blob) and b.data == data for b in found):
            files.append(blob(kind, mime, data, name))
    return files


def _count(value: Any) -> int:
    return value if type(value) is int and 0 <= value < 1 << 53 else 0
