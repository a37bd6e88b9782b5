"""kit sessions: no public file is known, so these follow the writer's source as described."""

from __future__ import annotations

from typing import Any

from snapcompact.history.model import (
    Blob,
    Message,
    Other,
    Role,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from tests.history.seen import Seen, seen
from tests.history.sessions import DOT, jsonl

Json = dict[str, Any]


def _part(kind: str, **data: Any) -> Json:
    return {"type": kind, "data": data}


def _said(entry: str, parent: str, role: str, *parts: Json) -> Json:
    found = {"type": "message", "id": entry, "timestamp": "2026-01-02T03:04:06.1+09:00"}
    link = {"parent_id": parent} if parent else {}
    return {**found, **link, "role": role, "parts": list(parts), "model": "claude-x"}


RECORDS: list[Json] = [
    {"type": "session", "version": 3, "id": "s", "cwd": "/w", "parent_session_id": "fedc"},
    {"type": "system_prompt", "id": "a0", "content": "You are", "model": "claude-x"},
    _said(
        "a1",
        "",
        "user",
        _part("text", text="List"),
        _part("image", data=DOT, media_type="image/png"),
    ),
    _said(
        "a2",
        "a1",
        "assistant",
        _part("reasoning", thinking="One call.", signature="EqAB"),
        _part("text", text="Listing."),
        _part("tool_call", id="c", name="bash", input='{"command":"ls"}', finished=True),
        _part("finish", reason="tool_use"),
    ),
    _said(
        "a3",
        "a2",
        "tool",
        _part("tool_result", tool_call_id="c", name="bash", content="a.txt\n", is_error=False),
    ),
    {
        "type": "compaction",
        "id": "a4",
        "parent_id": "a3",
        "timestamp": "t",
        "summary": "So far",
        "first_kept_entry_id": "a2",
        "tokens_before": 50000,
    },
]


def _read(*records: Json, branch: str = "active") -> Seen:
    return seen(jsonl(records), branch=branch)


def test_a_session() -> None:
    got = _read(*RECORDS)
    assert got.format == "kit"
    assert got.messages[0] == Message(Role.SYSTEM, (Text(b"You are"),))
    assert got.messages[1].blocks[0] == Text(b"List")
    assert isinstance(got.messages[1].blocks[1], Blob)
    assert got.messages[2:] == [
        Message(
            Role.ASSISTANT,
            (Thinking(b"One call."), Text(b"Listing."), ToolCall("c", "bash", b'{"command":"ls"}')),
        ),
        Message(Role.TOOL, (ToolResult("c", (Text(b"a.txt\n"),)),)),
        Message(
            Role.NOTE,
            (
                Text(b"So far"),
                Other("compaction", b'{"first_kept_entry_id":"a2","tokens_before":50000}'),
            ),
            "compaction",
        ),
    ]
    assert got.pairs == (1, 0)
    assert got.report.info == {"id": "s", "cwd": "/w", "parent": "fedc", "title": "List"}
    assert got.report.skipped == {"finish part": 1}


def test_branches_and_unknown_entries() -> None:
    records = [
        *RECORDS[:3],
        _said("b1", "a1", "assistant", _part("text", text="left")),
        {"type": "branch_summary", "id": "b2", "parent_id": "a1", "from_id": "a1", "summary": "W"},
        {"type": "novelty", "id": "b3", "parent_id": "b2", "x": 1},
        _said("b4", "b3", "assistant", _part("novelty", x=1)),
        {"type": "session_info", "id": "b5", "parent_id": "b4", "name": "A name"},
        {"type": "extension_data", "id": "b6", "parent_id": "b5"},
    ]
    got = _read(*records)
    assert [m.label for m in got.messages] == ["", "", "branch summary", "unknown novelty", ""]
    assert got.messages[-1].blocks == (Other("novelty", b'{"type":"novelty","data":{"x":1}}'),)
    assert got.report.branches == ["b1"]
    assert got.report.info["title"] == "A name"


def test_cycles_fall_back_to_file_order() -> None:
    got = _read(
        RECORDS[0],
        _said("a", "b", "user", _part("text", text="one")),
        _said("b", "a", "assistant", _part("text", text="two")),
    )
    assert [m.text for m in got.messages] == ["one", "two"]
