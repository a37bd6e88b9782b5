"""One payload of a Codex rollout, to messages."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import orjson

from snapcompact.history.blobs import blob_base64
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
from snapcompact.history.formats.openai_responses import item_messages
from snapcompact.history.jsontext import json_text
from snapcompact.history.model import (
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
    from snapcompact.history.report import Report

_ROLES = {
    "user": Role.USER,
    "assistant": Role.ASSISTANT,
    "system": Role.SYSTEM,
    "developer": Role.SYSTEM,
}
CONTEXT_STARTS = (
    b"<environment_context>",
    b"<user_instructions>",
    b"<INSTRUCTIONS>",
    b"<turn_aborted>",
    b"<permissions instructions>",
    b"# AGENTS.md",
)
"""How user texts begin that no person typed."""

_IDE_START = b"# Context from my IDE setup:"
_IDE_PROMPT = b"## My request for Codex:"
_EXIT = re.compile(rb"\A(?:[^\n]*\n){0,6}?Process exited with code (-?\d+)\n")


def item(payload: Json, meta: Meta, report: Report) -> list[Message]:
    """Messages of a ``response_item``."""
    kind = text_of(payload.get("type"))
    if kind == "message" or (not kind and "role" in payload):
        return _message(payload, meta, report)
    if kind.endswith("_output") or kind == "tool_result":
        return [Message(Role.TOOL, (_output(payload, report),), "", meta)]
    if kind == "tool_call":
        return [Message(Role.ASSISTANT, (tool_call(payload),), "", meta)]
    if kind == "ghost_snapshot":
        report.skipped[kind] += 1
        return []
    if kind == "agent_message":
        return list(messages(Role.NOTE, blocks(payload.get("content")), "agent message", meta))
    return list(item_messages(payload, meta, report))


def texts(found: list[Message]) -> frozenset[str]:
    """The words of an item as an event may tell them: each text and thought, and all in a row."""
    parts: list[str] = []
    for message in found:
        for block in message.blocks:
            if isinstance(block, Text):
                parts.append(block.text.strip())
            elif isinstance(block, Thinking) and block.data:
                parts += [block.text.strip(), *block.text.strip().split("\n\n")]
    return frozenset((*parts, "".join(parts))) - {""}


def tool_call(payload: Json) -> ToolCall:
    """A call in the words of old files and of events."""
    name = payload.get("name") or json_of(payload.get("function")).get("name")
    args = payload.get("arguments", payload.get("input", payload.get("args")))
    return ToolCall(name_of(payload.get("call_id")), name_of(name), call_args(args))


def _message(payload: Json, meta: Meta, report: Report) -> list[Message]:
    said = text_of(payload.get("role"))
    role = _ROLES.get(said, Role.NOTE)
    found = blocks(payload.get("content"))
    found = [block for block in found if not _no_picture(block)]
    if not found:
        report.skipped["empty message"] += 1
        return []
    if role is Role.USER:
        return _user(found, meta)
    label = "" if said in ("assistant", "system") else said or "no role"
    return list(messages(role, found, label, meta))


def _no_picture(block: Block) -> bool:
    """A place for a picture that holds none: ``image_url`` is null."""
    return isinstance(block, Other) and block.kind == "input_image" and b'_url":null' in block.data


def _user(found: list[Block], meta: Meta) -> list[Message]:
    """A user's message; what an editor put before the prompt stands apart as context."""
    first = found[0]
    if not isinstance(first, Text):
        return list(messages(Role.USER, found, "", meta))
    if first.data.lstrip().startswith(CONTEXT_STARTS):
        return list(messages(Role.USER, found, "context", meta))
    cut = first.data.find(_IDE_PROMPT) if first.data.lstrip().startswith(_IDE_START) else -1
    if cut <= 0:
        return list(messages(Role.USER, found, "", meta))
    prompt = [Text(first.data[cut:]), *found[1:]]
    return [
        Message(Role.USER, (Text(first.data[:cut]),), "context", meta),
        *messages(Role.USER, prompt, "", meta),
    ]


def _output(payload: Json, report: Report) -> ToolResult:
    """A result in any of its shapes: text, JSON in text, parts, an object, text with a header."""
    call_id = name_of(payload.get("call_id"))
    output = next(
        (payload[key] for key in ("output", "result", "tools") if payload.get(key) is not None),
        None,
    )
    if isinstance(output, str):
        return _text_output(call_id, output, report)
    inner = json_of(output)
    if "content" in inner and "type" not in inner:
        return ToolResult(call_id, result_content(inner["content"]), inner.get("success") is False)
    if isinstance(output, dict) and isinstance(output.get("type"), str):
        output = [output]
    return ToolResult(call_id, result_content(output))


def _text_output(call_id: str, output: str, report: Report) -> ToolResult:
    if output.startswith("{") and '"output"' in output:
        inner = _parsed(output)
        if isinstance(inner, dict) and isinstance(inner.get("output"), str):
            return _wrapped(call_id, inner, report)
    data = wtf8(output)
    found = _EXIT.match(data)
    return ToolResult(call_id, result_content(output), found is not None and found[1] != b"0")


def _wrapped(call_id: str, inner: Json, report: Report) -> ToolResult:
    content: list[Content] = list(result_content(inner["output"]))
    code = json_of(inner.get("metadata")).get("exit_code")
    extra = {key: inner[key] for key in inner if key != "output"}
    if code in (0, None) and set(extra) <= {"metadata"}:
        report.skipped["run time of a command"] += 1
    else:
        content.append(Other("metadata", json_text(extra)))
    return ToolResult(call_id, tuple(content), code not in (0, None))


def _parsed(text: str) -> Any:
    try:
        return orjson.loads(text)
    except (orjson.JSONDecodeError, UnicodeEncodeError):
        return None


def picture(payload: Json) -> Content | None:
    """The picture of an ``image_generation_end``."""
    result = payload.get("result")
    return blob_base64("image", "", result) if isinstance(result, str) and result else None
