"""``codex exec --json``: items as they end, with no prompt and no times.

Item ids restart with every run, so calls are named ``run.item``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from snapcompact.history.blocks import Json, blocks, json_of, messages, result_content, text_of
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
from snapcompact.history.usage import usage_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from snapcompact.history.formats import Head, Options
    from snapcompact.history.report import Report
    from snapcompact.history.source import Source

_RESULTS = ("aggregated_output", "result", "error", "output")
_TOOLS = {"command_execution", "mcp_tool_call", "web_search", "file_change", "collab_tool_call"}
_NOT_ARGS = {"id", "type", "status", "exit_code", *_RESULTS}


def sniff(head: Head) -> bool:
    """A ``thread.started`` record."""
    return "thread.started" in head.types()


def read(source: Source, options: Options, report: Report) -> Iterator[Message]:
    """The messages in file order; a started item is given only where its end is missing."""
    report.notes.append("the prompt is not recorded in this format")
    open_items: dict[str, tuple[Json, Meta]] = {}
    run = 0
    for record, line, offset in records(source, report):
        kind, item = text_of(record.get("type")), json_of(record.get("item"))
        meta = Meta(id=text_of(item.get("id")), line=line, offset=offset)
        match kind:
            case "thread.started":
                run += 1
                report.learn("id", record.get("thread_id"))
            case "item.started" | "item.updated":
                open_items[meta.id] = (item, meta)
                report.skipped[kind] += 1
            case "item.completed":
                open_items.pop(meta.id, None)
                yield from _item(item, run, meta)
            case "turn.completed":
                yield from _flush(open_items, run)
                yield from _turn(record, meta, report)
            case "turn.started":
                report.skipped[kind] += 1
            case "error" | "turn.failed":
                said = record.get("message") or json_of(record.get("error")).get("message")
                yield from messages(Role.NOTE, blocks(said), "error", meta)
            case _:
                label = f"unknown {kind}".strip()
                yield Message(Role.NOTE, (Other(label, json_text(record)),), label, meta)
    yield from _flush(open_items, run)


def _turn(record: Json, meta: Meta, report: Report) -> Iterator[Message]:
    """The end of a turn: a note that carries what it cost."""
    spent = usage_of(record.get("usage"))
    if spent is None:
        report.skipped["turn.completed"] += 1
        return
    note = Other("turn.completed", json_text(record.get("usage")))
    yield Message(
        Role.NOTE, (note,), "usage", Meta(usage=spent, line=meta.line, offset=meta.offset)
    )


def _flush(open_items: dict[str, tuple[Json, Meta]], run: int) -> Iterator[Message]:
    """Calls that were started and never ended."""
    for item, meta in open_items.values():
        if text_of(item.get("type")) in _TOOLS:
            yield Message(Role.ASSISTANT, (_call(item, run),), "", meta)
    open_items.clear()


def _item(item: Json, run: int, meta: Meta) -> Iterator[Message]:
    kind = text_of(item.get("type"))
    match kind:
        case "agent_message":
            yield from messages(Role.ASSISTANT, blocks(item.get("text")), "", meta)
        case "reasoning":
            thought: Block = Thinking(wtf8(text_of(item.get("text"))))
            yield Message(Role.ASSISTANT, (thought,), "", meta)
        case "error":  # a warning as often as a failure
            yield from messages(Role.NOTE, blocks(item.get("message")), "warning", meta)
        case _ if kind in _TOOLS:
            call = _call(item, run)
            yield Message(Role.ASSISTANT, (call,), "", meta)
            yield Message(Role.TOOL, (_result(item, call.id),), "", meta)
        case _:
            label = f"item {kind}".strip()
            yield Message(Role.NOTE, (Other(label, json_text(item)),), label, meta)


def _call(item: Json, run: int) -> ToolCall:
    name = text_of(item.get("tool")) or text_of(item.get("type"))
    args = {key: value for key, value in item.items() if key not in _NOT_ARGS}
    return ToolCall(f"{run}.{text_of(item.get('id'))}", name, json_text(args))


def _result(item: Json, call_id: str) -> ToolResult:
    output = next((item[key] for key in _RESULTS if item.get(key) is not None), None)
    inner = json_of(output)
    code = item.get("exit_code")
    failed = item.get("status") in ("failed", "declined") or code not in (0, None)
    return ToolResult(call_id, result_content(inner.get("content", output)), failed)
