"""Responses items."""

from __future__ import annotations

import json
from typing import Any

import pytest

from snapcompact.history.model import Blob, Role, Text, Thinking, ToolCall, ToolResult
from tests.history.seen import Seen, sample, seen

DOT = (
    "iVBORw0KGgoAAAANSUhEUgAAAAgAAAAICAIAAABLbSncAAAAEklEQVR4nGP4z8CAFWEXHbQSACj/P8Fu7N9hAAAA"
    "AElFTkSuQmCC"
)


def _read(body: Any) -> Seen:
    return seen(json.dumps(body).encode())


def test_request_of_every_item_kind() -> None:
    got = _read(
        {
            "model": "gpt-x",
            "instructions": "Be brief.",
            "input": [
                {"role": "user", "content": "What time is it?"},
                {"type": "reasoning", "summary": [{"type": "summary_text", "text": "Look"}]},
                {"type": "reasoning", "summary": [], "encrypted_content": "gAAAAAB0"},
                {
                    "type": "function_call",
                    "id": "fc_1",
                    "call_id": "c1",
                    "name": "now",
                    "arguments": "{}",
                },
                {
                    "type": "function_call_output",
                    "call_id": "c1",
                    "output": [
                        {"type": "input_text", "text": "Noon"},
                        {"type": "input_image", "image_url": f"data:image/png;base64,{DOT}"},
                    ],
                },
                {"type": "web_search_call", "id": "ws_1", "action": {"query": "noon"}},
                {
                    "type": "message",
                    "role": "assistant",
                    "content": [{"type": "output_text", "text": "Noon."}],
                },
            ],
        }
    )
    assert got.format == "openai_responses"
    assert [m.role for m in got.messages] == [
        Role.SYSTEM,
        Role.USER,
        Role.ASSISTANT,
        Role.ASSISTANT,
        Role.ASSISTANT,
        Role.TOOL,
        Role.ASSISTANT,
        Role.ASSISTANT,
    ]
    assert got.messages[2].blocks == (Thinking(b"Look"),)
    assert got.messages[3].blocks == (Thinking(b"", 8),)
    result = got.messages[5].blocks[0]
    assert isinstance(result, ToolResult)
    assert result.call_id == "c1"
    assert isinstance(result.content[1], Blob)
    assert (result.content[1].width_px, result.content[1].height_px) == (8, 8)
    assert got.messages[6].blocks == (
        ToolCall("ws_1", "web_search", b'{"action":{"query":"noon"}}'),
    )
    assert got.texts[-1] == "Noon."
    assert got.pairs == (1, 0)


@pytest.mark.parametrize("listed", [True, False])
def test_a_bare_list_and_a_string_are_input(*, listed: bool) -> None:
    items = [{"type": "function_call", "call_id": "c", "name": "f", "arguments": None}]
    got = _read(items if listed else {"model": "gpt-x", "input": "Hello"})
    assert got.format == "openai_responses"
    assert got.texts == ([] if listed else ["Hello"])
    assert got.kinds == ({"ToolCall": 1} if listed else {"Text": 1})


def test_joined_ids_pair() -> None:
    got = _read(
        [
            {"type": "function_call", "call_id": "call_1|fc_1", "name": "f", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "call_1", "output": "done"},
        ]
    )
    assert got.pairs == (1, 0)


def test_server_tools_hold_call_and_result() -> None:
    got = _read(
        [
            {
                "type": "code_interpreter_call",
                "id": "ci",
                "code": "1+1",
                "outputs": [{"type": "logs", "logs": "2"}],
            },
            {"type": "code_interpreter_call", "id": "cj", "code": "2", "outputs": None},
            {"type": "mcp_call", "id": "m", "name": "ask", "arguments": "{}", "error": "no"},
            {"type": "image_generation_call", "id": "ig", "result": DOT},
        ]
    )
    results = [m.blocks[0] for m in got.messages if m.role is Role.TOOL]
    assert got.kinds == {"ToolCall": 4, "ToolResult": 3}
    assert results[0] == ToolResult("ci", (Text(b"2"),))
    assert results[1] == ToolResult("m", (Text(b"no"),), is_error=True)
    assert got.pairs == (3, 0)


def test_a_partial_history_says_so() -> None:
    got = _read({"model": "m", "input": "and?", "previous_response_id": "resp_1"})
    assert got.report.notes == ["only the end of a conversation: the earlier part is on the server"]


@pytest.mark.parametrize(
    ("name", "roles", "kinds", "pairs", "last"),
    [
        (
            "pydanticai-openai_responses_model_web_search_tool.json",
            {"system": 1, "user": 2, "assistant": 4},
            {"Text": 4, "Thinking": 2, "ToolCall": 1},
            (0, 0),
            "how about Mexico City?",
        ),
        (
            "pydanticai-openai_responses_thinking_with_code_execution_tool.json",
            {"user": 2, "assistant": 4},
            {"Text": 3, "Thinking": 2, "ToolCall": 1},
            (0, 0),
            "how about 2 to the power of 8?",
        ),
        (
            "pydanticai-tool_output.json",
            {"user": 1, "assistant": 1, "tool": 1},
            {"Text": 1, "ToolCall": 1, "ToolResult": 1},
            (1, 0),
            "Mexico",
        ),
    ],
)
def test_samples(
    name: str, roles: dict[str, int], kinds: dict[str, int], pairs: tuple[int, int], last: str
) -> None:
    got = seen(sample(f"openai_responses/{name}"))
    assert got.format == "openai_responses"
    assert (got.roles, got.kinds, got.pairs) == (roles, kinds, pairs)
    assert got.texts[-1] == last
    assert not got.report.damage.counts


def test_sealed_reasoning_of_a_sample_has_its_size_alone() -> None:
    got = seen(sample("openai_responses/pydanticai-openai_responses_model_web_search_tool.json"))
    sealed = [b for m in got.messages for b in m.blocks if isinstance(b, Thinking)]
    assert all(not block.data and block.sealed_bytes > 1000 for block in sealed)
