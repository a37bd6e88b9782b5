"""Anthropic Messages: a request, or a bare list of messages whose content is in its blocks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from snapcompact.history.blocks import blocks, json_of, messages, text_of
from snapcompact.history.documents import document
from snapcompact.history.formats.openai_chat import message
from snapcompact.history.model import Message, Meta, Role

if TYPE_CHECKING:
    from collections.abc import Iterator

    from snapcompact.history.formats import Head, Options
    from snapcompact.history.report import Report
    from snapcompact.history.source import Source

_BLOCKS = {"tool_use", "tool_result", "thinking", "redacted_thinking", "server_tool_use"}


def sniff(head: Head) -> bool:
    """Messages with Anthropic's own blocks, or a request that only Anthropic's API takes."""
    whole = head.document
    if isinstance(whole, list):
        return any(_has_blocks(item) for item in whole)
    if not isinstance(whole, dict) or not isinstance(whole.get("messages"), list):
        return False
    if "max_tokens" in whole and ("thinking" in whole or "system" in whole):
        return True
    if any(_has_blocks(item) for item in whole["messages"]):
        return True
    named = text_of(whole.get("model")).startswith("claude")
    return named and not any("tool_calls" in json_of(item) for item in whole["messages"])


def _has_blocks(item: Any) -> bool:
    content = json_of(item).get("content")
    return isinstance(content, list) and any(
        json_of(block).get("type") in _BLOCKS for block in content
    )


def read(source: Source, options: Options, report: Report) -> Iterator[Message]:
    """The system prompt, then the messages in their order."""
    whole = document(source, report)
    value = whole.value if whole is not None else None
    body = json_of(value)
    report.learn("model", body.get("model"))
    if body.get("tools"):
        report.skipped["tool definitions"] += 1
    place = Meta(model=text_of(body.get("model")))
    yield from messages(Role.SYSTEM, blocks(body.get("system")), "", Meta())
    listed = body.get("messages") if body else value
    for item in listed if isinstance(listed, list) else []:
        yield from message(json_of(item) or {"content": item}, place, report)
