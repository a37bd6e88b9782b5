"""Summaries: by a model on 127.0.0.1, whose failures touch nothing, and by the extract."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from snapcompact.compaction.modes.soft import _Words
from snapcompact.compaction.prepare import CutRequest
from snapcompact.compaction.settings import Source, resolve_settings
from snapcompact.errors import (
    InputError,
    ModelError,
)
from tests.compaction.running import (
    SUMMARY,
    asked,
    compacted,
    files_of,
    grow,
    options,
    session_at,
)
from tests.servers.script import OVERFLOW, Fail, HangUp, Raw, Say, Silence, Step


@pytest.mark.parametrize("protocol", ["anthropic", "gemini", "openai", "openai-responses"])
def test_a_summary_by_a_model(protocol: str, tmp_path: Path) -> None:
    path, out = session_at(tmp_path), tmp_path / "out.jsonl"
    with asked(protocol, Say(SUMMARY)) as (model, server):
        given = options(path, model=model, focus="the odd values")
        _, result = compacted(path, given, out=out)
    assert SUMMARY in result.made.summary
    assert not result.made.extract
    said = json.dumps(server.asked[0].body)
    assert "the odd values" in said
    assert "Question 0" in said
    assert b"Find the values." in out.read_bytes()


def test_a_previous_summary_reaches_the_next_call(tmp_path: Path) -> None:
    path, first, second = session_at(tmp_path), tmp_path / "1.jsonl", tmp_path / "2.jsonl"
    with asked("openai", Say("FIRST SUMMARY, in some words.")) as (model, _):
        compacted(path, options(path, model=model, cut=CutRequest(keep_tokens=900)), out=first)
    grow(first)
    with asked("openai", Say("SECOND")) as (model, server):
        compacted(first, options(first, model=model), out=second)
    said = json.dumps(server.asked[0].body)
    assert "FIRST SUMMARY, in some words." in said


def test_a_long_past_is_summarised_in_windows(tmp_path: Path) -> None:
    path = session_at(tmp_path, 40)
    small = resolve_settings((Source("t", "[summary]\nwindow = 2500\nreserve_tokens = 500"),))
    steps = [Say(f"Summary number {n}.") for n in range(20)]
    with asked("openai", *steps) as (model, server):
        _, result = compacted(path, options(path, model=model), small)
    assert len(server.asked) > 2
    for number in range(1, len(server.asked)):
        assert f"Summary number {number - 1}." in json.dumps(server.asked[number].body)
    assert any("windows" in note for note in result.made.notes)


def test_the_task_is_asked_for_first(tmp_path: Path) -> None:
    path = session_at(tmp_path)
    with asked("openai", Say("ORIGINAL_REQUEST: values"), Say(SUMMARY)) as (model, server):
        compacted(path, options(path, model=model, task_aware=True))
    assert "ORIGINAL_REQUEST: values" in json.dumps(server.asked[1].body)


def test_without_a_model_the_same_past_gives_the_same_extract(tmp_path: Path) -> None:
    path = session_at(tmp_path)
    texts = {compacted(path, options(path))[1].made.summary for _ in range(2)}
    assert len(texts) == 1
    assert "without a model" in texts.pop()


@pytest.mark.parametrize("protocol", ["anthropic", "openai"])
@pytest.mark.parametrize(
    "step",
    [
        Fail(401, "no"),
        Fail(500, "broken"),
        OVERFLOW["openai"],
        HangUp(),
        HangUp(2),
        Raw(b"<html>", "text/html"),
        Say(""),
        Say("   \n "),
        Say('<tool_call>{"name": "read"}</tool_call>'),
        Say("I will not.", stop="refusal"),
        Say("x", stop="tool"),
        Say("word " * 20_000),
    ],
    ids=str,
)
def test_every_failure_leaves_all_as_it_was(protocol: str, step: Step, tmp_path: Path) -> None:
    path = session_at(tmp_path)
    before = files_of(tmp_path)
    with asked(protocol, step) as (model, _), pytest.raises((ModelError, InputError)):
        compacted(path, options(path, model=model), out=tmp_path / "out.jsonl")
    assert files_of(tmp_path) == before


def test_silence_ends_and_leaves_all_as_it_was(tmp_path: Path) -> None:
    path = session_at(tmp_path)
    before = files_of(tmp_path)
    with asked("openai", Silence(), total_s=0.2) as (model, _), pytest.raises(ModelError):
        compacted(path, options(path, model=model), out=tmp_path / "out.jsonl")
    assert files_of(tmp_path) == before


@given(
    st.lists(st.integers(0, 4), min_size=1, max_size=4).flatmap(
        lambda counts: st.permutations(
            [number for number, count in enumerate(counts) for _ in range(count + 1)]
        )
    )
)
def test_the_words_of_answers_that_come_at_once_are_told_one_after_the_other(
    order: list[int],
) -> None:
    """`order` names the answer of each piece; an answer's last is its end."""
    told: list[str] = []
    answers = [_Words(told.append) for _ in range(max(order) + 1)]
    for before, after in pairwise(answers):
        before.goes_before(after)
    said: dict[int, list[str]] = {number: [] for number in sorted(order)}
    for at, number in enumerate(order):
        if number in order[at + 1 :]:
            said[number].append(f"{number}.{at}")
            answers[number].add(f"{number}.{at}")
            behind_all = all(n not in order[at:] for n in range(number))
            assert (f"{number}.{at}" in told) is behind_all
        else:
            answers[number].end()
    assert told == [text for texts in said.values() for text in texts]
