"""Any other format: the compacted conversation as OpenAI chat messages in one JSON document."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from snapcompact.compaction.gather import entries_from
from snapcompact.compaction.pairs import repair
from snapcompact.compaction.writers.chat import SUMMARY_HEAD, indented, openai_image
from snapcompact.compaction.writers.contract import Change, Json, Stored
from snapcompact.history.model import (
    Blob,
    Block,
    Message,
    Other,
    Role,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    shown,
)
from snapcompact.llm.contract import Picture

if TYPE_CHECKING:
    from snapcompact.history.session import Session


def load(session: Session) -> Stored:
    """The entries of the messages, whatever their file; system messages in front are the head."""
    messages = list(session.messages())
    first = next((i for i, m in enumerate(messages) if m.role is not Role.SYSTEM), len(messages))
    return Stored(session, entries_from(messages[first:]), tuple(messages[:first]))


def write(stored: Stored, change: Change) -> Iterator[bytes]:
    """A document with ``messages``, every call with its result and every result with its call."""
    before = [change.edited.get(item.id, item.message) for item in change.partition.before]
    after = [change.edited.get(item.id, item.message) for item in change.shown]
    summary: Any = SUMMARY_HEAD + change.summary
    if change.pieces:
        parts = [openai_image(p) if isinstance(p, Picture) else {"type": "text", "text": p}
                 for p in change.pieces]  # fmt: skip
        summary = [{"type": "text", "text": summary}, *parts]
    made = [
        *chat_messages(stored.head),
        *chat_messages(repair(before).messages),
        {"role": "user", "content": summary},
        *chat_messages(repair(after).messages),
    ]
    yield indented({"messages": made})


def chat_messages(messages: Sequence[Message]) -> list[Json]:
    """`messages` as Chat Completions takes them. Pictures of a tool follow in a user's message."""
    return [made for message in messages for made in _chat(message)]


def _chat(message: Message) -> Iterator[Json]:
    results = [block for block in message.blocks if isinstance(block, ToolResult)]
    for result in results:
        yield {"role": "tool", "tool_call_id": result.call_id, "content": _result_text(result)}
        if pictures := [b for b in result.content if isinstance(b, Blob) and b.data is not None]:
            yield {"role": "user", "content": [_blob(b) for b in pictures]}
    rest = [block for block in message.blocks if not isinstance(block, ToolResult)]
    if message.role is Role.ASSISTANT:
        yield _answer(rest)
    elif rest:
        role = "system" if message.role is Role.SYSTEM else "user"
        yield {"role": role, "content": _content(rest)}


def _answer(blocks: Sequence[Block]) -> Json:
    words = [_words(b) for b in blocks if isinstance(b, Text | Other | Blob)]
    made: Json = {"role": "assistant", "content": "\n".join(words) or None}
    if thoughts := [b.text for b in blocks if isinstance(b, Thinking) and b.data]:
        made["reasoning_content"] = "\n".join(thoughts)
    calls = [
        {"id": b.id, "type": "function", "function": {"name": b.name, "arguments": shown(b.args)}}
        for b in blocks if isinstance(b, ToolCall)
    ]  # fmt: skip
    return {**made, "tool_calls": calls} if calls else made


def _content(blocks: Sequence[Block]) -> str | list[Json]:
    if not any(isinstance(block, Blob) and block.data is not None for block in blocks):
        return "\n".join(_words(block) for block in blocks)
    return [
        _blob(b) if isinstance(b, Blob) else {"type": "text", "text": _words(b)} for b in blocks
    ]


def _words(block: Block) -> str:
    match block:
        case Text() | Thinking():
            return block.text
        case ToolCall():
            return f"{block.name}({shown(block.args)})"
        case Blob():
            return f"[{block.kind} {block.name or block.mime}: {block.ref or 'not in the session'}]"
        case ToolResult():
            return block.text
        case Other():
            return shown(block.data)


def _blob(blob: Blob) -> Json:
    if blob.data is None or blob.kind != "image":
        return {"type": "text", "text": _words(blob)}
    data = base64.b64encode(blob.data).decode()
    return {"type": "image_url", "image_url": {"url": f"data:{blob.mime};base64,{data}"}}


def _result_text(result: ToolResult) -> str:
    return "\n".join(_words(b) for b in result.content if not isinstance(b, Blob) or b.data is None)
