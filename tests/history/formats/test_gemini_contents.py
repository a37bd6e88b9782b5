"""Gemini contents."""

from __future__ import annotations

import json
from typing import Any

import pytest

from snapcompact.history.model import Blob, Role, Text, Thinking, ToolCall, ToolResult
from tests.history.seen import Seen, sample, seen


def _read(body: Any) -> Seen:
    return seen(json.dumps(body).encode())


def test_request_with_thought_call_and_file() -> None:
    got = _read(
        {
            "systemInstruction": {"parts": [{"text": "Be brief."}]},
            "contents": [
                {
                    "role": "user",
                    "parts": [
                        {"text": "Where?"},
                        {"inlineData": {"mimeType": "application/pdf", "data": "JVBERi0="}},
                    ],
                },
                {
                    "role": "model",
                    "parts": [
                        {"text": "hm", "thought": True},
                        {"functionCall": {"id": "c1", "name": "where", "args": {"a": 1}}},
                    ],
                },
                {
                    "role": "user",
                    "parts": [
                        {
                            "functionResponse": {
                                "id": "c1",
                                "name": "where",
                                "response": {"output": "Mexico"},
                            }
                        }
                    ],
                },
            ],
        }
    )
    assert got.format == "gemini_contents"
    assert got.roles == {"system": 1, "user": 1, "assistant": 1, "tool": 1}
    file = got.messages[1].blocks[1]
    assert isinstance(file, Blob)
    assert (file.kind, file.mime, file.data) == ("file", "application/pdf", b"%PDF-")
    assert got.messages[2].blocks == (Thinking(b"hm"), ToolCall("c1", "where", b'{"a":1}'))
    assert got.messages[3].blocks == (ToolResult("c1", (Text(b"Mexico"),)),)


def test_snake_case_and_no_ids_pair_by_name() -> None:
    got = _read(
        [
            {"role": "model", "parts": [{"function_call": {"name": "f", "args": {}}}]},
            {
                "role": "user",
                "parts": [
                    {
                        "function_response": {
                            "name": "f",
                            "response": {"a": 1, "b": 2},
                            "parts": [
                                {"inline_data": {"mime_type": "image/png", "data": "iVBORw0KGgo="}}
                            ],
                        }
                    }
                ],
            },
        ]
    )
    assert got.format == "gemini_contents"
    assert got.pairs == (1, 0)
    result = got.messages[1].blocks[0]
    assert isinstance(result, ToolResult)
    assert result.content[0] == Text(b'{"a":1,"b":2}')
    assert isinstance(result.content[1], Blob)


def test_a_missing_role_and_unknown_parts() -> None:
    got = _read({"contents": [{"parts": [{"text": "Hi"}, {"videoMetadata": {"fps": 1}}]}]})
    assert got.messages[0].role is Role.USER
    assert got.kinds == {"Text": 1, "Other": 1}


def test_saved_chat() -> None:
    got = _read({"history": [{"role": "user", "parts": [{"text": "Hi"}]}], "authType": "x"})
    assert (got.format, got.texts) == ("gemini_contents", ["Hi"])


@pytest.mark.parametrize(
    ("name", "first"),
    [
        ("google_tool_output", "What is the largest city in the user country?"),
        ("thinking_with_tool_calls_from_other_model", "What is the capital of the country?"),
    ],
)
def test_samples(name: str, first: str) -> None:
    got = seen(sample(f"gemini_contents/pydanticai-{name}.json"))
    assert got.format == "gemini_contents"
    assert got.roles == {"user": 1, "assistant": 1, "tool": 1}
    assert (got.texts[0], got.texts[-1], got.pairs) == (first, "Mexico", (1, 0))
