"""Vercel AI SDK messages."""

from __future__ import annotations

import json
from typing import Any

import pytest

from snapcompact.history.model import Blob, Other, Role, Text, Thinking, ToolCall, ToolResult
from tests.history.seen import Seen, sample, seen

PNG = [137, 80, 78, 71, 13, 10, 26, 10]


def _read(body: Any) -> Seen:
    return seen(json.dumps(body).encode())


def test_parts_of_version_5() -> None:
    got = _read(
        [
            {
                "id": "a1",
                "role": "assistant",
                "parts": [
                    {"type": "step-start"},
                    {"type": "reasoning", "text": "One call.", "state": "done"},
                    {
                        "type": "tool-bash",
                        "toolCallId": "c1",
                        "state": "output-available",
                        "input": {"command": "ls"},
                        "output": {"stdout": "a"},
                    },
                    {
                        "type": "dynamic-tool",
                        "toolName": "x",
                        "toolCallId": "c2",
                        "state": "output-error",
                        "input": {},
                        "errorText": "no",
                    },
                    {"type": "tool-y", "toolCallId": "c3", "state": "input-available", "input": {}},
                    {"type": "tool-z", "toolCallId": "c4", "state": "output-denied", "input": {}},
                    {"type": "data-chart", "data": {"x": 1}},
                    {"type": "text", "text": "One file."},
                ],
            }
        ]
    )
    assert got.format == "vercel_ai"
    calls = [b for m in got.messages for b in m.blocks if isinstance(b, ToolCall)]
    assert [(c.id, c.name) for c in calls] == [
        ("c1", "bash"),
        ("c2", "x"),
        ("c3", "y"),
        ("c4", "z"),
    ]
    results = [b for m in got.messages for b in m.blocks if isinstance(b, ToolResult)]
    assert results == [
        ToolResult("c1", (Text(b'{"stdout":"a"}'),)),
        ToolResult("c2", (Text(b"no"),), is_error=True),
        ToolResult("c4", (Text(b"denied by the user"),), is_error=True),
    ]
    assert got.messages[-1].blocks == (
        Other("data-chart", b'{"type":"data-chart","data":{"x":1}}'),
        Text(b"One file."),
    )
    assert got.report.skipped == {"step-start": 1}


def test_version_4_says_nothing_twice() -> None:
    invocation = {
        "state": "result",
        "toolCallId": "c1",
        "toolName": "bash",
        "args": {"a": 1},
        "result": "out",
    }
    message = {
        "role": "assistant",
        "content": "Done.",
        "reasoning": "x",
        "toolInvocations": [invocation],
        "parts": [
            {"type": "reasoning", "reasoning": "x", "details": []},
            {"type": "tool-invocation", "toolInvocation": invocation},
            {"type": "text", "text": "Done."},
        ],
    }
    whole = _read([message])
    bare = _read([{key: value for key, value in message.items() if key != "parts"}])
    for got in (whole, bare):
        assert got.format == "vercel_ai"
        assert got.kinds == {"Thinking": 1, "ToolCall": 1, "ToolResult": 1, "Text": 1}
        assert got.pairs == (1, 0)
    assert whole.report.duplicates == {"tool invocation beside its part": 1}


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        ({"type": "text", "value": "a"}, ToolResult("c", (Text(b"a"),))),
        ({"type": "json", "value": {"a": 1}}, ToolResult("c", (Text(b'{"a":1}'),))),
        ({"type": "error-text", "value": "bad"}, ToolResult("c", (Text(b"bad"),), is_error=True)),
        (
            {"type": "content", "value": [{"type": "text", "text": "a"}]},
            ToolResult("c", (Text(b"a"),)),
        ),
        (
            {"type": "execution-denied"},
            ToolResult("c", (Text(b"execution denied"),), is_error=True),
        ),
    ],
)
def test_outputs_of_model_messages(output: Any, expected: ToolResult) -> None:
    result = {"type": "tool-result", "toolCallId": "c", "toolName": "f", "output": output}
    call = {"type": "tool-call", "toolCallId": "c", "toolName": "f", "input": {}}
    got = _read([{"role": "assistant", "content": [call]}, {"role": "tool", "content": [result]}])
    assert got.messages[1].role is Role.TOOL
    assert got.messages[1].blocks == (expected,)


@pytest.mark.parametrize(
    "place",
    [
        {"data": {str(n): byte for n, byte in enumerate(PNG)}},
        {"data": {"type": "Buffer", "data": PNG}},
        {"data": "iVBORw0KGgo="},
        {"url": "data:image/png;base64,iVBORw0KGgo="},
    ],
)
def test_bytes_however_spelled(place: dict[str, Any]) -> None:
    got = _read([{"role": "user", "parts": [{"type": "file", "mediaType": "image/png", **place}]}])
    picture = got.messages[0].blocks[0]
    assert isinstance(picture, Blob)
    assert (picture.kind, picture.data) == ("image", bytes(PNG))


@pytest.mark.parametrize("odd", [None, True, 3, "x", {}, [None], [[]]])
def test_odd_fields_are_survived(odd: Any) -> None:
    parts = [
        {"type": "text", "text": "kept"},
        {"type": "reasoning", "details": odd},
        {"type": "tool-invocation", "toolInvocation": odd},
        {"type": "file", "data": odd},
        {"type": odd},
        odd,
    ]
    got = _read([{"role": "user", "parts": parts, "toolInvocations": odd}, odd])
    assert got.texts[0].startswith("kept")


@pytest.mark.parametrize("version", ["4", "6"])
def test_samples(version: str) -> None:
    got = seen(sample(f"vercel_ai/gen-aisdk{version}-uimessages.json"))
    assert got.format == "vercel_ai"
    assert got.roles == {"user": 1, "assistant": 2, "tool": 1}
    assert got.pairs == (1, 0)
    assert got.kinds["Thinking"] == 2
    assert (got.texts[0], got.texts[-1]) == ("Please list the words", "Done: the tool answered.")
    assert got.kinds.get("Blob", 0) == (version == "6")
    assert got.messages[1].blocks[0] == Thinking(b"Two words are wanted; one shell call is enough.")
