"""``codex exec --json``."""

from __future__ import annotations

from typing import Any

import pytest

from snapcompact.history.model import Message, Role, Text, ToolCall, ToolResult, Usage
from tests.history.seen import sample, seen
from tests.history.sessions import jsonl


@pytest.mark.parametrize(
    ("name", "output", "last", "usage"),
    [
        (
            "4",
            "console.log('Hello World');\n",
            "`test.js` simply contains `console.log(",
            Usage(967, 204, 5120),
        ),
        (
            "5",
            "/opt/homebrew/Library/Homebrew/cmd/shellenv.sh",
            "Found 1 text file `hello.txt`",
            Usage(3142, 223, 2944),
        ),
    ],
)
def test_samples(name: str, output: str, last: str, usage: Usage) -> None:
    got = seen(sample(f"codex_exec_json/agentcmd-stream-output-{name}.jsonl"))
    assert got.format == "codex_exec"
    assert got.kinds == {"Thinking": 2, "ToolCall": 1, "ToolResult": 1, "Text": 1, "Other": 1}
    assert got.pairs == (1, 0)
    assert got.texts[0].startswith(output)
    assert got.texts[-1].startswith(last)
    assert got.messages[-1].meta.usage == usage
    assert got.report.notes == ["the prompt is not recorded in this format"]


def _done(**item: Any) -> dict[str, Any]:
    return {"type": "item.completed", "item": item}


def test_ids_restart_with_every_run() -> None:
    command = {"id": "item_0", "type": "command_execution", "command": "ls"}
    got = seen(
        jsonl(
            [
                {"type": "thread.started", "thread_id": "a"},
                {"type": "item.started", "item": {**command, "status": "in_progress"}},
                _done(**command, aggregated_output="x", exit_code=1, status="failed"),
                {"type": "thread.started", "thread_id": "b"},
                {"type": "item.started", "item": command},
                {"type": "turn.failed", "error": {"message": "no"}},
            ]
        )
    )
    assert got.messages == [
        Message(Role.ASSISTANT, (ToolCall("1.item_0", "command_execution", b'{"command":"ls"}'),)),
        Message(Role.TOOL, (ToolResult("1.item_0", (Text(b"x"),), is_error=True),)),
        Message(Role.NOTE, (Text(b"no"),), "error"),
        Message(Role.ASSISTANT, (ToolCall("2.item_0", "command_execution", b'{"command":"ls"}'),)),
    ]


def test_other_items() -> None:
    got = seen(
        jsonl(
            [
                {"type": "thread.started", "thread_id": "a"},
                _done(id="1", type="error", message="a warning"),
                _done(
                    id="2",
                    type="mcp_tool_call",
                    server="s",
                    tool="t",
                    arguments={"a": 1},
                    result={"content": [{"type": "text", "text": "r"}]},
                    status="completed",
                ),
                _done(id="3", type="todo_list", items=[]),
                {"type": "novelty"},
            ]
        )
    )
    assert [(str(m.role), m.label) for m in got.messages] == [
        ("note", "warning"),
        ("assistant", ""),
        ("tool", ""),
        ("note", "item todo_list"),
        ("note", "unknown novelty"),
    ]
    assert got.messages[1].blocks == (
        ToolCall("1.2", "t", b'{"server":"s","tool":"t","arguments":{"a":1}}'),
    )
    assert got.texts[1] == "r"
