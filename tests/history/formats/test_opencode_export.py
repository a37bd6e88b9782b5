"""OpenCode's messages, as its export has them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from snapcompact.history.model import Blob, Role, Text, ToolResult, Usage
from tests.history.seen import Seen, sample, seen


def info(key: str, role: str, **more: Any) -> dict[str, Any]:
    return {
        "id": key,
        "sessionID": "ses_1",
        "role": role,
        "time": {"created": 1767323045000},
        **more,
    }


def tool(call: str, **state: Any) -> dict[str, Any]:
    return {"type": "tool", "tool": "bash", "callID": call, "state": {"input": {}, **state}}


def text(words: str, **more: Any) -> dict[str, Any]:
    return {"type": "text", "text": words, **more}


def session(*pairs: tuple[dict[str, Any], list[Any]], **about: Any) -> dict[str, Any]:
    messages = [{"info": head, "parts": parts} for head, parts in pairs]
    return {
        "info": {"id": "ses_1", "title": "List", "directory": "/w", **about},
        "messages": messages,
    }


QUESTION = (
    info("msg_1", "user"),
    [text("a file", synthetic=True), text("secret", ignored=True), text("List")],
)
TOKENS = {"input": 120, "output": 30, "reasoning": 5, "cache": {"read": 7, "write": 1}}
ANSWER = (
    info("msg_2", "assistant", modelID="y", tokens=TOKENS, finish="stop"),
    [
        {"type": "step-start"},
        tool("c1", status="completed", output="a.txt", metadata={"output": "a.txt"}),
        tool("c2", status="error", error="no"),
        tool("c3", status="running"),
        {"type": "step-finish", "reason": "stop"},
        text("One file."),
    ],
)


def _read(body: Any, **options: str) -> Seen:
    return seen(json.dumps(body).encode(), **options)


def test_one_part_is_call_and_result() -> None:
    got = _read(session(QUESTION, ANSWER))
    assert got.format == "opencode_export"
    assert [(m.role, m.label) for m in got.messages] == [
        (Role.USER, "context"),
        (Role.USER, "not sent"),
        (Role.USER, ""),
        (Role.ASSISTANT, ""),
        (Role.TOOL, ""),
        (Role.TOOL, ""),
        (Role.ASSISTANT, ""),
    ]
    assert got.kinds == {"Text": 4, "ToolCall": 3, "ToolResult": 2}
    assert got.messages[5].blocks == (ToolResult("c2", (Text(b"no"),), is_error=True),)
    assert got.messages[3].meta.usage == Usage(120, 35, 7, 1)
    assert got.messages[3].meta.time == "2026-01-02T03:04:05.000Z"
    assert got.report.skipped == {"step-start": 1, "step-finish": 1}


def test_what_a_rewind_left() -> None:
    body = session(QUESTION, ANSWER, revert={"messageID": "msg_2"})
    assert _read(body).texts == ["a file", "secret", "List"]
    assert _read(body).report.branches == ["msg_2"]
    assert _read(body).report.skipped == {"message left by a rewind": 1}
    assert _read(body, branch="all").texts[-1] == "One file."
    assert "branch" in {m.label for m in _read(body, branch="all").messages}


def test_compactions_and_errors() -> None:
    got = _read(
        session(
            (info("m1", "user", summary={"title": "t"}), [{"type": "compaction", "auto": True}]),
            (info("m2", "assistant", summary=True), [text("So far")]),
            (info("m3", "assistant", error={"name": "Abort", "data": {"message": "stop"}}), []),
        )
    )
    assert [(m.role, m.label) for m in got.messages] == [
        (Role.NOTE, "compaction"),
        (Role.ASSISTANT, "summary"),
        (Role.NOTE, "error"),
    ]
    assert got.messages[2].text == "Abort: stop"
    assert got.messages[2].meta.stop == "error: Abort: stop"


@pytest.mark.parametrize("parts", [None, "x", 3, [None, 3, "x", {"type": 5}]])
def test_odd_parts(parts: Any) -> None:
    assert _read(session((info("m1", "user"), parts))).format == "opencode_export"


def test_sample() -> None:
    got = seen(sample("opencode_export/gen-opencode-1.18.33-export.json"))
    assert got.format == "opencode_export"
    assert got.roles == {"user": 4, "assistant": 6, "tool": 3}
    assert got.kinds == {"Text": 11, "Thinking": 6, "ToolCall": 3, "ToolResult": 3, "Blob": 1}
    assert got.pairs == (3, 0)
    assert (got.texts[0], got.texts[-1]) == ('"Please list the words"', "Done: the tool answered.")
    results = [b for m in got.messages for b in m.blocks if isinstance(b, ToolResult)]
    picture = results[1].content[1]
    assert isinstance(picture, Blob)
    assert (picture.mime, picture.width_px, picture.height_px) == ("image/png", 8, 8)
