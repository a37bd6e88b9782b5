"""Requests fit for replay."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given

from snapcompact.history.blobs import blob, missing
from snapcompact.history.export import export
from snapcompact.history.model import Message, Meta, Role, Text, Thinking, ToolCall, ToolResult
from tests.history.seen import seen
from tests.strategies import histories

PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x08\0\0\0\x08"


def _call(name: str, args: bytes = b"{}") -> ToolCall:
    return ToolCall(name, "f", args)


def _result(name: str, text: bytes = b"ok", **more: Any) -> Message:
    return Message(Role.TOOL, (ToolResult(name, (Text(text),), **more),))


def _says(role: Role, text: bytes, label: str = "") -> Message:
    return Message(role, (Text(text),), label)


def _request(messages: list[Message], to: str) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(b"".join(export(messages, to)))
    return value


def check_openai(request: dict[str, Any]) -> None:
    """What the API refuses: half pairs, repeated ids, names and contents it does not take."""
    waiting: list[str] = []
    used: set[str] = set()
    for message in request["messages"]:
        if message["role"] == "tool":
            waiting.remove(message["tool_call_id"])
            assert isinstance(message["content"], str)
            continue
        assert waiting == []
        assert message["role"] in ("system", "user", "assistant")
        assert message["content"] or message.get("tool_calls")
        for call in message.get("tool_calls", ()):
            assert isinstance(json.loads(call["function"]["arguments"]), dict)
            assert re.fullmatch(r"[A-Za-z0-9_-]{1,64}", call["function"]["name"])
            assert call["id"] not in used
            used.add(call["id"])
            waiting.append(call["id"])
    assert waiting == []


def check_anthropic(request: dict[str, Any]) -> None:
    """What the API refuses: roles that do not alternate, half pairs, empty texts."""
    open_calls: list[str] = []
    for at, message in enumerate(request["messages"]):
        assert message["role"] == ("assistant" if at % 2 else "user")
        results = [b["tool_use_id"] for b in message["content"] if b["type"] == "tool_result"]
        assert sorted(results) == sorted(open_calls)
        assert all(b["type"] == "tool_result" for b in message["content"][: len(results)])
        open_calls = [b["id"] for b in message["content"] if b["type"] == "tool_use"]
        assert len(set(open_calls)) == len(open_calls)
        for block in message["content"]:
            assert block["type"] != "text" or block["text"].strip()
    assert open_calls == []


CHECKS = {"openai": check_openai, "anthropic": check_anthropic}


@given(histories)
@pytest.mark.parametrize("to", sorted(CHECKS))
def test_any_history_is_valid(to: str, history: list[Message]) -> None:
    CHECKS[to](_request(history, to))


STORY = [
    _says(Role.SYSTEM, b"Be brief."),
    _says(Role.USER, b"Go"),
    Message(Role.ASSISTANT, (Thinking(b"hm"), Text(b"Two calls."), _call("a"), _call("b", b"x"))),
    _result("b", b"second"),
    _says(Role.NOTE, b"compacted", "compaction"),
    _result("a", b"first", is_error=True),
    _result("zz", b"orphan"),
    Message(Role.ASSISTANT, (_call("a"), Text(b"Done. ")), meta=Meta(model="m-1")),
]


def test_openai() -> None:
    request = _request(STORY, "openai")
    assert request["model"] == "m-1"
    roles = [message["role"] for message in request["messages"]]
    assert roles == ["system", "user", "assistant", "tool", "tool", "user", "assistant"]
    answer = request["messages"][2]
    assert answer["content"] == "Two calls."
    arguments = [call["function"]["arguments"] for call in answer["tool_calls"]]
    assert arguments == ["{}", '{"input":"x"}']
    assert [m["content"] for m in request["messages"][3:5]] == ["Error: first", "second"]
    assert request["messages"][5]["content"] == (
        "[compaction]\n\ncompacted\n\n[result of a tool call that is not here: zz]\n\norphan"
    )
    assert request["messages"][6]["content"] == "[tool call without a result: f({})]\n\nDone. "


def test_anthropic() -> None:
    request = _request(STORY, "anthropic")
    assert request["system"] == [{"type": "text", "text": "Be brief."}]
    assert (request["model"], request["max_tokens"]) == ("m-1", 4096)
    assert [m["role"] for m in request["messages"]] == ["user", "assistant", "user", "assistant"]
    results = request["messages"][2]["content"]
    assert results[0] == {
        "type": "tool_result",
        "tool_use_id": "a",
        "content": [{"type": "text", "text": "first"}],
        "is_error": True,
    }
    assert request["messages"][3]["content"][-1]["text"] == "Done."


def test_ids_are_unique_where_the_session_repeats_them() -> None:
    turn = [Message(Role.ASSISTANT, (_call("x"),)), _result("x")]
    for to, check in CHECKS.items():
        request = _request([_says(Role.USER, b"Go"), *turn, *turn], to)
        check(request)
        assert json.dumps(request).count('"call_1"') == 2


def test_pictures() -> None:
    picture = blob("image", "", PNG)
    story = [
        Message(Role.USER, (Text(b"See"), picture, missing("image", "far away"))),
        Message(Role.ASSISTANT, (_call("a"),)),
        Message(Role.TOOL, (ToolResult("a", (Text(b"dot"), picture)),)),
    ]
    openai = _request(story, "openai")["messages"]
    assert [part["type"] for part in openai[0]["content"]] == ["text", "image_url", "text"]
    assert openai[0]["content"][2]["text"] == "[image, far away]"
    assert openai[2]["content"].startswith("dot\n\n[image PNG 8x8, 24 bytes")
    assert openai[3]["content"][1]["image_url"]["url"].startswith("data:image/png;base64,iVBOR")
    anthropic = _request(story, "anthropic")["messages"]
    result = anthropic[2]["content"][0]
    assert [part["type"] for part in result["content"]] == ["text", "image"]


def test_exports_read_back_with_the_same_words() -> None:
    for to, name in (("openai", "openai_chat"), ("anthropic", "anthropic_messages")):
        got = seen(b"".join(export(STORY, to)))
        assert got.format == name
        assert got.pairs == (2, 0)
        assert got.texts[:2] == (["Be brief.", "Go"])
