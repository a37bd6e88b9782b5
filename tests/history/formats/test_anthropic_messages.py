"""Anthropic requests."""

from __future__ import annotations

import json
from typing import Any

import pytest

from snapcompact.history.model import Blob, Role, Text, Thinking, ToolResult
from tests.history.seen import Seen, sample, seen


def _read(body: Any) -> Seen:
    return seen(json.dumps(body).encode())


def test_results_in_one_user_message_come_before_its_words() -> None:
    got = _read(
        {
            "model": "claude-x",
            "max_tokens": 10,
            "system": [{"type": "text", "text": "Be brief."}],
            "messages": [
                {"role": "user", "content": "Show the dot"},
                {
                    "role": "assistant",
                    "content": [
                        {"type": "thinking", "thinking": "", "signature": "EqAB"},
                        {"type": "redacted_thinking", "data": "EvgF00"},
                        {"type": "tool_use", "id": "t1", "name": "read", "input": {"path": "a"}},
                        {"type": "tool_use", "id": "t2", "name": "stat", "input": {}},
                    ],
                },
                {
                    "role": "user",
                    "content": [
                        {"type": "text", "text": "and?"},
                        {"type": "tool_result", "tool_use_id": "t2", "content": "67 bytes"},
                        {"type": "tool_result", "tool_use_id": "t1", "is_error": True},
                    ],
                },
            ],
        }
    )
    assert got.format == "anthropic_messages"
    assert [m.role for m in got.messages] == [
        Role.SYSTEM,
        Role.USER,
        Role.ASSISTANT,
        Role.TOOL,
        Role.TOOL,
        Role.USER,
    ]
    assert got.messages[2].blocks[:2] == (Thinking(b"", 4), Thinking(b"", 6))
    assert got.messages[4].blocks == (ToolResult("t1", (), is_error=True),)
    assert got.texts[-1] == "and?"
    assert got.pairs == (2, 0)


def test_pictures_and_documents() -> None:
    got = _read(
        {
            "model": "claude-x",
            "messages": [
                {
                    "role": "user",
                    "content": [
                        {
                            "type": "image",
                            "source": {"type": "url", "url": "https://a.invalid/x.png"},
                        },
                        {
                            "type": "document",
                            "source": {"type": "text", "media_type": "text/plain", "data": "words"},
                        },
                    ],
                }
            ],
        }
    )
    assert got.format == "anthropic_messages"
    picture, words = got.messages[0].blocks
    assert isinstance(picture, Blob)
    assert (picture.ref, picture.data) == ("https://a.invalid/x.png", None)
    assert words == Text(b"words")


@pytest.mark.parametrize(
    ("body", "format_name"),
    [
        ({"max_tokens": 1, "system": "s", "messages": [{"role": "user", "content": "x"}]}, True),
        ({"model": "claude-x", "messages": [{"role": "user", "content": "x"}]}, True),
        ([{"role": "assistant", "content": [{"type": "tool_use", "id": "t"}]}], True),
        ({"model": "gpt-x", "messages": [{"role": "user", "content": "x"}]}, False),
    ],
)
def test_detection(body: Any, *, format_name: bool) -> None:
    assert (_read(body).format == "anthropic_messages") is format_name


@pytest.mark.parametrize(
    ("name", "roles", "kinds", "pairs", "last"),
    [
        (
            "anthropic_code_execution_tool",
            {"system": 1, "user": 1},
            {"Text": 2},
            (0, 0),
            "How much is 3 * 12390?",
        ),
        (
            "anthropic_model_thinking_part_redacted",
            {"user": 2, "assistant": 1},
            {"Text": 3, "Thinking": 1},
            (0, 0),
            "What was that?",
        ),
        (
            "anthropic_web_search_tool",
            {"user": 2, "assistant": 2, "tool": 1},
            {"Text": 21, "Thinking": 1, "ToolCall": 1, "ToolResult": 1},
            (1, 0),
            "how about Mexico City?",
        ),
    ],
)
def test_samples(
    name: str, roles: dict[str, int], kinds: dict[str, int], pairs: tuple[int, int], last: str
) -> None:
    got = seen(sample(f"anthropic_messages/pydanticai-{name}.json"))
    assert got.format == "anthropic_messages"
    assert (got.roles, got.kinds, got.pairs) == (roles, kinds, pairs)
    assert got.texts[-1] == last
