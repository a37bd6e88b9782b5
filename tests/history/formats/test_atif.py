"""ATIF trajectories."""

from __future__ import annotations

import json
from typing import Any

import pytest

from snapcompact.history.model import Role, Usage
from tests.history.seen import Seen, sample, seen

STEP: dict[str, Any] = {
    "step_id": 2,
    "timestamp": "2026-01-02T03:04:06.000Z",
    "source": "agent",
    "message": "",
    "reasoning_content": "One call.",
    "tool_calls": [{"tool_call_id": "t1", "function_name": "Bash", "arguments": {"command": "ls"}}],
    "observation": {"results": [{"source_call_id": "t1", "content": "a.txt"}]},
    "metrics": {"prompt_tokens": 100, "completion_tokens": 5, "cached_tokens": 90},
}


def _read(steps: list[Any], **more: Any) -> Seen:
    body = {"schema_version": "ATIF-v1.7", "agent": {"model_name": "m"}, "steps": steps, **more}
    return seen(json.dumps(body).encode())


def test_a_step_has_words_calls_and_results() -> None:
    got = _read([{"step_id": 1, "source": "user", "message": "List"}, STEP])
    assert got.format == "atif"
    assert got.roles == {"user": 1, "assistant": 1, "tool": 1}
    assert got.kinds == {"Text": 1, "Thinking": 1, "ToolCall": 1, "ToolResult": 1}
    assert got.pairs == (1, 0)
    assert got.messages[1].meta.usage == Usage(10, 5, 90, 0)
    assert got.messages[1].meta.model == "m"


def test_copied_steps_are_said_once_and_sub_agents_labelled() -> None:
    child = {"trajectory_id": "sub", "steps": [{"source": "user", "message": "look"}]}
    got = _read([STEP, {**STEP, "is_copied_context": True}], subagent_trajectories=[child])
    assert got.report.duplicates == {"copied context": 1}
    assert got.messages[-1].label == "agent sub"
    assert got.roles == {"assistant": 1, "tool": 1, "user": 1}


def test_version_without_prefix_parts_and_damage() -> None:
    got = seen(
        json.dumps(
            {
                "schema_version": "1.4",
                "steps": [
                    {"source": "system", "message": [{"type": "text", "text": "Be kind"}]},
                    "not a step",
                    {"source": "robot", "message": "beep"},
                ],
            }
        ).encode()
    )
    assert got.format == "atif"
    assert [m.role for m in got.messages] == [Role.SYSTEM, Role.NOTE, Role.NOTE]
    assert got.messages[2].label == "robot"


@pytest.mark.parametrize(
    ("name", "roles", "kinds", "pairs"),
    [
        ("fastapi-deprecation", {"user": 1, "assistant": 1}, {"Text": 2}, (0, 0)),
        (
            "prometheus-typed-label-sorting",
            {"user": 1, "assistant": 35, "tool": 36},
            {"Text": 5, "ToolCall": 36, "ToolResult": 36},
            (36, 0),
        ),
    ],
)
def test_samples(
    name: str, roles: dict[str, int], kinds: dict[str, int], pairs: tuple[int, int]
) -> None:
    got = seen(sample(f"atif/pxpipe-{name}.trajectory.json"))
    assert got.format == "atif"
    assert (got.roles, got.kinds, got.pairs) == (roles, kinds, pairs)


def test_first_and_last_words_of_a_sample() -> None:
    got = seen(sample("atif/pxpipe-prometheus-typed-label-sorting.trajectory.json"))
    assert got.texts[0].startswith("Label sorting must use multi-domain typed comparison.")
    assert got.texts[-1].startswith("03e068a4e promql: use multi-domain typed compar")
