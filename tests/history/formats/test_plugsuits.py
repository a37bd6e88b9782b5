"""plugsuits: sessions and the headless stream."""

from __future__ import annotations

import pytest

from snapcompact.history.model import Message, Role, Text, Thinking, ToolCall, ToolResult
from tests.history.seen import sample, seen
from tests.history.sessions import jsonl


def test_session_sample_says_each_message_once() -> None:
    got = seen(sample("plugsuits_session/gen-plugsuits-snapshot.jsonl"))
    assert got.format == "plugsuits_session"
    args = b'{"command":"printf \'alpha\\\\nbeta\\\\n\'"}'
    assert got.messages == [
        Message(
            Role.USER, (Text(b"Summary of the earlier part: two words were listed."),), "summary"
        ),
        Message(Role.NOTE, (Text(b"(42 messages)"),), "original content"),
        Message(Role.USER, (Text(b"Please list the words"),)),
        Message(
            Role.ASSISTANT,
            (
                Thinking(b"One shell call is enough."),
                Text(b"I will list the words."),
                ToolCall("call_1", "shell_execute", args),
            ),
        ),
        Message(Role.TOOL, (ToolResult("call_1", (Text(b"alpha\nbeta\n"),)),)),
        Message(Role.ASSISTANT, (Text(b"Done: alpha and beta."),)),
    ]
    assert got.report.duplicates == {"snapshot and line": 5}
    assert got.report.info["id"] == "telegram:chat:-1001234:topic:5"
    assert got.messages[2].meta.id == "usr0000001"


def test_session_without_a_snapshot_and_with_new_lines() -> None:
    def line(item: str, text: str) -> dict[str, object]:
        return {"type": "message", "id": item, "message": {"role": "user", "content": text}}

    header = {"type": "header", "sessionId": "s", "createdAt": 1, "version": 1}
    old = seen(jsonl([header, line("1", "a"), line("2", "b")]))
    assert [m.text for m in old.messages] == ["a", "b"]
    snapshot = {"type": "snapshot", "snapshot": {"messages": [line("1", "a")]}}
    new = seen(jsonl([header, snapshot, line("1", "a"), line("2", "b")]))
    assert new.messages == old.messages


@pytest.mark.parametrize(
    ("name", "kinds", "pairs", "last"),
    [
        (
            "8000",
            {"Text": 2, "Thinking": 1, "ToolCall": 1, "ToolResult": 1},
            (1, 0),
            "I'll start by reading the index.ts file",
        ),
        (
            "80000",
            {"Text": 4, "Thinking": 7, "ToolCall": 9, "ToolResult": 9},
            (9, 0),
            "이제 충분한 정보를 수집했습니다.",
        ),
    ],
)
def test_headless_samples(
    name: str, kinds: dict[str, int], pairs: tuple[int, int], last: str
) -> None:
    got = seen(sample(f"plugsuits_headless/multi-file-refactor-{name}-trajectory.jsonl"))
    assert got.format == "plugsuits_headless"
    assert got.kinds == kinds
    assert got.pairs == pairs
    assert got.texts[0].startswith("packages/harness/src/index.ts에서 export되는")
    assert got.texts[-1].startswith(last)
    assert got.report.damage.total == 0


def test_headless_errors_and_unknown_records() -> None:
    flat = {"sessionId": "s", "timestamp": "t"}
    got = seen(
        jsonl(
            [
                {
                    **flat,
                    "type": "tool_call",
                    "tool_call_id": "c",
                    "tool_name": "f",
                    "tool_input": {},
                },
                {**flat, "type": "tool_result", "tool_call_id": "c", "output": "", "error": "no"},
                {**flat, "type": "novelty"},
            ]
        )
    )
    assert got.messages[1] == Message(Role.TOOL, (ToolResult("c", (Text(b"no"),), is_error=True),))
    assert got.messages[2].label == "unknown novelty"
