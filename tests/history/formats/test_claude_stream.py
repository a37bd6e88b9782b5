"""``claude -p --output-format stream-json``."""

from __future__ import annotations

from typing import Any

import pytest

from snapcompact.history.model import Message, Role, Text, Thinking, ToolCall, ToolResult
from tests.history.seen import Seen, sample, seen
from tests.history.sessions import jsonl

Json = dict[str, Any]
INIT = {
    "type": "system",
    "subtype": "init",
    "session_id": "s",
    "model": "claude-x",
    "cwd": "/w",
    "claude_code_version": "2.1",
}


def _said(role: str, *content: Json, **more: Any) -> Json:
    message = {"role": role, "id": more.pop("id", "m"), "content": list(content)}
    return {"type": role, "message": message, "session_id": "s", **more}


def _text(text: str) -> Json:
    return {"type": "text", "text": text}


def _read(*records: Json) -> Seen:
    return seen(jsonl([INIT, *records]))


@pytest.mark.parametrize(
    ("name", "kinds", "pairs", "first", "last", "skipped"),
    [
        (
            "pxpipe-subagent-excerpt",
            {"Thinking": 2, "Text": 4, "ToolCall": 9, "ToolResult": 9},
            (9, 0),
            "Now let me explore the endpoint, builder, client, and OpenApi modules ",
            "        : { readonly payload: P }\n      : { readonly payload: Payload ",
            {"system task_progress": 7, "system task_started": 2},
        ),
        (
            "pxpipe-vulture-api-error",
            {"Text": 1},
            (0, 0),
            "API Error: 529 Overloaded. This is a server-side issue, usually tempor",
            "API Error: 529 Overloaded. This is a server-side issue, usually tempor",
            {"system api_retry": 10},
        ),
        (
            "pxpipe-ytt-jsonpath",
            {"Text": 4, "ToolCall": 35, "ToolResult": 35, "Thinking": 16},
            (35, 0),
            "I'll start by exploring the repository structure.",
            "Done. Work is committed on branch `jsonpath-query` (branched from `mai",
            {"system thinking_tokens": 111, "tool_progress": 2},
        ),
    ],
)
def test_samples(
    name: str,
    kinds: dict[str, int],
    pairs: tuple[int, int],
    first: str,
    last: str,
    skipped: dict[str, int],
) -> None:
    got = seen(sample(f"claude_code_stream_json/{name}.jsonl"))
    assert got.format == "claude_stream"
    assert got.kinds == kinds
    assert got.pairs == pairs
    assert got.texts[0].startswith(first)
    assert got.texts[-1].startswith(last)
    assert skipped.items() <= got.report.skipped.items()
    assert got.report.damage.total == 0
    assert got.report.notes == ["the prompt is not recorded in this format"]


def test_sample_agents_carry_their_calls_id() -> None:
    got = seen(sample("claude_code_stream_json/pxpipe-subagent-excerpt.jsonl"))
    labels = [message.label for message in got.messages]
    calls = {b.id for m in got.messages for b in m.blocks if isinstance(b, ToolCall)}
    agents = {label.removeprefix("agent ") for label in labels if label}
    assert len(agents) == 2
    assert agents <= calls
    assert labels.count("") == 4


def test_sample_thinking_is_sealed() -> None:
    got = seen(sample("claude_code_stream_json/pxpipe-ytt-jsonpath.jsonl"))
    thoughts = [b for m in got.messages for b in m.blocks if isinstance(b, Thinking)]
    assert all(thought.data == b"" and thought.sealed_bytes > 100 for thought in thoughts)


def test_the_result_repeats_the_last_answer() -> None:
    got = _read(
        _said("assistant", _text("One file.")),
        {"is_error": False, "result": "One file.", "subtype": "success", "type": "result"},
    )
    assert [m.text for m in got.messages] == ["One file."]
    assert got.report.duplicates == {"result": 1}


def test_a_result_that_says_more_is_kept() -> None:
    got = _read({"is_error": True, "result": "Overloaded", "subtype": "success", "type": "result"})
    assert got.messages == [Message(Role.NOTE, (Text(b"Overloaded"),), "error")]


def test_a_compaction_is_followed_by_its_summary() -> None:
    got = _read(
        {"type": "system", "subtype": "compact_boundary", "compact_metadata": {"pre_tokens": 9}},
        _said("user", _text("Summary"), isSynthetic=True),
        _said("user", _text("Reminder"), isSynthetic=True),
    )
    assert [m.label for m in got.messages] == ["compaction", "summary", "context"]


def test_repeated_records_are_dropped_by_uuid() -> None:
    got = _read(
        _said("assistant", _text("a"), uuid="1"),
        _said("assistant", _text("b"), uuid="2"),
        _said("assistant", _text("a"), uuid="1"),
    )
    assert [m.text for m in got.messages] == ["a\nb"]
    assert got.report.duplicates == {"repeated record": 1}


def test_call_and_result_and_facts() -> None:
    got = _read(
        _said("assistant", {"type": "tool_use", "id": "t", "name": "Bash", "input": {"c": "ls"}}),
        _said(
            "user",
            {"type": "tool_result", "tool_use_id": "t", "content": "a.txt", "is_error": True},
            tool_use_result={"stdout": "a.txt"},
        ),
        {"type": "system", "subtype": "novelty", "content": "words"},
        {"type": "novelty"},
    )
    assert got.messages[:2] == [
        Message(Role.ASSISTANT, (ToolCall("t", "Bash", b'{"c":"ls"}'),)),
        Message(Role.TOOL, (ToolResult("t", (Text(b"a.txt"),), is_error=True),)),
    ]
    assert [m.label for m in got.messages[2:]] == ["system novelty", "unknown novelty"]
    assert got.report.info == {"id": "s", "cwd": "/w", "model": "claude-x", "version": "2.1"}
