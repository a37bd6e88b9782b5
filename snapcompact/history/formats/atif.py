"""ATIF, the Agent Trajectory Interchange Format of Harbor: one JSON document, versions 1.0 to 1.7.

A step has words, calls and what the calls gave back; the last become messages of their own.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from snapcompact.history.blocks import (
    Json,
    blocks,
    call_args,
    json_of,
    list_of,
    messages,
    name_of,
    result_content,
    text_of,
)
from snapcompact.history.documents import document
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
from snapcompact.history.usage import usage

if TYPE_CHECKING:
    from collections.abc import Iterator

    from snapcompact.history.formats import Head, Options
    from snapcompact.history.report import Report
    from snapcompact.history.source import Source

_VERSION = re.compile(r"(ATIF-v)?\d")
_ROLES = {"user": Role.USER, "agent": Role.ASSISTANT, "system": Role.SYSTEM}
_DEEPEST = 16
"""Sub-agents of sub-agents read; deeper ones are kept as JSON."""


def sniff(head: Head) -> bool:
    """A document with ``steps`` and a ``schema_version`` of ATIF's, with or without its prefix."""
    whole = json_of(head.document)
    version = whole.get("schema_version")
    return (
        isinstance(version, str)
        and _VERSION.match(version) is not None
        and isinstance(whole.get("steps"), list)
    )


def read(source: Source, options: Options, report: Report) -> Iterator[Message]:
    """The steps in order, then those of sub-agents."""
    whole = document(source, report)
    value = json_of(whole.value if whole is not None else None)
    report.learn("id", value.get("session_id") or value.get("trajectory_id"))
    agent = json_of(value.get("agent"))
    report.learn("model", agent.get("model_name"))
    report.learn("version", agent.get("version"))
    cwds = json_of(agent.get("extra")).get("cwds")
    report.learn("cwd", cwds[0] if isinstance(cwds, list) and cwds else None)
    if value.get("continued_trajectory_ref"):
        report.notes.append(f"goes on in {name_of(value['continued_trajectory_ref'])}")
    yield from _trajectory(value, "", report, 0)


def _trajectory(value: Json, label: str, report: Report, depth: int) -> Iterator[Message]:
    said: set[bytes] = set()
    default = text_of(json_of(value.get("agent")).get("model_name"))
    steps = value.get("steps")
    for step in steps if isinstance(steps, list) else []:
        if not isinstance(step, dict):
            yield Message(Role.NOTE, (Other("step", json_text(step)),), label)
            continue
        key = json_text([step.get("source"), step.get("message"), step.get("tool_calls")])
        if step.get("is_copied_context") is True and key in said:
            report.duplicates["copied context"] += 1
            continue
        said.add(key)
        yield from _step(step, label, default, report)
    inner = value.get("subagent_trajectories")
    for number, child in enumerate(inner if isinstance(inner, list) else [], 1):
        if not isinstance(child, dict) or depth == _DEEPEST:
            yield Message(Role.NOTE, (Other("subagent_trajectory", json_text(child)),), label)
            continue
        name = name_of(child.get("trajectory_id") or child.get("session_id")) or str(number)
        yield from _trajectory(child, f"agent {name}", report, depth + 1)


def _step(step: Json, label: str, model: str, report: Report) -> Iterator[Message]:
    said = step.get("source")
    role = _ROLES.get(said, Role.NOTE) if isinstance(said, str) else Role.NOTE
    if role is Role.NOTE:
        label = label or name_of(said) or "no role"
    elif step.get("is_copied_context") is True:
        label = label or "copied context"
    elif json_of(step.get("extra")).get("is_sidechain") is True:
        label = label or "sidechain"
    found = _blocks(step)
    results = _results(step)
    if not found and not results:
        report.skipped["empty message"] += 1
    meta = _meta(step, model if role is Role.ASSISTANT else "")
    yield from messages(role, found, label, meta)
    for result in results:
        yield Message(Role.TOOL, (result,), label, meta)


def _blocks(step: Json) -> list[Block]:
    found: list[Block] = []
    thought = text_of(step.get("reasoning_content"))
    if thought:
        found.append(Thinking(wtf8(thought)))
    found += blocks(step.get("message"))
    for call in list_of(step.get("tool_calls")):
        inner = json_of(call)
        name, call_id = name_of(inner.get("function_name")), name_of(inner.get("tool_call_id"))
        found.append(ToolCall(call_id, name, call_args(inner.get("arguments"))))
    return found


def _results(step: Json) -> list[ToolResult]:
    observation = json_of(step.get("observation"))
    return [
        ToolResult(
            name_of(json_of(result).get("source_call_id")),
            result_content(json_of(result).get("content")),
        )
        for result in list_of(observation.get("results"))
    ]


def _meta(step: Json, model: str) -> Meta:
    metrics = json_of(step.get("metrics"))
    return Meta(
        id=name_of(step.get("step_id")),
        time=text_of(step.get("timestamp")),
        model=text_of(step.get("model_name")) or model,
        usage=usage(
            metrics.get("prompt_tokens"),
            metrics.get("completion_tokens"),
            metrics.get("cached_tokens"),
            within=True,
        ),
    )
