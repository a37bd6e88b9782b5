"""The made-up sessions of samples/."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.history.seen import seen

SAMPLES = Path(__file__).parents[2] / "samples"


@pytest.mark.parametrize(
    ("name", "format", "roles", "pairs"),
    [
        (
            "claude-code-session.jsonl",
            "claude_code",
            {"user": 7, "assistant": 26, "tool": 23, "note": 1},
            (23, 0),
        ),
        ("claude-stream.jsonl", "claude_stream", {"assistant": 8, "tool": 7}, (7, 0)),
        (
            "openai-chat.json",
            "openai_chat",
            {"system": 1, "user": 2, "assistant": 4, "tool": 3},
            (3, 0),
        ),
        ("notes.md", "text", {"user": 1}, (0, 0)),
        ("hostile.jsonl", "openai_chat", {"user": 5, "assistant": 3, "tool": 2, "note": 1}, (2, 0)),
    ],
)
def test_samples(name: str, format: str, roles: dict[str, int], pairs: tuple[int, int]) -> None:
    got = seen(SAMPLES / name)
    assert (got.format, got.roles, got.pairs) == (format, roles, pairs)
    assert bool(got.report.damage.total) == (name == "hostile.jsonl")


def test_the_hostile_sample_has_damage_of_nearly_every_kind() -> None:
    damage = seen(SAMPLES / "hostile.jsonl").report.damage
    assert damage.lines == {
        "nul-bytes": [2, 4],
        "invalid-utf8": [3],
        "joined-records": [5],
        "bad-line": [6],
        "not-an-object": [7, 8, 9],
        "lone-surrogate": [11],
        "not-finite": [12],
        "deep-nesting": [13],
        "torn-tail": [19],
    }


def test_the_main_sample_has_a_rewind_a_compaction_and_an_agent() -> None:
    got = seen(SAMPLES / "claude-code-session.jsonl")
    labels = {message.label for message in got.messages}
    assert {"compaction", "summary", "agent a7f3", "context"} <= labels
    assert got.report.skipped["left branch"] == 6
    assert len(got.report.branches) == 1


def test_every_sample_has_a_line_in_the_readme() -> None:
    words = (SAMPLES / "README.md").read_text()
    for path in SAMPLES.iterdir():
        assert path.name == "README.md" or f"`{path.name}`" in words
