"""Vercel AI SDK: UI messages of version 4 and of version 5 and later, and model messages.

In version 4 ``content`` is only the last step and ``toolInvocations`` repeats the parts, so that
both are read only where there are no parts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from snapcompact.history.blobs import blob, blob_base64, blob_url
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
from snapcompact.history.blocks import result_content as plain_content
from snapcompact.history.documents import document
from snapcompact.history.jsontext import json_text
from snapcompact.history.model import (
    Blob,
    Block,
    Content,
    Message,
    Meta,
    Other,
    Role,
    Thinking,
    ToolCall,
    ToolResult,
    wtf8,
)
from snapcompact.history.times import time_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from snapcompact.history.formats import Head, Options
    from snapcompact.history.report import Report
    from snapcompact.history.source import Source

_ROLES = {
    "system": Role.SYSTEM,
    "user": Role.USER,
    "assistant": Role.ASSISTANT,
    "tool": Role.USER,  # its blocks are results, which become messages of role TOOL
    "data": Role.NOTE,
}
_SILENT = {"step-start"}
_ERRORS = {"error-text", "error-json", "execution-denied"}


def sniff(head: Head) -> bool:
    """Messages with typed ``parts``, with ``toolInvocations``, or with ``tool-call`` blocks."""
    whole = head.document
    listed = whole if isinstance(whole, list) else json_of(whole).get("messages")
    return isinstance(listed, list) and any(_is_message(json_of(item)) for item in listed)


def _is_message(item: Json) -> bool:
    parts, content = item.get("parts"), item.get("content")
    if "role" not in item:
        return False
    if "toolInvocations" in item:
        return True
    if isinstance(parts, list) and any("type" in json_of(part) for part in parts):
        return True
    return isinstance(content, list) and any(
        json_of(part).get("type") in ("tool-call", "tool-result") for part in content
    )


def read(source: Source, options: Options, report: Report) -> Iterator[Message]:
    """The messages in their order."""
    whole = document(source, report)
    value = whole.value if whole is not None else None
    report.learn("id", json_of(value).get("id"))
    listed = value if isinstance(value, list) else json_of(value).get("messages")
    yield from messages(Role.SYSTEM, blocks(json_of(value).get("system")), "", Meta())
    for item in listed if isinstance(listed, list) else []:
        yield from message(json_of(item) or {"content": item}, Meta(), report)


def message(item: Json, place: Meta, report: Report) -> Iterator[Message]:
    """Our messages for one of theirs, UI or model; one that says nothing is counted as skipped."""
    said = item.get("role")
    role = _ROLES.get(said, Role.NOTE) if isinstance(said, str) else Role.NOTE
    found = _blocks(item, report)
    if not found:
        report.skipped["empty message"] += 1
    created = item.get("createdAt", json_of(item.get("metadata")).get("createdAt"))
    meta = Meta(
        id=text_of(item.get("id")) or place.id,
        time=time_text(created) or place.time,
        model=text_of(json_of(item.get("metadata")).get("model")),
        line=place.line,
        offset=place.offset,
    )
    label = (name_of(said) or "no role") if role is Role.NOTE else ""
    yield from messages(role, found, label, meta)


def _blocks(item: Json, report: Report) -> list[Block]:
    parts = item.get("parts")
    if isinstance(parts, list):
        if item.get("toolInvocations"):
            report.duplicates["tool invocation beside its part"] += len(
                list_of(item["toolInvocations"])
            )
        return [block for part in parts for block in _part(part, report)]
    content = item.get("content")
    if isinstance(content, list):
        return [block for part in content for block in _part(part, report)]
    found: list[Block] = []
    if isinstance(item.get("reasoning"), str) and item["reasoning"]:
        found.append(Thinking(wtf8(item["reasoning"])))
    for invocation in list_of(item.get("toolInvocations")):
        found += _invocation(json_of(invocation))
    return found + blocks(content)


def _part(part: Any, report: Report) -> list[Block]:
    item = json_of(part)
    kind = text_of(item.get("type"))
    if kind in _SILENT:
        report.skipped[kind] += 1
        return []
    match kind:
        case "reasoning" | "redacted-reasoning":
            return [_reasoning(item)]
        case "tool-invocation":
            return _invocation(json_of(item.get("toolInvocation")))
        case "tool-call":
            args = call_args(_either(item, "input", "args"))
            return [ToolCall(_id(item), name_of(item.get("toolName")), args)]
        case "tool-result":
            return [_result(item)]
        case "file" | "image" | "reasoning-file":
            return [_media(item) or Other(kind, json_text(item))]
    if kind == "dynamic-tool" or (kind.startswith("tool-") and "state" in item):
        return _ui_tool(item, kind)
    return blocks(part)


def _reasoning(item: Json) -> Thinking:
    text = wtf8(text_of(item.get("text")) or text_of(item.get("reasoning")))
    sealed = [text_of(json_of(part).get("data")) for part in list_of(item.get("details"))]
    sealed.append(text_of(item.get("data")))
    return Thinking(text, 0 if text else sum(map(len, sealed)))


def _id(item: Json) -> str:
    return name_of(item.get("toolCallId"))


def _invocation(item: Json) -> list[Block]:
    """Version 4: call and result in one."""
    found: list[Block] = [
        ToolCall(_id(item), name_of(item.get("toolName")), call_args(item.get("args")))
    ]
    if item.get("state") == "result" or "result" in item:
        found.append(ToolResult(_id(item), plain_content(item.get("result"))))
    return found


def _ui_tool(item: Json, kind: str) -> list[Block]:
    """Version 5 and later: call and result in one; the tool's name is in the part's type."""
    name = name_of(item.get("toolName")) or kind.removeprefix("tool-")
    args = _either(item, "input", "rawInput")
    found: list[Block] = [ToolCall(_id(item), name, call_args(args))]
    match item.get("state"):
        case "output-available":
            found.append(ToolResult(_id(item), plain_content(item.get("output"))))
        case "output-error":
            found.append(ToolResult(_id(item), plain_content(item.get("errorText")), is_error=True))
        case "output-denied":
            reason = json_of(item.get("approval")).get("reason") or "denied by the user"
            found.append(ToolResult(_id(item), plain_content(reason), is_error=True))
    return found


def _result(item: Json) -> ToolResult:
    """A model message's result: version 5's typed ``output``, version 4's any JSON."""
    if "output" not in item:
        rich = item.get("experimental_content")
        found = _rich(rich) if isinstance(rich, list) else plain_content(item.get("result"))
        return ToolResult(_id(item), found, item.get("isError") is True)
    output = json_of(item["output"])
    kind, value = text_of(output.get("type")), output.get("value")
    if kind == "content" and isinstance(value, list):
        return ToolResult(_id(item), _rich(value))
    if kind == "execution-denied":
        value = output.get("reason") or "execution denied"
    found = plain_content(value if kind else item["output"])
    return ToolResult(_id(item), found, kind in _ERRORS)


def _rich(parts: list[Any]) -> tuple[Content, ...]:
    found: list[Content] = []
    for part in parts:
        item = json_of(part)
        if text_of(item.get("type")) == "text":
            found += plain_content(item.get("text"))
        elif picture := _media(item):
            found.append(picture)
        else:
            found.append(Other(text_of(item.get("type")) or "part", json_text(part)))
    return tuple(found)


def _media(item: Json) -> Blob | None:
    """A file or an image, however its bytes are spelled; None where nothing says where it is."""
    mime = text_of(_either(item, "mediaType", "mimeType"))
    kind = "image" if item.get("type") == "image" or mime.startswith("image/") else "file"
    name = text_of(_either(item, "filename", "name"))
    place = next((item[key] for key in ("url", "data", "image", "file") if key in item), None)
    raw = _raw(place)
    if raw is not None:
        return blob(kind, mime, raw, name)
    if not isinstance(place, str) or not place:
        return None
    if place.startswith(("data:", "http:", "https:", "file:", "blob:")):
        return blob_url(kind, place, mime, name)
    return blob_base64(kind, mime, place, name)


def _raw(value: Any) -> bytes | None:
    """Bytes as JavaScript puts them in JSON: ``{"0":137,…}``, ``{"type":"Buffer","data":[…]}``."""
    item = json_of(value)
    listed = item.get("data") if item.get("type") == "Buffer" else None
    if item and listed is None and all(key == str(n) for n, key in enumerate(item)):
        listed = list(item.values())
    if not isinstance(listed, list):
        return None
    if not all(type(byte) is int and 0 <= byte <= 255 for byte in listed):
        return None
    return bytes(listed)


def _either(item: Json, new: str, old: str) -> Any:
    return item[new] if new in item else item.get(old)
