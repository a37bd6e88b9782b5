"""Codex CLI rollouts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import zstandard

from snapcompact.errors import UnknownNameError
from snapcompact.history.model import (
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


def _line(kind: str, payload: Json) -> Json:
    return {"timestamp": "2026-01-02T03:04:05.000Z", "type": kind, "payload": payload}


def _item(kind: str, **payload: Any) -> Json:
    return _line("response_item", {"type": kind, **payload})


def _said(role: str, *texts: str) -> Json:
    kind = "output_text" if role == "assistant" else "input_text"
    return _item("message", role=role, content=[{"type": kind, "text": text} for text in texts])


def _event(kind: str, **payload: Any) -> Json:
    return _line("event_msg", {"type": kind, **payload})


def _read(*records: Json, branch: str = "active") -> Seen:
    meta = _line("session_meta", {"id": "s1", "cwd": "/w", "cli_version": "0.1"})
    return seen(jsonl([meta, *records]), branch=branch)


def _told(got: Seen) -> list[tuple[str, str, str]]:
    return [(str(m.role), m.label, m.text) for m in got.messages]


@pytest.mark.parametrize(
    ("name", "kinds", "pairs", "twins"),
    [
        ("agentsessions-050-legacy", {}, (0, 0), 0),
        (
            "agentsessions-session-branch",
            {"Text": 2, "ToolCall": 1, "ToolResult": 1, "Other": 1},
            (1, 0),
            0,
        ),
        ("cass-rollout-tool-call", {"Text": 2, "ToolCall": 1}, (0, 0), 0),
        # Who shared these hid the words of items and events differently, so that only the
        # reasoning is seen to be said twice: 12 texts are 9 items, 2 events, 1 head
        (
            "localpush-rollout-2026-02-23T13-19-38-019c8a70-dda7-7f33-98ea-f30553347322",
            {"Text": 12, "Thinking": 1, "ToolCall": 1},
            (0, 0),
            1,
        ),
        (
            "localpush-rollout-2026-02-23T20-34-25-019c8bfe-ec25-79e0-97d7-bda6a9c575ff",
            {"Text": 21, "Thinking": 6, "ToolCall": 5, "ToolResult": 5},
            (5, 0),
            6,
        ),
    ],
)
def test_samples(name: str, kinds: dict[str, int], pairs: tuple[int, int], twins: int) -> None:
    got = seen(sample(f"codex_rollout/{name}.jsonl"))
    assert got.format == "codex_rollout"
    assert got.kinds == kinds
    assert got.pairs == pairs
    assert got.report.duplicates["event twin"] == twins
    assert got.report.damage.total == 0


def test_sample_of_all_record_types() -> None:
    got = seen(sample("codex_rollout/agentsessions-small-all-record-types.jsonl"))
    assert got.report.damage.total == 0
    assert got.report.info["id"] == "019fc8be-3658-7ca3-9e29-000000000000"
    assert got.report.skipped["session_meta of another thread"] == 6
    assert got.report.skipped["turn_context"] == 9
    assert got.roles == {"system": 2, "user": 1, "assistant": 11, "tool": 7, "note": 27}
    assert [m.text for m in got.messages if m.role is Role.USER] == ["List the files"]
    unknown = [m.label for m in got.messages if m.label.startswith("unknown")]
    assert unknown == []


def test_sample_words_of_a_call_told_by_an_event_only() -> None:
    got = seen(sample("codex_rollout/cass-rollout-tool-call.jsonl"))
    call = got.messages[1].blocks[0]
    assert isinstance(call, ToolCall)
    assert (call.id, call.name) == ("call_codex_tool_001", "bash")
    assert b"rg -n tool_call" in call.args


def test_what_items_and_events_both_say_is_said_once() -> None:
    got = _read(
        _said("user", "<environment_context>\n  <cwd>/w</cwd>\n</environment_context>"),
        _line("turn_context", {"model": "gpt-x"}),
        _said("user", "List the files"),
        _event("user_message", message="List the files", images=[]),
        _event("agent_reasoning", text="**Listing**"),
        _item(
            "reasoning",
            summary=[{"type": "summary_text", "text": "**Listing**"}],
            encrypted_content="gAAAAAB0",
        ),
        _item("function_call", name="shell", arguments='{"command":["ls"]}', call_id="c1"),
        _event("exec_command_end", call_id="c1", aggregated_output="a.txt\n"),
        _item(
            "function_call_output",
            call_id="c1",
            output='{"output":"a.txt\\n","metadata":{"exit_code":0,"duration_seconds":0.1}}',
        ),
        _event("agent_message", message="One file."),
        _said("assistant", "One file."),
    )
    assert got.messages == [
        Message(
            Role.USER,
            (Text(b"<environment_context>\n  <cwd>/w</cwd>\n</environment_context>"),),
            "context",
        ),
        Message(Role.USER, (Text(b"List the files"),)),
        Message(Role.ASSISTANT, (Thinking(b"**Listing**"),)),
        Message(Role.ASSISTANT, (ToolCall("c1", "shell", b'{"command":["ls"]}'),)),
        Message(Role.TOOL, (ToolResult("c1", (Text(b"a.txt\n"),)),)),
        Message(Role.ASSISTANT, (Text(b"One file."),)),
    ]
    assert got.report.duplicates == {"event twin": 4}
    assert got.report.info["title"] == "List the files"
    assert got.messages[2].meta.model == "gpt-x"


def test_events_without_a_twin_are_told() -> None:
    got = _read(
        _event("user_message", message="Only told"),
        _event("agent_message", message="Only told too"),
        *[_item("ghost_snapshot") for _ in range(80)],
        _said("user", "Later"),
    )
    assert _told(got) == [
        ("user", "", "Only told"),
        ("assistant", "", "Only told too"),
        ("user", "", "Later"),
    ]


def test_the_same_words_said_twice_are_two_messages() -> None:
    got = _read(
        _said("user", "go on"),
        _event("user_message", message="go on"),
        _said("user", "go on"),
        _event("user_message", message="go on"),
    )
    assert [m.text for m in got.messages] == ["go on", "go on"]


@pytest.mark.parametrize(
    ("event", "item"),
    [
        (_event("agent_message", message="Done.\n\n"), _said("assistant", "Done.\n\n")),
        (_event("user_message", message=" go on \n"), _said("user", " go on \n")),
    ],
)
def test_an_event_alone_reads_as_its_item_will(event: Json, item: Json) -> None:
    """Blanks at its ends too: an archive of the file so far goes on when the item arrives."""
    assert _told(_read(event)) == _told(_read(event, item))


def test_completed_items_come_before_their_twins() -> None:
    def done(kind: str, **item: Any) -> Json:
        return _event("item_completed", item={"type": kind, **item})

    got = _read(
        done("UserMessage", id="u", content=[{"type": "text", "text": "Go"}]),
        _said("user", "Go"),
        done("Reasoning", id="r", summary_text=[], raw_content=[]),
        done("AgentMessage", id="a", content=[{"type": "Text", "text": "Done"}]),
        _said("assistant", "Done"),
        _item("custom_tool_call", call_id="c", name="exec", input="run()"),
        done("CommandExecution", id="c", command=["ls"]),
        done("CommandExecution", id="other", command=["ls"]),
    )
    assert _told(got) == [
        ("user", "", "Go"),
        ("assistant", "", "Done"),
        ("assistant", "", ""),
        ("note", "event item CommandExecution", ""),
    ]
    assert got.report.duplicates == {"event twin": 3}


@pytest.mark.parametrize(
    ("output", "content", "error"),
    [
        ("plain", (Text(b"plain"),), False),
        ("", (), False),
        ('{"output":"x","metadata":{"exit_code":0}}', (Text(b"x"),), False),
        (
            '{"output":"x","metadata":{"exit_code":2}}',
            (Text(b"x"), Other("metadata", b'{"metadata":{"exit_code":2}}')),
            True,
        ),
        ("{not json", (Text(b"{not json"),), False),
        ({"type": "input_text", "text": "x"}, (Text(b"x"),), False),
        ({"content": "x", "success": False}, (Text(b"x"),), True),
        (
            [{"type": "input_text", "text": "x"}, {"type": "input_text", "text": "y"}],
            (Text(b"x"), Text(b"y")),
            False,
        ),
        (
            "Chunk ID: 1\nWall time: 1 s\nProcess exited with code 1\nOutput:\nx",
            (Text(b"Chunk ID: 1\nWall time: 1 s\nProcess exited with code 1\nOutput:\nx"),),
            True,
        ),
        (
            "Process exited with code 0\nOutput:\nx",
            (Text(b"Process exited with code 0\nOutput:\nx"),),
            False,
        ),
        (None, (), False),
    ],
)
def test_outputs_of_every_shape(output: Any, content: tuple[Any, ...], error: bool) -> None:
    got = _read(
        _item("function_call", name="f", arguments=None, call_id="c"),
        _item("function_call_output", call_id="c", output=output),
    )
    assert got.messages[1] == Message(Role.TOOL, (ToolResult("c", content, error),))
    assert got.messages[0].blocks == (ToolCall("c", "f", b""),)


def test_what_an_editor_put_before_the_prompt_is_context() -> None:
    words = (
        "# Context from my IDE setup:\n\n## Active file: a.py\n\n## My request for Codex:\nFix it"
    )
    got = _read(_said("user", words))
    assert [m.label for m in got.messages] == ["context", ""]
    assert "".join(m.text for m in got.messages) == words
    assert got.messages[1].text.startswith("## My request for Codex:")


def test_a_rollback_leaves_the_last_turns() -> None:
    records = [
        _said("user", "One"),
        _said("assistant", "1"),
        _said("user", "Two"),
        _said("assistant", "2"),
        _said("user", "# AGENTS.md instructions"),
        _said("user", "Three"),
        _event("thread_rolled_back", num_turns=2),
        _said("user", "Instead"),
    ]
    got = _read(*records)
    assert [m.text for m in got.messages] == ["One", "1", "Instead"]
    assert got.report.branches == ["before-line-8"]
    assert got.report.skipped["left branch"] == 4
    everything = _read(*records, branch="all")
    assert [m.label for m in everything.messages] == [
        "", "", "left branch", "left branch", "left branch context", "left branch", "",
    ]  # fmt: skip
    other = _read(*records, branch="before-line-8")
    assert [m.text for m in other.messages][-1] == "Three"
    with pytest.raises(UnknownNameError, match="known: before-line-8"):
        _read(*records, branch="x")


def test_a_compaction_tells_its_summary_and_not_the_old_words_again() -> None:
    got = _read(
        _said("user", "Go"),
        _line("compacted", {"message": "Summary so far", "replacement_history": [{}, {}]}),
        _event("context_compacted"),
        _line("compacted", {"message": "", "replacement_history": []}),
    )
    assert _told(got)[1:] == [
        ("note", "compaction", "Summary so far"),
        ("note", "compaction", "Context compacted"),
    ]
    assert got.report.duplicates == {"compacted context": 2}


def test_usage_goes_to_the_answer_before_it() -> None:
    def tokens(total: int, last: int) -> Json:
        spent = {"input_tokens": last, "cached_input_tokens": 40, "output_tokens": 30}
        return _event(
            "token_count", info={"total_token_usage": {"total": total}, "last_token_usage": spent}
        )

    got = _read(
        _said("assistant", "a"),
        tokens(150, 120),
        tokens(150, 120),
        _said("assistant", "b"),
        _event("token_count", info=None),
    )
    assert [m.meta.usage for m in got.messages] == [Usage(80, 30, 40), None]


def test_server_tools_pictures_and_sealed_thoughts() -> None:
    got = _read(
        _item("reasoning", summary=[], encrypted_content="gAAAAAB0"),
        _item(
            "web_search_call", id="ws", status="completed", action={"type": "search", "query": "x"}
        ),
        _item("local_shell_call", id="ls", action={"type": "exec", "command": ["ls"]}),
        _item("image_generation_call", id="ig", status="completed", result=DOT),
        _item("message", role="user", content=[{"type": "input_image", "image_url": None}]),
        _item("novelty", x=1),
    )
    assert got.messages[0].blocks == (Thinking(b"", 8),)
    assert got.kinds == {"Thinking": 1, "ToolCall": 3, "ToolResult": 1, "Other": 1}
    assert got.report.skipped == {"empty message": 1}


def test_the_first_session_meta_is_the_files_own() -> None:
    got = _read(
        _line("session_meta", {"id": "parent", "base_instructions": {"text": "You are"}}),
        _event("thread_name_updated", thread_name="A name"),
    )
    assert got.report.info["id"] == "s1"
    assert got.report.info["title"] == "A name"
    assert got.messages == []


def test_zstd_files_read_as_their_plain_twins(tmp_path: Path) -> None:
    plain = sample(
        "codex_rollout/localpush-rollout-2026-02-23T20-34-25-019c8bfe-ec25-79e0-97d7-bda6a9c575ff.jsonl"
    )
    packed = tmp_path / "rollout-x.jsonl.zst"
    packed.write_bytes(zstandard.compress(plain.read_bytes()))
    got = seen(packed)
    assert got.format == "codex_rollout"
    assert got.messages == seen(plain).messages
    cut = seen(zstandard.compress(plain.read_bytes())[:-20])
    assert cut.report.damage.counts["cut-stream"] == 1


def test_bare_items_of_very_old_files() -> None:
    got = seen(
        jsonl(
            [
                {
                    "id": "old",
                    "timestamp": "2025-05-01T00:00:00Z",
                    "instructions": "Be brief.",
                    "git": {},
                },
                {"record_type": "state"},
                {
                    "type": "message",
                    "role": "user",
                    "content": [{"type": "input_text", "text": "Go"}],
                    "timestamp": "x",
                },
                {"type": "function_call", "name": "f", "arguments": "{}", "call_id": "c"},
                {"type": "function_call_output", "call_id": "c", "output": "ok"},
            ]
        )
    )
    assert got.format == "codex_rollout"
    assert got.roles == {"system": 1, "user": 1, "assistant": 1, "tool": 1}
    assert got.report.info["id"] == "old"
