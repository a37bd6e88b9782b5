"""plugsuits' headless stream: flat records of users, answers, calls and results."""

from __future__ import annotations

from typing import TYPE_CHECKING

from snapcompact.history.blocks import (
    Json,
    blocks,
    call_args,
    messages,
    name_of,
    result_content,
    text_of,
)
from snapcompact.history.jsontext import json_text
from snapcompact.history.model import (
    Block,
    Message,
    Meta,
    Other,
    Role,
    Thinking,
    ToolCall,
    ToolResult,
    wtf8,
)
from snapcompact.history.records import records
from snapcompact.history.times import time_text
from snapcompact.history.titles import Titles
from snapcompact.history.usage import usage_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from snapcompact.history.formats import Head, Options
    from snapcompact.history.report import Report
    from snapcompact.history.source import Source


def sniff(head: Head) -> bool:
    """Flat ``user``, ``assistant``, ``tool_call`` or ``tool_result`` records with ``sessionId``."""
    flat = [
        record
        for record in head.records
        if isinstance(record, dict) and "sessionId" in record and "message" not in record
    ]
    return any(
        (record.get("type") in ("user", "assistant") and "content" in record)
        or (record.get("type") in ("tool_call", "tool_result") and "tool_call_id" in record)
        for record in flat
    )


def read(source: Source, options: Options, report: Report) -> Iterator[Message]:
    """The messages in file order."""
    titles = Titles(report)
    for record, line, offset in records(source, report):
        report.learn("id", record.get("sessionId"))
        report.learn("model", record.get("model"))
        meta = Meta(
            time=time_text(record.get("timestamp")),
            model=text_of(record.get("model")),
            usage=usage_of(record.get("usage")),
            line=line,
            offset=offset,
        )
        match record.get("type"):
            case "user":
                titles.prompt(text_of(record.get("content")))
                yield from messages(Role.USER, blocks(record.get("content")), "", meta)
            case "assistant":
                found = [*_thought(record), *blocks(record.get("content"))]
                yield from messages(Role.ASSISTANT, found, "", meta)
            case "tool_call":
                yield Message(Role.ASSISTANT, (*_thought(record), _call(record)), "", meta)
            case "tool_result":
                yield Message(Role.TOOL, (_result(record),), "", meta)
            case kind:
                label = f"unknown {text_of(kind)}".strip()
                yield Message(Role.NOTE, (Other(label, json_text(record)),), label, meta)


def _thought(record: Json) -> list[Block]:
    thought = text_of(record.get("reasoning_content"))
    return [Thinking(wtf8(thought))] if thought else []


def _call(record: Json) -> ToolCall:
    args = call_args(record.get("tool_input"))
    return ToolCall(name_of(record.get("tool_call_id")), name_of(record.get("tool_name")), args)


def _result(record: Json) -> ToolResult:
    error = record.get("error")
    failed = bool(error) or record.get("is_error") is True
    content = result_content(record.get("output"))
    if error not in (None, True, False):
        content = (*content, *result_content(error))
    return ToolResult(name_of(record.get("tool_call_id")), content, failed)
