"""Fine-tune data."""

from __future__ import annotations

import json

from snapcompact.history.model import Blob, Role, Text, Thinking, ToolCall, ToolResult
from snapcompact.history.session import open_session
from tests.history.seen import sample, seen

LINES = [
    {
        "messages": [
            {"role": "user", "content": "Take off"},
            {
                "role": "assistant",
                "tool_calls": [
                    {
                        "id": "call_id",
                        "type": "function",
                        "function": {"name": "takeoff", "arguments": '{"altitude": 100}'},
                    }
                ],
            },
        ],
        "parallel_tool_calls": False,
    },
    {
        "messages": [
            {"role": "user", "content": [{"type": "text", "value": "Weather?"}]},
            {
                "role": "assistant",
                "content": [
                    {"type": "reasoning", "value": "Ask."},
                    {"type": "tool_call", "value": '{"name": "ask", "arguments": {}}'},
                    {"type": "tool_call", "value": '{"name": broken'},
                ],
            },
            {"role": "tool", "content": [{"type": "text", "value": "Sun"}]},
        ]
    },
]
BYTES = b"\n".join(json.dumps(line).encode() for line in LINES)


def test_each_line_is_a_conversation() -> None:
    got = seen(BYTES)
    assert got.format == "openai_finetune"
    assert [m.label for m in got.messages if m.role is Role.NOTE] == ["conversation"] * 2
    assert got.messages[2].blocks == (ToolCall("call_id", "takeoff", b'{"altitude": 100}'),)
    with open_session(BYTES) as session:
        assert [about.id for about in session.conversations] == ["1", "2"]


def test_typed_values() -> None:
    got = seen(BYTES, select="2")
    answer = got.messages[1]
    assert answer.blocks[:2] == (Thinking(b"Ask."), ToolCall("", "ask", b"{}"))
    assert got.kinds["Other"] == 1
    assert got.messages[2].blocks == (ToolResult("", (Text(b"Sun"),)),)
    assert got.pairs == (1, 0)


def test_samples() -> None:
    toy = seen(sample("openai_finetune/cookbook-toy-chat-first4.jsonl"))
    assert (toy.format, toy.texts[-1]) == ("openai_finetune", "You're great!")
    assert toy.roles == {"note": 4, "system": 3, "user": 6, "assistant": 7}
    pictures = seen(sample("openai_finetune/llamafactory-mllm-demo.json"))
    assert pictures.kinds == {"Text": 30, "Blob": 8}
    first = pictures.messages[1].blocks[1]
    assert isinstance(first, Blob)
    assert first.ref == "mllm_demo_data/1.jpg"
    tools = seen(sample("openai_finetune/llamafactory-reason-tool-use-50.jsonl"))
    assert tools.roles == {"note": 50, "system": 50, "user": 70, "assistant": 112, "tool": 42}
    assert tools.kinds == {"Text": 229, "Thinking": 112, "ToolCall": 68, "ToolResult": 42}
    assert tools.pairs == (42, 0)
