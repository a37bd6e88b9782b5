"""ChatGPT's export."""

from __future__ import annotations

import json
from typing import Any

import pytest

from snapcompact.errors import UnknownNameError
from snapcompact.history.model import Blob, Role, Text, Thinking, ToolCall, ToolResult
from snapcompact.history.session import open_session
from tests.history.seen import Seen, sample, seen


def _node(key: str, parent: str | None, role: str, content: Any, **more: Any) -> dict[str, Any]:
    if isinstance(content, str):
        content = {"content_type": "text", "parts": [content]}
    message = {"id": f"m-{key}", "author": {"role": role}, "content": content, **more}
    return {"id": key, "parent": parent, "message": message}


def conversation(name: str = "c1") -> dict[str, Any]:
    nodes = [
        {"id": "root", "parent": None, "message": None},
        _node("q", "root", "user", "What is it?", create_time=1767323045.5),
        _node("old", "q", "assistant", "An old answer."),
        _node("thought", "q", "assistant", {"content_type": "thoughts", "thoughts": [
            {"summary": "Look", "content": "At the dot."}]}),
        _node("call", "thought", "assistant", {"content_type": "code", "text": '{"q":"dot"}'},
              recipient="web"),
        _node("hit", "call", "tool", {"content_type": "execution_output", "text": "A dot."}),
        _node("hit2", "hit", "tool", {"content_type": "tether_quote", "text": "Round."}),
        _node("a", "hit2", "assistant", {"content_type": "multimodal_text", "parts": [
            "It is \ue200cite\ue202x\ue201 a dot.",
            {"content_type": "image_asset_pointer", "asset_pointer": "sediment://file_1",
             "width": 8, "height": 8, "size_bytes": 99}]}, metadata={"model_slug": "gpt-x"}),
    ]  # fmt: skip
    return {
        "conversation_id": name,
        "title": "Dot",
        "current_node": "a",
        "mapping": {node["id"]: node for node in nodes},
    }


def _read(body: Any, **options: str) -> Seen:
    return seen(json.dumps(body).encode(), **options)


def test_the_active_path_with_call_and_results() -> None:
    got = _read(conversation())
    assert got.format == "chatgpt_export"
    assert [m.role for m in got.messages] == [
        Role.USER,
        Role.ASSISTANT,
        Role.ASSISTANT,
        Role.TOOL,
        Role.TOOL,
        Role.ASSISTANT,
    ]
    assert got.messages[0].meta.time == "2026-01-02T03:04:05.500Z"
    assert got.messages[1].blocks == (Thinking(b"Look\nAt the dot."),)
    assert got.messages[2].blocks == (ToolCall("m-call", "web", b'{"q":"dot"}'),)
    assert got.messages[4].blocks == (ToolResult("m-call", (Text(b"Round."),)),)
    text, picture = got.messages[5].blocks
    assert text == Text("It is \ue200cite\ue202x\ue201 a dot.".encode())
    assert isinstance(picture, Blob)
    assert (picture.ref, picture.width_px, picture.size) == ("sediment://file_1", 8, 99)
    assert got.report.branches == ["old"]
    assert got.report.info == {"id": "c1", "title": "Dot"}


def test_branches() -> None:
    everything = _read(conversation(), branch="all")
    assert everything.texts[-2:] == ["branch old from q, left", "An old answer."]
    assert _read(conversation(), branch="old").texts == ["What is it?", "An old answer."]
    with pytest.raises(UnknownNameError):
        _read(conversation(), branch="nowhere")


def test_without_current_node_the_newest_leaf_and_cycles_end() -> None:
    value = conversation()
    del value["current_node"]
    value["mapping"]["old"]["message"]["create_time"] = 9e9
    assert _read(value).texts == ["What is it?", "An old answer."]
    value["mapping"]["root"]["parent"] = "old"
    value["current_node"] = "old"
    assert _read(value).texts == ["What is it?", "An old answer."]


def test_many_conversations() -> None:
    listed = [conversation("c1"), conversation("c2")]
    got = _read(listed)
    assert [m.text for m in got.messages if m.label == "conversation"] == ["c1: Dot", "c2: Dot"]
    one = _read({"conversations": listed}, select="c2")
    assert one.messages == _read(conversation()).messages
    with open_session(json.dumps(listed).encode()) as session:
        assert [about.id for about in session.conversations] == ["c1", "c2"]
    with pytest.raises(UnknownNameError):
        _read(listed, select="c3")


def test_context_hidden_and_empty_messages() -> None:
    nodes = [
        _node("1", None, "system", ""),
        _node("2", "1", "user", {"content_type": "user_editable_context", "user_profile": "Me"}),
        _node("3", "2", "user", "psst", metadata={"is_visually_hidden_from_conversation": True}),
    ]
    got = _read({"id": "c", "mapping": {node["id"]: node for node in nodes}})
    assert [(m.label, m.text) for m in got.messages] == [("context", "Me"), ("hidden", "psst")]
    assert got.report.skipped == {"empty message": 1}


@pytest.mark.parametrize(
    ("name", "roles", "kinds", "branches"),
    [
        (
            "cass-conv-structured-parts",
            {"user": 1, "assistant": 1},
            {"Text": 4, "Blob": 1},
            [],
        ),
        ("mitkury-example-conversation", {"user": 2, "assistant": 2}, {"Text": 4}, ["msg-5"]),
        (
            "polylogue-native-conversation-v1",
            {"system": 1, "user": 1, "assistant": 4, "tool": 1},
            {"Text": 3, "Blob": 3, "Thinking": 2, "ToolCall": 1, "ToolResult": 1},
            ["answer-inactive"],
        ),
        (
            "polylogue-representative-01",
            {"user": 1, "assistant": 2},
            {"Text": 1, "ToolCall": 2},
            ["6cedd15d-5800-4c02-87ea-7ff58db06746"],
        ),
    ],
)
def test_samples(
    name: str, roles: dict[str, int], kinds: dict[str, int], branches: list[str]
) -> None:
    got = seen(sample(f"chatgpt_export/{name}.json"))
    assert got.format == "chatgpt_export"
    assert (got.roles, got.kinds, got.report.branches) == (roles, kinds, branches)
    assert got.pairs[1] == 0


def test_words_of_a_sample() -> None:
    got = seen(sample("chatgpt_export/mitkury-example-conversation.json"))
    assert got.texts[0] == "Hello! Can you help me with a programming question?"
    assert got.texts[-1].startswith("Here's how to write a function in JavaScript:")
