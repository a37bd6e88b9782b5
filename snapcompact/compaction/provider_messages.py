"""Messages as Anthropic's API takes them, for its own compaction."""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from typing import Any

from snapcompact.compaction.entries import calls_of
from snapcompact.compaction.files import call_args
from snapcompact.compaction.pairs import repair
from snapcompact.history.model import (
    Blob,
    Block,
    Message,
    Other,
    Role,
    Text,
    ToolCall,
    ToolResult,
    shown,
)

Json = dict[str, Any]
_IMAGES = ("image/png", "image/jpeg", "image/gif", "image/webp")


def anthropic_messages(messages: Sequence[Message], previous: str = "") -> list[Json]:
    """`messages` in turns of user and assistant, `previous` summary in front, pairs made whole.

    Reasoning is left out: it is only taken back with its signature.
    """
    made: list[Json] = []
    if previous.strip():
        _add(made, "user", [{"type": "text", "text": previous}])
    for message in repair(messages).messages:
        # Only an assistant may call, whoever the record says did.
        speaks = message.role is Role.ASSISTANT or bool(calls_of(message))
        role = "assistant" if speaks else "user"
        _add(made, role, [part for block in message.blocks for part in _block(block)])
    if made and made[0]["role"] == "assistant":
        made.insert(0, {"role": "user", "content": [{"type": "text", "text": "(continued)"}]})
    return made


def tool_stubs(messages: Sequence[Message]) -> list[Json]:
    """A definition for each tool that was called, which a request with calls must have."""
    names = dict.fromkeys(call.name for message in messages for call in calls_of(message))
    return [{"name": name, "input_schema": {"type": "object"}} for name in names if name]


def _add(made: list[Json], role: str, parts: list[Json]) -> None:
    if not parts:
        return
    if made and made[-1]["role"] == role:
        made[-1]["content"] += parts
    else:
        made.append({"role": role, "content": parts})


def _block(block: Block) -> list[Json]:
    match block:
        case Text() if block.data.strip():
            return [{"type": "text", "text": block.text}]
        case ToolCall():
            args = call_args(block)
            return [{"type": "tool_use", "id": block.id, "name": block.name, "input": args}]
        case ToolResult():
            content = [part for inner in block.content for part in _block(inner)]
            made: Json = {"type": "tool_result", "tool_use_id": block.call_id, "content": content}
            return [{**made, "is_error": True} if block.is_error else made]
        case Blob():
            return [_blob(block)]
        case Other():
            return [{"type": "text", "text": shown(block.data)}]
    return []


def _blob(blob: Blob) -> Json:
    if blob.kind != "image" or blob.data is None or blob.mime not in _IMAGES:
        words = json.dumps({"kind": blob.kind, "type": blob.mime, "bytes": blob.size})
        return {"type": "text", "text": f"[not shown: {words}]"}
    data = base64.b64encode(blob.data).decode()
    return {"type": "image", "source": {"type": "base64", "media_type": blob.mime, "data": data}}
