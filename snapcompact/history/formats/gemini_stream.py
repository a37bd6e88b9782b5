"""``gemini -o stream-json``: answers in pieces, which are joined."""

from __future__ import annotations

from typing import TYPE_CHECKING

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
from snapcompact.history.jsontext import json_text
from snapcompact.history.model import Message, Meta, Other, Role, ToolCall, ToolResult
from snapcompact.history.records import records
from snapcompact.history.titles import Titles
from snapcompact.history.usage import usage

if TYPE_CHECKING:
    from collections.abc import Iterator

    from snapcompact.history.formats import Head, Options
    from snapcompact.history.report import Report
    from snapcompact.history.source import Source

_ROLES = {"user": Role.USER, "assistant": Role.ASSISTANT}


def sniff(head: Head) -> bool:
    """An ``init`` record with ``session_id``, and flat messages with a ``role``."""
    return any(
        isinstance(record, dict) and record.get("type") == "init" and "session_id" in record
        for record in head.records
    )


def read(source: Source, options: Options, report: Report) -> Iterator[Message]:
    """The messages in file order."""
    titles = Titles(report)
    pieces: list[str] = []
    at = Meta()
    for record, line, offset in records(source, report):
        meta = Meta(time=text_of(record.get("timestamp")), line=line, offset=offset)
        if record.get("delta") is True and record.get("role") == "assistant":
            at = at if pieces else meta
            pieces.append(text_of(record.get("content")))
            continue
        yield from messages(Role.ASSISTANT, blocks("".join(pieces)), "", at)
        pieces = []
        yield from _record(record, meta, titles, report)
    yield from messages(Role.ASSISTANT, blocks("".join(pieces)), "", at)


def _record(record: Json, meta: Meta, titles: Titles, report: Report) -> Iterator[Message]:
    kind = text_of(record.get("type"))
    call_id = name_of(record.get("tool_id"))
    match kind:
        case "init":
            report.learn("id", record.get("session_id"))
            report.learn("model", record.get("model"))
        case "message":
            role = _ROLES.get(text_of(record.get("role")), Role.NOTE)
            if role is Role.USER:
                titles.prompt(text_of(record.get("content")))
            yield from messages(role, blocks(record.get("content")), "", meta)
        case "tool_use":
            args = call_args(record.get("parameters"))
            call = ToolCall(call_id, name_of(record.get("tool_name")), args)
            yield Message(Role.ASSISTANT, (call,), "", meta)
        case "tool_result":
            failed = record.get("status") == "error"
            said = record.get("output")
            said = json_of(record.get("error")).get("message") if said is None else said
            result = ToolResult(call_id, result_content(said), failed)
            yield Message(Role.TOOL, (result,), "", meta)
        case "error":
            yield from messages(Role.NOTE, blocks(record.get("message")), "error", meta)
        case "result":
            yield from _end(record, meta, report)
        case _:
            label = f"unknown {kind}".strip()
            yield Message(Role.NOTE, (Other(label, json_text(record)),), label, meta)


def _end(record: Json, meta: Meta, report: Report) -> Iterator[Message]:
    """The end of a run: what it cost."""
    stats = json_of(record.get("stats"))
    spent = usage(
        stats.get("input_tokens"), stats.get("output_tokens"), stats.get("cached"), within=True
    )
    if spent is None:
        report.skipped["result"] += 1
        return
    note = Other("result", json_text(stats))
    yield Message(Role.NOTE, (note,), "usage", meta._replace(usage=spent))
