"""Gemini API ``contents``: a request, a bare list of contents, or the CLI's ``/chat save`` file.

Every key is taken in camelCase and in snake_case: real bodies mix both.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from snapcompact.history.blobs import blob_base64, missing
from snapcompact.history.blocks import (
    Json,
    call_args,
    json_of,
    messages,
    name_of,
    result_content,
    text_of,
)
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
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    wtf8,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from snapcompact.history.formats import Head, Options
    from snapcompact.history.report import Report
    from snapcompact.history.source import Source

_ROLES = {"model": Role.ASSISTANT, "user": Role.USER, "function": Role.USER, "system": Role.SYSTEM}
_ANSWERS = ("output", "result", "return_value", "content")
"""Keys under which a function's answer was seen when it is text."""


def sniff(head: Head) -> bool:
    """A request with ``contents``, or messages with ``parts`` that have no type."""
    whole = head.document
    if isinstance(whole, dict):
        if isinstance(whole.get("contents"), list):
            return True
        whole = whole.get("history")
    return isinstance(whole, list) and any(_is_content(item) for item in whole)


def _is_content(item: Any) -> bool:
    parts = json_of(item).get("parts")
    return (
        isinstance(parts, list)
        and bool(parts)
        and "id" not in json_of(item)
        and all(isinstance(part, dict) and "type" not in part for part in parts)
    )


def read(source: Source, options: Options, report: Report) -> Iterator[Message]:
    """The system instruction, then the contents in their order."""
    whole = document(source, report)
    value = whole.value if whole is not None else None
    body = json_of(value)
    report.learn("model", body.get("model"))
    if body.get("tools"):
        report.skipped["tool definitions"] += 1
    system = _key(body, "systemInstruction")
    yield from messages(Role.SYSTEM, part_blocks(_parts(system)), "", Meta())
    listed = body.get("contents", body.get("history")) if body else value
    for item in listed if isinstance(listed, list) else [listed]:
        if isinstance(item, dict):
            yield from _content(item, report)
        elif item is not None:
            yield from messages(Role.USER, part_blocks([item]), "", Meta())


def _content(item: Json, report: Report) -> Iterator[Message]:
    said = item.get("role")
    found = part_blocks(_parts(item))
    if said is None:  # the API takes a content without a role for the user's
        role = Role.ASSISTANT if any(isinstance(b, ToolCall) for b in found) else Role.USER
    else:
        role = _ROLES.get(said, Role.NOTE) if isinstance(said, str) else Role.NOTE
    if not found:
        report.skipped["empty message"] += 1
    yield from messages(role, found, name_of(said) if role is Role.NOTE else "", Meta())


def _parts(content: Any) -> list[Any]:
    if isinstance(content, str):
        return [content]
    parts = json_of(content).get("parts")
    return parts if isinstance(parts, list) else [] if parts is None else [parts]


def part_blocks(parts: list[Any]) -> list[Block]:
    """Blocks of a content's parts; what no rule knows is kept whole."""
    return [block for part in parts for block in _part(part)]


def _part(part: Any) -> list[Block]:
    if isinstance(part, str):
        return [Text(wtf8(part))] if part else []
    if not isinstance(part, dict):
        return [Other("part", json_text(part))]
    text = part.get("text")
    if isinstance(text, str):
        signature = text_of(_key(part, "thoughtSignature"))
        if part.get("thought") is True:
            return [Thinking(wtf8(text), 0 if text else len(signature))]
        return [Text(wtf8(text))] if text else []
    if call := json_of(_key(part, "functionCall")):
        name = name_of(call.get("name"))
        return [ToolCall(name_of(call.get("id")) or name, name, call_args(call.get("args")))]
    if answer := json_of(_key(part, "functionResponse")):
        return [_answer(answer)]
    picture = _media(part)
    return [picture or Other("part", json_text(part))]


def _answer(answer: Json) -> ToolResult:
    """A function's answer; without an id it pairs by the name, as the calls do."""
    response = answer.get("response")
    media = [_media(json_of(part)) for part in _parts(answer)]
    call_id = name_of(answer.get("id")) or name_of(answer.get("name"))
    content = (*_answer_text(response), *(item for item in media if item is not None))
    return ToolResult(call_id, content, bool(json_of(response).get("error")))


def _answer_text(response: Any) -> tuple[Content, ...]:
    if response is None or response == {}:
        return ()
    if isinstance(response, dict):
        values = list(response.values())
        words = response.get(next((key for key in _ANSWERS if key in response), ""))
        if len(values) == 1 and isinstance(words if words is not None else values[0], str):
            response = values[0]
    return result_content(response)


def _media(part: Json) -> Blob | None:
    inline, linked = json_of(_key(part, "inlineData")), json_of(_key(part, "fileData"))
    mime = text_of(_key(inline or linked, "mimeType"))
    kind = "image" if mime.startswith("image/") else "file"
    name = text_of(_key(inline or linked, "displayName"))
    if isinstance(inline.get("data"), str):
        return blob_base64(kind, mime, inline["data"], name)
    if uri := text_of(_key(linked, "fileUri")):
        return missing(kind, uri, mime, name)
    return None


def _key(item: Any, camel: str) -> Any:
    """The value under `camel` or its snake_case twin."""
    found = json_of(item)
    if camel in found:
        return found[camel]
    return found.get("".join(f"_{char.lower()}" if char.isupper() else char for char in camel))
