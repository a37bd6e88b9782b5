"""Gemini CLI: chat logs as document and as lines, and its stream."""

from __future__ import annotations

from typing import Any

import pytest

from snapcompact.history.model import (
    Message,
    Role,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Usage,
)
from tests.history.seen import Seen, sample, seen
from tests.history.sessions import jsonl

Json = dict[str, Any]
HEADER = {
    "sessionId": "s",
    "projectHash": "b119",
    "startTime": "t",
    "lastUpdated": "t",
    "kind": "main",
}


def _said(item: str, kind: str, content: Any, **more: Any) -> Json:
    return {"id": item, "timestamp": "t", "type": kind, "content": content, **more}


def _response(call: str, output: str) -> Json:
    return {"functionResponse": {"id": call, "name": "run", "response": {"output": output}}}


def _tool(call: str, output: str | None, status: str = "success") -> Json:
    found: Json = {"id": call, "name": "run", "args": {"command": "ls"}, "status": status}
    return {**found, "result": [_response(call, output)]} if output is not None else found


def _read(*records: Json, branch: str = "active") -> Seen:
    return seen(jsonl([HEADER, *records]), branch=branch)


def _told(got: Seen) -> list[tuple[str, str, str]]:
    return [(str(m.role), m.label, m.text) for m in got.messages]


@pytest.mark.parametrize(
    ("name", "kinds", "pairs", "first", "last"),
    [
        (
            "agentcmd-session-2025-10-27T19-55-981c87cb.json",
            {"Text": 17, "Thinking": 31, "ToolCall": 13, "ToolResult": 13},
            (13, 0),
            "Can you make me an ai agent in python that I can execute built in pyth",
            "I've updated `main.py`. You can run the agent with:\n\n```bash\npython3 /",
        ),
        (
            "agentcmd-session-2025-10-29T10-40-359abdd0.json",
            {"Text": 2, "Thinking": 4, "ToolCall": 1, "ToolResult": 1},
            (1, 0),
            "Create a file at /tmp/gemini-test/auto-edit-test.txt with 'test conten",
            "Done.",
        ),
        (
            "agentcmd-tool-result-cancelled.json",
            {"Thinking": 1, "Text": 1, "ToolCall": 1, "ToolResult": 1},
            (1, 0),
            "I will now start the python interpreter.",
            "[Operation Cancelled] Reason: User cancelled the operation.",
        ),
        (
            "agentsessions-jsonl-v040.jsonl",
            {"Text": 2, "ToolCall": 1, "ToolResult": 1},
            (1, 0),
            "Say hello and list files.",
            "Hello! I listed the files.",
        ),
        (
            "agentsessions-schema-drift.json",
            {"Text": 2, "Blob": 1},
            (0, 0),
            "Describe this image:",
            "It looks like...",
        ),
    ],
)
def test_samples(
    name: str, kinds: dict[str, int], pairs: tuple[int, int], first: str, last: str
) -> None:
    got = seen(sample(f"gemini_cli/{name}"))
    assert got.format == "gemini_cli"
    assert got.kinds == kinds
    assert got.pairs == pairs
    assert got.texts[0].startswith(first)
    assert got.texts[-1].startswith(last)
    assert got.report.damage.total == 0


def test_sample_cancelled_call_is_an_error() -> None:
    got = seen(sample("gemini_cli/agentcmd-tool-result-cancelled.json"))
    result = got.messages[-1].blocks[0]
    assert isinstance(result, ToolResult)
    assert result.is_error


def test_a_message_written_again_is_told_by_what_is_new() -> None:
    thought = {"subject": "Planning", "description": "One call."}
    got = _read(
        _said("1", "user", [{"text": "<session_context>\ntree</session_context>"}]),
        _said("2", "user", [{"text": "List the words"}]),
        _said(
            "3",
            "gemini",
            "I will list.",
            thoughts=[thought],
            tokens={"input": 120, "output": 30, "cached": 20, "thoughts": 10},
        ),
        _said("3", "gemini", "I will list.", thoughts=[], toolCalls=[_tool("r", None)]),
        _said("3", "gemini", "I will list.", toolCalls=[_tool("r", "a.txt")], model="g"),
        _said("4", "user", [_response("r", "a.txt")]),
        {"$set": {"lastUpdated": "t"}},
    )
    assert got.messages == [
        Message(Role.USER, (Text(b"<session_context>\ntree</session_context>"),), "context"),
        Message(Role.USER, (Text(b"List the words"),)),
        Message(
            Role.ASSISTANT,
            (
                Thinking(b"Planning\nOne call."),
                Text(b"I will list."),
                ToolCall("r", "run", b'{"command":"ls"}'),
            ),
        ),
        Message(Role.TOOL, (ToolResult("r", (Text(b"a.txt"),)),)),
    ]
    assert got.messages[2].meta.usage == Usage(100, 40, 20)
    assert got.report.duplicates["tool result"] == 1
    assert got.report.info["title"] == "List the words"


def test_a_checkpoint_says_only_what_is_not_known() -> None:
    got = _read(
        {"$set": {"messages": [_said("1", "user", [{"text": "Hello"}])]}},
        _said("2", "gemini", "Hi", thoughts=[{"subject": "Plan"}]),
        {
            "$set": {
                "messages": [
                    _said("1", "user", [{"text": "Hello"}]),
                    _said("2", "gemini", "**Plan** Hi"),
                    _said("2", "user", [{"text": "same id, other type"}]),
                ]
            }
        },
        _said("3", "user", "More"),
    )
    assert [m.text for m in got.messages] == ["Hello", "Hi", "same id, other type", "More"]
    assert got.report.duplicates["checkpoint"] == 2


def test_rewinds_leave_what_they_take_back() -> None:
    records = [
        _said("1", "user", "One"),
        _said("2", "gemini", "1"),
        _said("3", "user", "Two"),
        {"$rewindTo": "2"},
        _said("4", "user", "Instead"),
    ]
    got = _read(*records)
    assert [m.text for m in got.messages] == ["One", "Instead"]
    assert got.report.branches == ["before-line-5"]
    everything = _read(*records, branch="all")
    assert [m.label for m in everything.messages] == ["", "left branch", "left branch", ""]
    other = _read(*records, branch="before-line-5")
    assert [m.text for m in other.messages] == ["One", "1", "Two"]
    unknown = _read(*records[:3], {"$rewindTo": "zz"}, records[4])
    assert [m.text for m in unknown.messages] == ["Instead"]


def test_a_second_header_is_no_new_session() -> None:
    got = _read(_said("1", "user", "One"), {**HEADER, "sessionId": "t"}, _said("2", "info", "note"))
    assert _told(got) == [("user", "", "One"), ("note", "info", "note")]
    assert got.report.info["id"] == "s"


def test_stream_joins_the_pieces_of_an_answer() -> None:
    def said(content: str, role: str = "assistant", **more: Any) -> Json:
        return {"type": "message", "timestamp": "t", "role": role, "content": content, **more}

    got = seen(
        jsonl(
            [
                {"type": "init", "timestamp": "t", "session_id": "s", "model": "g"},
                said("List", "user"),
                said("I will ", delta=True),
                said("list.", delta=True),
                {"type": "tool_use", "tool_name": "run", "tool_id": "r", "parameters": {"a": 1}},
                {
                    "type": "tool_result",
                    "tool_id": "r",
                    "status": "error",
                    "error": {"message": "no"},
                },
                said("Done.", delta=True),
                {
                    "type": "result",
                    "status": "success",
                    "stats": {"input_tokens": 9, "output_tokens": 2, "cached": 4},
                },
            ]
        )
    )
    assert got.format == "gemini_stream"
    assert got.messages[:5] == [
        Message(Role.USER, (Text(b"List"),)),
        Message(Role.ASSISTANT, (Text(b"I will list."),)),
        Message(Role.ASSISTANT, (ToolCall("r", "run", b'{"a":1}'),)),
        Message(Role.TOOL, (ToolResult("r", (Text(b"no"),), is_error=True),)),
        Message(Role.ASSISTANT, (Text(b"Done."),)),
    ]
    assert got.messages[5].meta.usage == Usage(5, 2, 4)
    assert got.report.info == {"id": "s", "model": "g", "title": "List"}
