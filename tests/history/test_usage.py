"""Recorded usage, titles, and spans taken back."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from snapcompact.errors import UnknownNameError
from snapcompact.history.model import Message, Meta, Role, Text, Usage
from snapcompact.history.report import Report
from snapcompact.history.spans import Span, Spans
from snapcompact.history.titles import TITLE_CHARACTERS, Titles, first_line
from snapcompact.history.usage import per_answer, usage_of


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, None),
        ("x", None),
        ({}, None),
        ({"input_tokens": 0, "output_tokens": 0}, None),
        ({"input_tokens": 10**12}, None),
        ({"input_tokens": -1, "output_tokens": 5}, None),
        ({"input_tokens": 1.5}, None),
        ({"input_tokens": True}, None),
        (
            {
                "input_tokens": 4,
                "output_tokens": 57,
                "cache_read_input_tokens": 9,
                "cache_creation_input_tokens": 2,
            },
            Usage(4, 57, 9, 2),
        ),
        ({"prompt_tokens": 10, "completion_tokens": 3}, Usage(10, 3)),
        (
            {
                "prompt_tokens": 10,
                "completion_tokens": 3,
                "prompt_tokens_details": {"cached_tokens": 6},
            },
            Usage(4, 3, 6),
        ),
        ({"input_tokens": 10, "cached_input_tokens": 6, "output_tokens": 3}, Usage(4, 3, 6)),
        (
            {"input_tokens": 10, "output_tokens": 3, "input_tokens_details": {"cached_tokens": 6}},
            Usage(4, 3, 6),
        ),
    ],
)
def test_usage_of(value: Any, expected: Usage | None) -> None:
    assert usage_of(value) == expected


def test_split_answers_count_once_with_most_output() -> None:
    def message(answer: str, output: int) -> Message:
        return Message(Role.ASSISTANT, (Text(b"x"),), meta=Meta(answer, usage=Usage(1, output)))

    spent = [message("a", 1), message("b", 5), message("a", 9), message("a", 2), message("", 3)]
    assert sorted(usage.output for _, usage in per_answer(spent)) == [3, 5, 9]
    many = [message(str(n), n + 1) for n in range(500)]
    assert [usage.output for _, usage in per_answer(many)] == list(range(1, 501))


def test_titles() -> None:
    report = Report()
    titles = Titles(report, ("by hand", "by model"))
    titles.guess("a guess")
    assert report.info["title"] == "a guess"
    titles.prompt("\n  First words \nmore")
    titles.prompt("Second words")
    titles.guess("too late")
    assert report.info["title"] == "First words"
    titles.add("by model", "M")
    titles.add("by hand", "H")
    titles.add("by model", "M2")
    titles.add("by hand", None)
    assert report.info["title"] == "H"
    assert len(first_line("x" * 500)) == TITLE_CHARACTERS


spans_of_lines = st.lists(
    st.tuples(st.integers(1, 20), st.integers(1, 9)).map(lambda t: Span(t[0], t[0] + t[1])),
    max_size=6,
)


@given(spans_of_lines)
def test_a_line_is_left_where_any_span_has_it(found: list[Span]) -> None:
    spans = Spans(found, "active")
    for line in range(1, 32):
        assert spans.dropped(line) == any(span.first <= line < span.end for span in found)


def test_spans() -> None:
    spans = [Span(2, 5), Span(8, 9)]
    active = Spans(spans, "active")
    assert [line for line in range(1, 12) if active.dropped(line)] == [2, 3, 4, 8]
    assert active.branches == ["before-line-5", "before-line-9"]
    everything = Spans(spans, "all")
    message = Message(Role.USER, (), "context", Meta(line=3))
    assert not everything.dropped(3)
    assert everything.marked(message).label == "left branch context"
    assert active.marked(message) == message
    second = Spans(spans, "before-line-9")
    kept = [n for n in range(1, 12) if not second.dropped(n) and not second.ended(n)]
    assert kept == [1, 5, 6, 7, 8]
    with pytest.raises(UnknownNameError, match="known: none"):
        Spans([], "x")
