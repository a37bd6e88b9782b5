"""ShareGPT data."""

from __future__ import annotations

import json
from typing import Any

import pytest

from snapcompact.errors import UnknownNameError
from snapcompact.history.model import Blob, Other, Role, Text, ToolCall
from snapcompact.history.session import open_session
from tests.history.seen import Seen, sample, seen

CALL = {"from": "function_call", "value": '{"name": "f", "arguments": {"a": 1}}'}
DATA = [
    {
        "id": "one",
        "conversations": [
            {"from": "human", "value": "Who are you?"},
            CALL,
            {"from": "observation", "value": '{"ok": true}'},
            {"from": "gpt", "value": "A model."},
        ],
        "tools": "[]x",
    },
    {"conversations": [{"from": "human", "value": "<image>Who?"}], "images": ["a.jpg", "b.jpg"]},
]


def _read(body: Any, select: str = "") -> Seen:
    return seen(json.dumps(body).encode(), select=select)


def test_an_array_of_conversations() -> None:
    got = _read(DATA)
    assert got.format == "sharegpt"
    assert got.roles == {"note": 2, "user": 2, "assistant": 2, "tool": 1}
    assert got.messages[2].blocks == (ToolCall("", "f", b'{"a":1}'),)
    assert got.pairs == (1, 0)
    picture = got.messages[-1].blocks[1]
    assert isinstance(picture, Blob)
    assert (picture.kind, picture.ref) == ("image", "a.jpg")
    assert got.report.skipped == {"tool definitions": 1}


def test_lines_read_as_the_array_does() -> None:
    lines = b"\n".join(json.dumps(item).encode() for item in DATA)
    assert seen(lines).messages == _read(DATA).messages


def test_one_conversation_by_id_or_number() -> None:
    assert _read(DATA, "one").texts == ["Who are you?", '{"ok": true}', "A model."]
    assert _read(DATA, "2").texts == ["<image>Who?"]
    with pytest.raises(UnknownNameError):
        _read(DATA, "three")
    with open_session(json.dumps(DATA).encode()) as session:
        assert [about.id for about in session.conversations] == ["one", "2"]


def test_odd_turns_and_preference_data() -> None:
    got = _read(
        [
            {
                "system": "Be kind",
                "conversations": [
                    {"from": "narrator", "value": "Once"},
                    {"from": "function_call", "value": "not JSON"},
                    {"from": "human", "value": None},
                ],
                "chosen": {"from": "gpt", "value": "yes"},
                "rejected": {"from": "gpt", "value": "no"},
            }
        ]
    )
    assert [(m.role, m.label) for m in got.messages[1:]] == [
        (Role.SYSTEM, ""),
        (Role.NOTE, "narrator"),
        (Role.ASSISTANT, ""),
        (Role.ASSISTANT, "chosen"),
        (Role.ASSISTANT, "rejected"),
    ]
    assert got.messages[3].blocks == (Other("function_call", b"not JSON"),)
    assert got.messages[-1].blocks == (Text(b"no"),)


def test_sample() -> None:
    got = seen(sample("sharegpt/llamafactory-glaive-toolcall-first60.json"))
    assert got.format == "sharegpt"
    assert got.roles == {"note": 60, "user": 156, "assistant": 200, "tool": 44}
    assert got.kinds == {"Text": 372, "ToolCall": 44, "ToolResult": 44}
    assert got.pairs == (44, 0)
    assert got.texts[1].startswith("Hi, I have some ingredients")
