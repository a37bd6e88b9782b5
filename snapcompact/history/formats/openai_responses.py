"""OpenAI Responses: a request with ``input``, a response with ``output``, or a bare list of items.

Items are flat: the reasoning, words and calls of one turn are messages of their own, in order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from snapcompact.history.blobs import blob_base64, blob_url
from snapcompact.history.blocks import (
    Json,
    blocks,
    call_args,
    json_of,
    messages,
    name_of,
    result_content,
    text_of,
)
from snapcompact.history.documents import document
from snapcompact.history.formats.openai_chat import message as chat_message
from snapcompact.history.jsontext import json_text
from snapcompact.history.model import (
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
from snapcompact.history.usage import usage_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from snapcompact.history.formats import Head, Options
    from snapcompact.history.report import Report
    from snapcompact.history.source import Source

_OUTPUTS = ("outputs", "results", "output", "result")
"""Where a server tool's item keeps what came of its call."""


def sniff(head: Head) -> bool:
    """A request with ``input`` and ``model``, a response, or a list with items of its types."""
    whole = head.document
    if isinstance(whole, dict):
        if whole.get("object") == "response" and isinstance(whole.get("output"), list):
            return True
        return "model" in whole and isinstance(whole.get("input"), list | str)
    return isinstance(whole, list) and any(_is_item(item) for item in whole)


def _is_item(item: Any) -> bool:
    if not isinstance(item, dict):
        return False
    kind = item.get("type")
    if not isinstance(kind, str):
        return False
    if kind == "message":  # Anthropic's answers are of this type too, with blocks of other types
        return any(
            text_of(json_of(part).get("type")).startswith(("input_", "output_"))
            for part in _list(item.get("content"))
        )
    return kind == "reasoning" or kind.endswith(("_call", "_call_output"))


def read(source: Source, options: Options, report: Report) -> Iterator[Message]:
    """The instructions, then the items in their order."""
    whole = document(source, report)
    value = whole.value if whole is not None else None
    body = json_of(value)
    report.learn("model", body.get("model"))
    report.learn("id", body.get("id"))
    if body.get("previous_response_id") or body.get("conversation"):
        report.notes.append("only the end of a conversation: the earlier part is on the server")
    if body.get("tools"):
        report.skipped["tool definitions"] += 1
    place = Meta(model=text_of(body.get("model")), usage=usage_of(body.get("usage")))
    instructions = body.get("instructions")
    if isinstance(instructions, str):
        yield from messages(Role.SYSTEM, blocks(instructions), "instructions", Meta())
    else:  # a response repeats what it was asked as items
        yield from _items(_list(instructions), place, report)
    yield from _items(_list(body.get("input") if body else value), place, report)
    yield from _items(_list(body.get("output")), place, report)


def _items(found: list[Any], place: Meta, report: Report) -> Iterator[Message]:
    for item in found:
        if isinstance(item, str):
            yield from messages(Role.USER, blocks(item), "", place)
        elif isinstance(item, dict):
            yield from item_messages(item, place, report)
        else:
            yield Message(Role.NOTE, (Other("item", json_text(item)),), "no role", place)


def item_messages(item: Json, place: Meta, report: Report) -> Iterator[Message]:
    """Our messages for one item; one that says nothing is counted as skipped."""
    kind = text_of(item.get("type"))
    meta = Meta(
        id=text_of(item.get("id")),
        model=place.model,
        usage=place.usage,
        line=place.line,
        offset=place.offset,
    )
    if kind == "reasoning":
        yield Message(Role.ASSISTANT, (_reasoning(item),), "", meta)
    elif kind.endswith("_output"):
        yield Message(Role.TOOL, (_output(item),), "", meta)
    elif kind in ("function_call", "custom_tool_call", "local_shell_call", "computer_call"):
        yield Message(Role.ASSISTANT, (_call(item, kind),), "", meta)
    elif kind.endswith("_call"):
        yield from _server_tool(item, kind, meta)
    elif "role" in item:
        yield from chat_message(item, meta, report)
    else:
        yield Message(Role.NOTE, (Other(kind or "item", json_text(item)),), kind or "no role", meta)


def _reasoning(item: Json) -> Thinking:
    parts = [*_list(item.get("summary")), *_list(item.get("content"))]
    words = [
        part if isinstance(part, str) else text_of(json_of(part).get("text")) for part in parts
    ]
    text = wtf8("\n\n".join(word for word in words if word))
    return Thinking(text, 0 if text else len(text_of(item.get("encrypted_content"))))


def _call_id(item: Json) -> str:
    """The id that pairs. Some libraries join both ids of a call as ``call|item``."""
    return name_of(item.get("call_id") or item.get("id")).partition("|")[0]


def _call(item: Json, kind: str) -> ToolCall:
    args = next((item[key] for key in ("arguments", "input", "action") if key in item), None)
    name = name_of(item.get("name")) or kind.removesuffix("_call")
    return ToolCall(_call_id(item), name, call_args(args))


def _output(item: Json) -> ToolResult:
    """What the caller's tool gave back; a screenshot is an object with a picture's place."""
    output = item.get("output")
    picture = json_of(output).get("image_url")
    if isinstance(picture, str):
        return ToolResult(_call_id(item), (blob_url("image", picture),))
    return ToolResult(_call_id(item), result_content(output), item.get("status") == "failed")


def _server_tool(item: Json, kind: str, meta: Meta) -> Iterator[Message]:
    """A tool that ran on the server: call and result are one item."""
    name, call_id = name_of(item.get("name")) or kind.removesuffix("_call"), _call_id(item)
    known = {"type", "id", "call_id", "status", "name", "error", *_OUTPUTS}
    if "arguments" in item:
        args = call_args(item["arguments"])
    else:
        args = json_text({key: value for key, value in item.items() if key not in known})
    yield Message(Role.ASSISTANT, (ToolCall(call_id, name, args),), "", meta)
    output = next((item[key] for key in _OUTPUTS if item.get(key) is not None), None)
    error = item.get("error")
    if output is None and not error:
        return
    content = _server_output(output, kind) + (result_content(error) if error else ())
    yield Message(Role.TOOL, (ToolResult(call_id, content, bool(error)),), "", meta)


def _server_output(output: Any, kind: str) -> tuple[Content, ...]:
    if kind == "image_generation_call" and isinstance(output, str):
        return (blob_base64("image", "", output),)
    found: list[Content] = []
    for part in _list(output):
        logs, url = json_of(part).get("logs"), json_of(part).get("url")
        if isinstance(logs, str):
            found.append(Text(wtf8(logs)))
        elif json_of(part).get("type") == "image" and isinstance(url, str):
            found.append(blob_url("image", url))
        else:
            found += result_content(part)
    return tuple(found)


def _list(value: Any) -> list[Any]:
    if value is None:
        return []
    return value if isinstance(value, list) else [value]
