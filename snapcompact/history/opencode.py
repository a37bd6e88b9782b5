"""OpenCode's messages: an ``info`` and its ``parts``, the same in all of its stores. Pure.

Call and result are one part there; here each result is a message of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

from snapcompact.history.blobs import blob_base64, blob_url
from snapcompact.history.blocks import (
    Json,
    call_args,
    json_of,
    list_of,
    messages,
    name_of,
    result_content,
    text_of,
)
from snapcompact.history.jsontext import json_text
from snapcompact.history.model import (
    Blob,
    Block,
    Message,
    Meta,
    Other,
    Role,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Usage,
    wtf8,
)
from snapcompact.history.times import time_text
from snapcompact.history.usage import usage

if TYPE_CHECKING:
    from snapcompact.history.report import Report

_ROLES = {"user": Role.USER, "assistant": Role.ASSISTANT, "system": Role.SYSTEM}
_BOOKKEEPING = {"step-start", "step-finish", "snapshot", "patch"}
_DONE = {"completed", "success"}


def facts(info: Json, report: Report) -> None:
    """Take what the session's own record says into the report."""
    for key, name in (
        ("id", "id"),
        ("title", "title"),
        ("directory", "cwd"),
        ("version", "version"),
    ):
        report.learn(name, info.get(key))


def message(info: Json, parts: Sequence[Any], report: Report) -> Iterator[Message]:
    """Our messages for one of theirs; parts that only keep books are counted as skipped."""
    said = info.get("role")
    role = _ROLES.get(said, Role.NOTE) if isinstance(said, str) else Role.NOTE
    label = (name_of(said) or "no role") if role is Role.NOTE else ""
    if role is Role.ASSISTANT and info.get("summary") is True:
        label = "summary"
    meta, empty = _meta(info), True
    for kind, run in groupby(_told(parts, report), key=lambda step: _label(step.part)):
        group, empty = list(run), False
        if kind == "compaction":
            for step in group:
                block = Other("compaction", json_text(step.part))
                yield Message(Role.NOTE, (block,), "compaction", meta)
        else:
            yield from messages(role, _blocks(group), kind or label, meta)
    if empty:
        yield from _without_parts(info, role, label, meta, report)


def reverted(session: Json) -> str:
    """Id of the message that a session was rewound to; it and all after it are left."""
    return text_of(json_of(session.get("revert")).get("messageID"))


class _Step(NamedTuple):
    """A part that says something, and the number of the model's step that it is of."""

    part: Json
    number: int


def _told(parts: Sequence[Any], report: Report) -> Iterator[_Step]:
    """The parts but for those that keep books, which are counted."""
    number = 0
    for item in parts:
        part = json_of(item) or {"type": "part", "text": item}
        kind = text_of(part.get("type"))
        if kind in _BOOKKEEPING:
            number += kind == "step-start"
            report.skipped[kind] += 1
        else:
            yield _Step(part, number)


def _label(part: Json) -> str:
    """What a part's message is labelled beyond its role."""
    if part.get("type") == "compaction":
        return "compaction"
    if part.get("ignored") is True:
        return "not sent"
    return "context" if part.get("synthetic") is True else ""


def _meta(info: Json) -> Meta:
    error, model = json_of(info.get("error")), json_of(info.get("model"))
    stop = text_of(info.get("finish"))
    if error:
        what = text_of(json_of(error.get("data")).get("message")) or "no message"
        stop = f"error: {text_of(error.get('name'))}: {what}"
    return Meta(
        id=text_of(info.get("id")),
        time=time_text(json_of(info.get("time")).get("created")),
        model=text_of(info.get("modelID")) or text_of(model.get("modelID")),
        stop=stop,
        usage=_usage(json_of(info.get("tokens"))),
    )


def _usage(tokens: Json) -> Usage | None:
    """Reasoning is counted apart from output there, and billed as output."""
    cache, output, thought = (
        json_of(tokens.get("cache")),
        tokens.get("output"),
        tokens.get("reasoning"),
    )
    if type(output) is int and type(thought) is int:
        output += thought
    return usage(tokens.get("input"), output, cache.get("read"), cache.get("write"))


def _blocks(steps: list[_Step]) -> list[Block]:
    """Blocks in order; of tools that ran side by side, the calls and then the results."""
    found: list[Block] = []
    for (is_tool, _), run in groupby(steps, key=lambda step: (_is_tool(step.part), step.number)):
        group = [step.part for step in run]
        if is_tool:
            found += map(_call, group)
            found += (result for part in group if (result := _result(part)) is not None)
        else:
            found += (block for part in group if (block := _block(part)) is not None)
    return found


def _is_tool(part: Json) -> bool:
    return part.get("type") == "tool"


def _block(part: Json) -> Block | None:
    kind, text = part.get("type"), part.get("text")
    if kind == "text" and isinstance(text, str):
        return Text(wtf8(text)) if text else None
    if kind == "reasoning" and isinstance(text, str):
        return Thinking(wtf8(text))
    if kind == "file":
        return _file(part)
    return Other(text_of(kind) or "part", json_text(part))


def _file(part: Json) -> Blob:
    mime, name = text_of(part.get("mime")), text_of(part.get("filename"))
    kind = "image" if mime.startswith("image/") else "file"
    url = text_of(part.get("url"))
    if not url and isinstance(part.get("data"), str):
        return blob_base64(kind, mime, part["data"], name)
    return blob_url(kind, url or "no bytes in the session", mime, name)


def _call(part: Json) -> ToolCall:
    state = json_of(part.get("state"))
    args = call_args(state.get("input", state.get("raw")))
    return ToolCall(name_of(part.get("callID")), name_of(part.get("tool")), args)


def _result(part: Json) -> ToolResult | None:
    """None where the call has not ended."""
    state, call_id = json_of(part.get("state")), name_of(part.get("callID"))
    status = text_of(state.get("status"))
    if status == "error":
        return ToolResult(call_id, result_content(state.get("error")), is_error=True)
    if status not in _DONE and "output" not in state:
        return None
    files = [_file(json_of(item)) for item in list_of(state.get("attachments"))]
    return ToolResult(call_id, (*result_content(state.get("output")), *files))


def _without_parts(
    info: Json, role: Role, label: str, meta: Meta, report: Report
) -> Iterator[Message]:
    """Old stores keep the words of some prompts in the summary alone; an error may be all."""
    summary = json_of(info.get("summary"))
    text = text_of(summary.get("body")) or text_of(summary.get("title"))
    if text:
        yield Message(role, (Text(wtf8(text)),), label or "title", meta)
    elif meta.stop.startswith("error:"):
        yield Message(Role.NOTE, (Text(wtf8(meta.stop.removeprefix("error: "))),), "error", meta)
    else:
        report.skipped["empty message"] += 1
