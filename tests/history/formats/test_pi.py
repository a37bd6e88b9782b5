"""pi sessions of every version."""

from __future__ import annotations

from typing import Any

import pytest

from snapcompact.history.model import (
    Blob,
    Message,
    Other,
    Role,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Usage,
)
from tests.history.seen import Seen, sample, seen
from tests.history.sessions import DOT, jsonl

Json = dict[str, Any]
HEADER = {"type": "session", "version": 3, "id": "s", "timestamp": "2026-01-02", "cwd": "/w"}


def _entry(kind: str, entry: str, parent: str | None, **more: Any) -> Json:
    return {"type": kind, "id": entry, "parentId": parent, "timestamp": "2026-01-02", **more}


def _said(entry: str, parent: str | None, role: str, content: Any = None, **more: Any) -> Json:
    return _entry("message", entry, parent, message={"role": role, "content": content, **more})


def _read(*entries: Json, branch: str = "active") -> Seen:
    return seen(jsonl([HEADER, *entries]), branch=branch)


def _told(got: Seen) -> list[tuple[str, str, str]]:
    return [(str(m.role), m.label, m.text) for m in got.messages]


@pytest.mark.parametrize(
    ("name", "kinds", "pairs", "first", "last"),
    [
        (
            "agentsessions-pi-v3-compaction",
            {"Text": 6, "Other": 2},
            (0, 0),
            "Read hello.py and summarize what it prints without editing files.",
            "hello.py prints a fixture greeting.",
        ),
        (
            "cass-pi-v1",
            {"Text": 4, "Thinking": 1, "ToolCall": 1, "ToolResult": 1},
            (1, 0),
            "How do I create a Rust struct with a generic lifetime parameter?",
            'fn main() {\n    println!("Hello, world!");\n}',
        ),
        # begins with a result whose call was cut away, and holds one command of the user's
        (
            "pimono-before-compaction-excerpt",
            {"ToolResult": 18, "ToolCall": 19, "Text": 25, "Other": 2, "Thinking": 4},
            (17, 1),
            "Successfully wrote 258 bytes to /Users/badlogic/workspaces/pi-mono/pac",
            "wow, it works",
        ),
        # 18 calls of the last answers have no result: the sample ends there
        (
            "pimono-large-session-first350k",
            {"Text": 75, "ToolCall": 126, "ToolResult": 108},
            (108, 0),
            "/mode",
            "Now update the getThinkingBorderColor method to use the new tokens:",
        ),
    ],
)
def test_samples(
    name: str, kinds: dict[str, int], pairs: tuple[int, int], first: str, last: str
) -> None:
    got = seen(sample(f"pi_session/{name}.jsonl"))
    assert got.format == "pi"
    assert got.kinds == kinds
    assert got.pairs == pairs
    assert got.texts[0].startswith(first)
    assert got.texts[-1].startswith(last)
    assert got.report.damage.total == 0


def test_sample_answers_that_failed_say_why() -> None:
    got = seen(sample("pi_session/pimono-large-session-first350k.jsonl"))
    errors = [m.text for m in got.messages if m.label == "error"]
    assert len(errors) == 3
    assert all(errors)


def test_one_message_of_every_kind() -> None:
    got = _read(
        _entry("model_change", "1", None, provider="p", modelId="m-x"),
        _said("2", "1", "user", "Read the note"),
        _said(
            "3",
            "2",
            "assistant",
            [
                {
                    "type": "thinking",
                    "thinking": "One read.",
                    "thinkingSignature": "reasoning_content",
                },
                {
                    "type": "toolCall",
                    "id": "c",
                    "name": "read",
                    "arguments": {"path": "n", "partialJson": '{"pa'},
                },
            ],
            usage={"input": 10, "output": 5, "cacheRead": 2, "cacheWrite": 1},
            stopReason="toolUse",
        ),
        _said(
            "4",
            "3",
            "toolResult",
            [
                {"type": "text", "text": "hello"},
                {"type": "image", "data": DOT, "mimeType": "image/png"},
            ],
            toolCallId="c",
            isError=False,
        ),
        _entry("custom_message", "5", "4", customType="ext", content="Injected.", display=False),
        _said(
            "6",
            "5",
            "bashExecution",
            None,
            command="ls",
            output="a\n",
            exitCode=1,
            excludeFromContext=True,
        ),
        _entry("label", "7", "6", targetId="2", label="start"),
        _entry("session_info", "8", "7", name="Note reading"),
    )
    assert got.messages[0] == Message(Role.USER, (Text(b"Read the note"),))
    assert got.messages[1].blocks == (
        Thinking(b"One read."),
        ToolCall("c", "read", b'{"path":"n"}'),
    )
    assert got.messages[1].meta.usage == Usage(10, 5, 2, 1)
    assert got.messages[1].meta.model == "m-x"
    result = got.messages[2].blocks[0]
    assert isinstance(result, ToolResult)
    assert [type(part) for part in result.content] == [Text, Blob]
    assert got.messages[3] == Message(Role.USER, (Text(b"Injected."),), "context")
    assert got.messages[4:] == [
        Message(
            Role.USER,
            (ToolCall("6", "bash", b'{"command":"ls","excludeFromContext":true}'),),
            "bash",
        ),
        Message(Role.TOOL, (ToolResult("6", (Text(b"a\n"),), is_error=True),), "bash"),
    ]
    assert got.report.info == {"id": "s", "cwd": "/w", "title": "Note reading", "model": "m-x"}
    assert got.report.skipped == {"model_change": 1, "label": 1, "session_info": 1}


def test_the_active_path_ends_at_the_last_entry_even_a_label() -> None:
    entries = [
        _said("1", None, "user", "Go"),
        _said("2", "1", "assistant", [{"type": "text", "text": "left"}]),
        _entry("compaction", "3", "2", summary="of the left branch", firstKeptEntryId="1"),
        _entry("branch_summary", "4", "1", fromId="1", summary="What was left"),
        _said("5", "4", "assistant", [{"type": "text", "text": "kept"}]),
        _entry("label", "6", "5", targetId="1", label="x"),
    ]
    got = _read(*entries)
    assert _told(got) == [
        ("user", "", "Go"),
        ("note", "branch summary", "What was left"),
        ("assistant", "", "kept"),
    ]
    assert got.report.branches == ["3"]
    assert len(_read(*entries, branch="all").messages) == 5
    assert [m.text for m in _read(*entries, branch="3").messages][-1] == "of the left branch"


def test_a_rewind_to_the_very_start_leaves_all_before() -> None:
    got = _read(_said("1", None, "user", "Go"), _said("2", None, "user", "Instead"))
    assert [m.text for m in got.messages] == ["Instead"]
    assert got.report.branches == ["1"]


def test_a_compaction_keeps_its_figures() -> None:
    got = _read(
        _said("1", None, "user", "Go"),
        _entry("compaction", "2", "1", summary="## Goal", firstKeptEntryId="1", tokensBefore=50000),
    )
    note = got.messages[1]
    assert (note.role, note.label) == (Role.NOTE, "compaction")
    assert note.blocks == (
        Text(b"## Goal"),
        Other("compaction", b'{"firstKeptEntryId":"1","tokensBefore":50000}'),
    )


def test_answers_cut_short_give_their_words_then_the_error() -> None:
    text = [{"type": "text", "text": "half"}]
    got = _read(
        _said("1", None, "assistant", text, stopReason="error", errorMessage="overloaded"),
        _said("2", "1", "assistant", [], stopReason="aborted"),
    )
    assert _told(got) == [("assistant", "", "half"), ("note", "error", "overloaded")]
    assert got.messages[0].meta.stop == "error: overloaded"
    assert got.report.skipped == {"empty message": 1}


def test_version_1_has_no_ids() -> None:
    entries = [
        {"type": "session", "id": "s", "provider": "p", "modelId": "m"},
        {"type": "message", "timestamp": "t", "message": {"role": "user", "content": "Go"}},
        {"type": "compaction", "timestamp": "t", "summary": "S", "firstKeptEntryIndex": 1},
    ]
    got = seen(jsonl(entries))
    assert _told(got) == [("user", "", "Go"), ("note", "compaction", "S")]
    assert got.report.info["model"] == "m"


def test_unknown_entries_and_roles_are_kept() -> None:
    got = _read(_entry("novelty", "1", None, x=1), _said("2", "1", "oracle", "words"))
    assert [(m.label, m.text) for m in got.messages] == [
        ("unknown novelty", ""),
        ("oracle", "words"),
    ]
