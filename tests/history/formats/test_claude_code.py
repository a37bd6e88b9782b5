"""Claude Code session files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

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
from snapcompact.history.usage import per_answer
from tests.history.seen import Seen, seen
from tests.history.sessions import DOT, jsonl

Json = dict[str, Any]


def _user(uuid: str, parent: str | None, content: Any, **more: Any) -> Json:
    said = {"role": "user", "content": content}
    return {
        "parentUuid": parent,
        "type": "user",
        "message": said,
        "uuid": uuid,
        "sessionId": "s",
        **more,
    }


def _answer(uuid: str, parent: str | None, block: Json, answer: str = "m", **more: Any) -> Json:
    said = {"id": answer, "role": "assistant", "model": "claude-x", "content": [block]}
    said["usage"] = more.pop("usage", {"input_tokens": 4, "output_tokens": 1})
    return {
        "parentUuid": parent,
        "message": said,
        "type": "assistant",
        "uuid": uuid,
        "sessionId": "s",
        **more,
    }


def _text(text: str) -> Json:
    return {"type": "text", "text": text}


def _call(call: str) -> Json:
    return {"type": "tool_use", "id": call, "name": "Read", "input": {"path": call}}


def _result(call: str, content: Any = "ok") -> Json:
    return {"type": "tool_result", "tool_use_id": call, "content": content}


def _read(*records: Json, branch: str = "active") -> Seen:
    return seen(jsonl(records), branch=branch)


def _texts(got: Seen) -> list[tuple[str, str]]:
    return [(m.label, m.text) for m in got.messages]


def test_split_answers_keep_their_id_and_count_once() -> None:
    got = _read(
        _user("u1", None, "Go"),
        _answer("a1", "u1", {"type": "thinking", "thinking": "", "signature": "EqAB"}),
        _answer("a2", "a1", _call("t1"), usage={"input_tokens": 4, "output_tokens": 57}),
        _user("r1", "a2", [_result("t1")]),
        _answer("a3", "r1", _text("Done."), usage={"input_tokens": 4, "output_tokens": 9}),
    )
    assert got.messages == [
        Message(Role.USER, (Text(b"Go"),)),
        Message(Role.ASSISTANT, (Thinking(b"", 4), ToolCall("t1", "Read", b'{"path":"t1"}'))),
        Message(Role.TOOL, (ToolResult("t1", (Text(b"ok"),)),)),
        Message(Role.ASSISTANT, (Text(b"Done."),)),
    ]
    assert [usage for _, usage in per_answer(got.messages)] == [Usage(4, 57)]


def test_a_growing_snapshot_is_told_by_what_is_new() -> None:
    got = _read(
        _user("u1", None, "Go"),
        _answer("a1", "u1", _text("Hel")),
        _answer("a2", "a1", _text("Hello")),
        _answer("a3", "a2", _text("Hello")),
    )
    assert got.messages[1:] == [Message(Role.ASSISTANT, (Text(b"Hel"), Text(b"lo")))]
    assert got.report.duplicates == {"growing snapshot": 1, "repeated block": 1}


def test_a_rewind_leaves_a_branch() -> None:
    records = [
        _user("u1", None, "Go"),
        _answer("a1", "u1", _text("One"), "m1"),
        _user("u2", "a1", "Left"),
        _answer("a2", "u2", _text("Gone"), "m2"),
        _user("u3", "a1", "Instead"),
    ]
    got = _read(*records)
    assert _texts(got) == [("", "Go"), ("", "One"), ("", "Instead")]
    assert got.report.branches == ["a2"]
    assert got.report.skipped == {"left branch": 2}
    everything = _read(*records, branch="all")
    assert [label for label, _ in _texts(everything)] == ["", "", "left branch", "left branch", ""]
    other = _read(*records, branch="a2")
    assert _texts(other) == [("", "Go"), ("", "One"), ("", "Left"), ("", "Gone")]
    with pytest.raises(UnknownNameError, match="no record with id 'zz'"):
        _read(*records, branch="zz")


def test_links_that_are_no_messages_do_not_break_the_chain() -> None:
    got = _read(
        _user("u1", None, "Go"),
        {"type": "attachment", "parentUuid": "u1", "uuid": "x", "attachment": {"type": "todo"}},
        {"type": "system", "subtype": "turn_duration", "parentUuid": "x", "uuid": "y"},
        _answer("a1", "y", _text("Done")),
        _user("u2", "u1", "fork"),
        _answer("a2", "a1", _text("newest"), "m2"),
    )
    assert _texts(got) == [("", "Go"), ("attachment todo", ""), ("", "Done"), ("", "newest")]
    assert got.report.branches == ["u2"]


def test_parallel_calls_and_their_results_stand_on_one_path() -> None:
    got = _read(
        _user("u1", None, "Go"),
        _answer("a1", "u1", _call("t1")),
        _answer("a2", "a1", _call("t2")),
        _user("r1", "a1", [_result("t1")]),
        _user("r2", "a2", [_result("t2")]),
        _answer("a3", "r2", _text("Done"), "m2"),
    )
    assert got.roles == {"user": 1, "assistant": 2, "tool": 2}
    assert got.pairs == (2, 0)


def test_a_compaction_is_a_mark_and_a_summary_and_goes_on() -> None:
    got = _read(
        _user("u1", None, "Go"),
        {
            "parentUuid": None,
            "logicalParentUuid": "u1",
            "type": "system",
            "subtype": "compact_boundary",
            "content": "Conversation compacted",
            "uuid": "b",
            "compactMetadata": {"trigger": "auto", "preTokens": 155000},
        },
        _user("c", "b", "This session is being continued", isCompactSummary=True),
    )
    assert _texts(got) == [
        ("", "Go"),
        ("compaction", "Conversation compacted"),
        ("summary", "This session is being continued"),
    ]
    assert got.messages[1].blocks[1] == Other(
        "compactMetadata", b'{"trigger":"auto","preTokens":155000}'
    )
    assert got.report.branches == []


def test_copies_of_a_record_are_dropped() -> None:
    record = _user("u1", None, "Go")
    got = _read(record, _answer("a1", "u1", _text("Done")), record)
    assert [m.text for m in got.messages] == ["Go", "Done"]
    assert got.report.duplicates == {"repeated record": 1}


@pytest.mark.parametrize(
    "record",
    [
        _user("u", None, "x", isMeta=True),
        _user("u", None, "x", origin={"kind": "task-notification"}),
        _user("u", None, "<command-name>/model</command-name>"),
        _user("u", None, [_text("<system-reminder>be good</system-reminder>")]),
        _user("u", None, "[Request interrupted by user]"),
    ],
)
def test_what_no_person_typed_is_context(record: Json) -> None:
    got = _read(record)
    assert [m.label for m in got.messages] == ["context"]
    assert "title" not in got.report.info


def test_an_error_in_the_shape_of_an_answer() -> None:
    got = _read(
        _user("u", None, "Go"),
        _answer("a", "u", _text("API Error: 529"), isApiErrorMessage=True),
    )
    assert (got.messages[1].label, got.messages[1].meta.stop) == ("error", "error")


def test_words_beside_results_follow_them() -> None:
    content = [
        _text("and?"),
        _result("t", [{"type": "image", "source": {"type": "base64", "data": DOT}}]),
    ]
    got = _read(_answer("a", None, _call("t")), _user("u", "a", content))
    assert [m.role for m in got.messages] == [Role.ASSISTANT, Role.TOOL, Role.USER]
    assert got.messages[2].text == "and?"


def test_prompts_queued_and_progress_of_agents() -> None:
    inner = {"type": "assistant", "message": {"id": "m9", "content": [_text("sub")]}, "uuid": "p"}
    got = _read(
        _user("u", None, "Go"),
        {
            "type": "attachment",
            "parentUuid": "u",
            "uuid": "q",
            "attachment": {"type": "queued_command", "prompt": "Also this"},
        },
        {
            "type": "progress",
            "parentUuid": "q",
            "uuid": "r",
            "data": {"type": "agent_progress", "agentId": "a7", "message": inner},
        },
        {"type": "progress", "parentUuid": "r", "uuid": "s", "data": {"type": "hook_progress"}},
    )
    assert _texts(got) == [("", "Go"), ("queued", "Also this"), ("agent a7", "sub")]
    assert got.report.skipped == {"progress": 1}


def test_titles_by_strength() -> None:
    got = _read(
        {"type": "summary", "summary": "of another", "leafUuid": "x"},
        {"type": "ai-title", "aiTitle": "By the model", "sessionId": "s"},
        _user("u", None, "The prompt"),
        {"type": "custom-title", "customTitle": "Old", "sessionId": "s"},
        {"type": "custom-title", "customTitle": "By hand", "sessionId": "s"},
        {"type": "ai-title", "aiTitle": "By the model again", "sessionId": "s"},
    )
    assert got.report.info["title"] == "By hand"


def test_unknown_records_are_kept_whole() -> None:
    got = _read(_user("u", None, "Go"), {"type": "novelty", "uuid": "n", "parentUuid": "u", "x": 1})
    assert got.messages[1].label == "unknown novelty"
    assert got.messages[1].blocks == (
        Other("unknown novelty", b'{"type":"novelty","uuid":"n","parentUuid":"u","x":1}'),
    )


def test_a_persisted_output_is_read_from_the_sessions_own_folder(tmp_path: Path) -> None:
    outside = tmp_path / "outside.txt"
    outside.write_bytes(b"not this")
    folder = tmp_path / "5e55" / "tool-results"
    folder.mkdir(parents=True)
    (folder / "x.txt").write_bytes(b"the whole output")
    (folder / "link.txt").symlink_to(outside)

    def said(path: str) -> str:
        head = "<persisted-output>\nOutput too large (36.6KB)."
        return f"{head} Full output saved to: {path}\n\nPreview"

    session = tmp_path / "5e55.jsonl"
    session.write_bytes(
        jsonl(
            [
                _answer("a", None, _call("t1")),
                _user("r1", "a", [_result("t1", said("/home/x/5e55/tool-results/x.txt"))]),
                _user("r2", "r1", [_result("t1", said(f"../{outside.name}"))]),
                _user("r3", "r2", [_result("t1", said("link.txt"))]),
            ]
        )
    )
    got = seen(session)
    results = [m.blocks[0] for m in got.messages if m.role is Role.TOOL]
    assert [len(r.content) for r in results if isinstance(r, ToolResult)] == [2, 1, 1]
    first = results[0]
    assert isinstance(first, ToolResult)
    assert first.content[1] == Other("persisted-output x.txt", b"the whole output")


def test_a_sub_agents_own_file_is_one_conversation() -> None:
    got = _read(
        _user("u", None, "Look around", isSidechain=True, agentId="a1"),
        _answer("a", "u", _text("Seen"), isSidechain=True, agentId="a1"),
    )
    assert _texts(got) == [("", "Look around"), ("", "Seen")]
