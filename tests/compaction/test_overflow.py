from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from snapcompact.compaction.overflow import classify, is_overflow, silent_overflow
from snapcompact.compaction.policy import preset
from snapcompact.history.model import Usage

RULES = preset().overflow
VECTORS = Path(__file__).parents[1] / "conformance" / "vectors" / "overflow-errors.json"
TEXTS = sorted(
    {v["input"]["message"] or "" for v in json.loads(VECTORS.read_text("utf-8"))["vectors"]}
)


@pytest.mark.parametrize("text", TEXTS)
def test_429_is_never_an_overflow_whatever_it_says(text: str) -> None:
    assert not classify(text, RULES, 429).overflow


@pytest.mark.parametrize(
    "text",
    [
        "429 rate limit: too many tokens per minute",
        "exceeds the limit of 100 requests per minute",
        "Quota exceeded: too many tokens",
        "the context window of this model is 200k tokens",
        "Rate limit reached: maximum context of your plan per day",
    ],
)
def test_no_false_alarm(text: str) -> None:
    assert not classify(text, RULES).overflow


@pytest.mark.parametrize(
    "text",
    [
        "This model's maximum prompt length is 131072 but the request contains 537812 tokens",
        "the request exceeds the available context size, try increasing it",
        "input is too long",
        "maximum context exceeded",
        "the number of tokens exceeds 8192",
        "prompt too long; n_ctx=4096",
    ],
)
def test_no_overflow_missed(text: str) -> None:
    assert classify(text, RULES).overflow


def test_too_many_bytes_is_told_apart() -> None:
    assert classify("413 Request Entity Too Large", RULES).payload
    assert classify("too large", RULES, 413).payload
    assert not classify("prompt is too long", RULES).payload


@given(st.text(max_size=300))
def test_any_text_is_classed(text: str) -> None:
    classify(text, RULES)


def test_hostile_text_takes_no_time() -> None:
    classify("context window " * 200_000, RULES)


@pytest.mark.parametrize(
    ("usage", "window", "over"),
    [
        (Usage(150_000, 0, 60_000), 200_000, True),
        (Usage(100_000, 0, 60_000, 90_000), 200_000, True),
        (Usage(200_000), 200_000, False),
        (Usage(1), 0, False),
        (None, 200_000, False),
    ],
)
def test_silent_overflow(usage: Usage | None, window: int, over: bool) -> None:
    assert silent_overflow(usage, "length", window, RULES) == over


def test_words_count_in_a_failed_answer_only() -> None:
    assert is_overflow("error", "prompt is too long", None, 0, RULES)
    assert not is_overflow("stop", "prompt is too long", None, 0, RULES)
