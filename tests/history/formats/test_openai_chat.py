"""OpenAI Chat Completions messages."""

from __future__ import annotations

import json
from typing import Any

import pytest

from snapcompact.history.model import (
    Blob,
    Message,
    Role,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Usage,
)
from tests.history.seen import sample, seen
from tests.history.sessions import DOT, jsonl

REQUEST: dict[str, Any] = {
    "model": "gpt-x",
    "messages": [
        {"role": "system", "content": "Be brief."},
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "What is it?"},
                {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{DOT}"}},
                {
                    "type": "file",
                    "file": {
                        "filename": "a.pdf",
                        "file_data": "data:application/pdf;base64,JVBERi0=",
                    },
                },
            ],
        },
        {
            "role": "assistant",
            "content": None,
            "reasoning_content": "One call.",
            "tool_calls": [
                {"id": "c", "type": "function", "function": {"name": "now", "arguments": "{}"}}
            ],
        },
        {"role": "tool", "tool_call_id": "c", "content": "Noon"},
        {"role": "assistant", "content": "A dot, at noon."},
    ],
}


@pytest.mark.parametrize(
    ("name", "kinds", "pairs", "first", "last"),
    [
        (
            "pydanticai-compatible_api_with_tool_calls_without_id.json",
            {"Text": 1, "ToolCall": 1, "ToolResult": 1},
            (1, 0),
            "What is the current time?",
            "Noon",
        ),
        (
            "pydanticai-document_as_binary_content_input_with_tool.json",
            {"Text": 1, "Blob": 1, "ToolCall": 1, "ToolResult": 1},
            (1, 0),
            "What is the main content on this document? Use the get_upper_case tool",
            "DUMMY PDF FILE",
        ),
        (
            "sweagent-function-calling-simple.traj.json",
            {"Text": 7, "ToolCall": 5, "ToolResult": 5},
            (5, 0),
            "SETTING: You are an autonomous programmer, and you're working directly",
            "\r\ndiff --git a/tests/missing_colon.py b/tests/missing_colon.py\r\nindex ",
        ),
        (
            "sweagent-marshmallow-1867-function-calling.traj.json",
            {"Text": 13, "ToolCall": 11, "ToolResult": 11},
            (11, 0),
            "SETTING: You are an autonomous programmer, and you're working directly",
            "\r\ndiff --git a/src/marshmallow/fields.py b/src/marshmallow/fields.py\r\n",
        ),
    ],
)
def test_samples(
    name: str, kinds: dict[str, int], pairs: tuple[int, int], first: str, last: str
) -> None:
    got = seen(sample(f"openai_chat_completions/{name}"))
    assert got.format == "openai_chat"
    assert got.kinds == kinds
    assert got.pairs == pairs
    assert got.texts[0].startswith(first)
    assert got.texts[-1].startswith(last)
    assert got.report.damage.total == 0


def _expect(messages: list[Message]) -> None:
    user = messages[1].blocks
    assert messages[0] == Message(Role.SYSTEM, (Text(b"Be brief."),))
    assert user[0] == Text(b"What is it?")
    assert [(b.kind, b.mime, b.name, b.width_px) for b in user[1:] if isinstance(b, Blob)] == [
        ("image", "image/png", "", 8),
        ("file", "application/pdf", "a.pdf", 0),
    ]
    assert messages[2:] == [
        Message(Role.ASSISTANT, (Thinking(b"One call."), ToolCall("c", "now", b"{}"))),
        Message(Role.TOOL, (ToolResult("c", (Text(b"Noon"),)),)),
        Message(Role.ASSISTANT, (Text(b"A dot, at noon."),)),
    ]


@pytest.mark.parametrize(
    "data",
    [
        json.dumps(REQUEST).encode(),
        json.dumps(REQUEST, indent=2).encode(),
        json.dumps(REQUEST["messages"]).encode(),
        json.dumps(REQUEST["messages"], indent=1).encode() + b"\n",
        jsonl(REQUEST["messages"]),
        b"\xef\xbb\xbf" + jsonl(REQUEST["messages"]).replace(b"\n", b"\r\n"),
    ],
)
def test_a_document_and_lines_say_the_same(data: bytes) -> None:
    got = seen(data)
    assert got.format == "openai_chat"
    _expect(got.messages)
    assert got.report.damage.total == 0


def test_requests_on_lines_follow_each_other() -> None:
    got = seen(jsonl([REQUEST, REQUEST]))
    assert len(got.messages) == 10
    _expect(got.messages[5:])


def test_a_damaged_document_is_read_where_it_can_be() -> None:
    got = seen(json.dumps(REQUEST).encode().replace(b"Noon", b"No\xe9n"))
    assert got.texts[2] == "No\ufffdn"
    assert got.report.damage.counts == {"invalid-utf8": 1}


def test_old_functions_pair_and_keep_their_name() -> None:
    got = seen(
        jsonl(
            [
                {
                    "role": "assistant",
                    "content": None,
                    "function_call": {"name": "f", "arguments": "{}"},
                },
                {"role": "function", "name": "f", "content": "1"},
            ]
        )
    )
    assert got.pairs == (1, 0)
    assert got.messages[1].label == "function f"


def test_usage_that_can_be_true_is_kept() -> None:
    said = {"role": "assistant", "content": "a"}
    spent = {
        "prompt_tokens": 10,
        "completion_tokens": 2,
        "prompt_tokens_details": {"cached_tokens": 4},
    }
    got = seen(jsonl([{**said, "usage": spent}, {**said, "usage": {"prompt_tokens": 10**12}}]))
    assert [m.meta.usage for m in got.messages] == [Usage(6, 2, 4), None]
