"""Claude.ai's export."""

from __future__ import annotations

import json
from typing import Any

from snapcompact.history.model import Blob, Text, Thinking, ToolCall, ToolResult
from snapcompact.history.session import open_session
from tests.history.seen import Seen, sample, seen

QUESTION: dict[str, Any] = {
    "uuid": "m1",
    "sender": "human",
    "text": "",
    "content": [{"type": "text", "text": "What is it?"}],
    "created_at": "2026-01-02T03:04:05.000000Z",
    "attachments": [{"file_name": "a.txt", "file_type": "txt", "extracted_content": "abc"}],
    "files": [{"file_name": "dot.png", "file_kind": "image", "file_uuid": "f1"}],
    "parent_message_uuid": "00000000-0000-4000-8000-000000000000",
}
ANSWER: dict[str, Any] = {
    "uuid": "m2",
    "sender": "assistant",
    "text": "A dot.",
    "content": [
        {"type": "thinking", "thinking": "Easy."},
        {"type": "tool_use", "name": "artifacts", "input": {"id": "x"}},
        {"type": "tool_result", "name": "artifacts", "content": [{"type": "text", "text": "OK"}]},
        {"type": "text", "text": "A dot."},
    ],
    "parent_message_uuid": "m1",
}


def conversation(*said: dict[str, Any], name: str = "c1", **more: Any) -> dict[str, Any]:
    return {"uuid": name, "name": "Dot", "chat_messages": list(said), **more}


def _read(body: Any, **options: str) -> Seen:
    return seen(json.dumps(body).encode(), **options)


def test_text_once_tools_in_order_and_attachments() -> None:
    got = _read(conversation(QUESTION, ANSWER))
    assert got.format == "claude_ai_export"
    assert got.texts == ["abc", "What is it?", "OK", "A dot."]
    assert got.messages[0].label == "attachment a.txt"
    picture = got.messages[1].blocks[1]
    assert isinstance(picture, Blob)
    assert (picture.kind, picture.name, picture.data) == ("image", "dot.png", None)
    assert got.messages[2].blocks == (Thinking(b"Easy."), ToolCall("", "artifacts", b'{"id":"x"}'))
    assert got.messages[3].blocks == (ToolResult("", (Text(b"OK"),)),)
    assert got.pairs == (1, 0)


def test_text_stands_in_where_content_has_no_words() -> None:
    for content in (None, [], [{"type": "text", "text": None}], "words"):
        got = _read(conversation({"sender": "human", "text": "words", "content": content}))
        assert got.texts == ["words"]


def test_branches_by_parent_and_leaf() -> None:
    other = {**ANSWER, "uuid": "m3", "content": [{"type": "text", "text": "A speck."}]}
    value = conversation(QUESTION, ANSWER, other, current_leaf_message_uuid="m2")
    assert _read(value).texts[-1] == "A dot."
    assert _read(value).report.branches == ["m3"]
    assert _read(value, branch="all").texts[-2:] == ["branch m3 from m1, left", "A speck."]


def test_many_conversations() -> None:
    listed = [conversation(QUESTION, name="c1"), conversation(ANSWER, name="c2")]
    assert [m.text for m in _read(listed).messages if m.label == "conversation"] == [
        "c1: Dot",
        "c2: Dot",
    ]
    assert _read(listed, select="c2").texts[-1] == "A dot."
    with open_session(json.dumps(listed).encode()) as session:
        assert [about.title for about in session.conversations] == ["Dot", "Dot"]


def test_samples() -> None:
    bakery = seen(sample("claude_ai_export/chatviewer-claude-bakery-chat.json"))
    assert bakery.roles == {"user": 2, "assistant": 2}
    assert bakery.texts[0].startswith("Make an interactive visualization of this diagram")
    assert bakery.report.info["model"] == "claude-3-5-sonnet-20240620"
    history = seen(sample("claude_ai_export/chatviewer-history.json"))
    assert (history.roles, history.kinds) == ({"user": 3, "assistant": 3}, {"Text": 6})
    errors = seen(sample("claude_ai_export/chatviewer-conversation-with-errors.json"))
    assert errors.kinds == {"Text": 7, "Other": 2, "ToolCall": 1}
    assert errors.texts[2:4] == [
        "This message has null content array - should trigger error handling",
        "This message has null text in content item",
    ]
    synthetic = seen(sample("claude_ai_export/polylogue-representative-00.json"))
    assert synthetic.kinds == {"Text": 11, "Other": 8, "Blob": 9}
    for got in (bakery, history, errors, synthetic):
        assert got.format == "claude_ai_export"
        assert not got.report.damage.counts
