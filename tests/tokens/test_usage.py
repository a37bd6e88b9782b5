"""Recorded usage beats the estimate for what it covers, and corrects it for the rest."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from snapcompact.history.model import (
    Blob,
    Message,
    Meta,
    Other,
    Role,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Usage,
)
from snapcompact.tokens import estimate_tokens
from snapcompact.tokens.messages import message_tokens
from snapcompact.tokens.usage import FACTOR_BOUNDS, LEAST_TOKENS, context_tokens

WORDS = b"The quick brown fox jumps over the lazy dog. "


def said(role: Role, data: bytes, meta: Meta | None = None) -> Message:
    return Message(role, (Text(data),), meta=meta or Meta())


def answer(total: int, data: bytes = b"Yes.", stop: str = "end_turn", key: str = "") -> Message:
    usage = Usage(input=total - 12, output=10, cache_read=1, cache_write=1)
    return said(Role.ASSISTANT, data, Meta(id=key, model="m", stop=stop, usage=usage))


def counted(*words: bytes) -> int:
    """Tokens of messages that say `words`, rounded once."""
    return round(float(message_tokens([said(Role.USER, part) for part in words]).sum()))


def test_without_usage_all_is_estimated() -> None:
    found = context_tokens([said(Role.USER, WORDS), said(Role.ASSISTANT, WORDS)])
    assert (found.measured, found.answer, found.factor) == (0, None, 1.0)
    assert found.total == found.estimated == counted(WORDS, WORDS)
    assert found.share_measured == 0


def test_what_follows_the_newest_answer_is_estimated() -> None:
    tail = [said(Role.USER, WORDS), said(Role.USER, WORDS)]
    found = context_tokens([said(Role.USER, WORDS), answer(500), answer(900), *tail])
    assert (found.measured, found.answer) == (900, 2)
    assert found.estimated == counted(WORDS, WORDS)
    assert found.share_measured == 900 / found.total


@pytest.mark.parametrize("stop", ["aborted", "error", "error: overloaded"])
def test_a_failed_answer_measures_nothing(stop: str) -> None:
    found = context_tokens([answer(500), said(Role.USER, WORDS), answer(19, b"", stop=stop)])
    assert (found.measured, found.answer) == (500, 0)


def test_an_empty_usage_measures_nothing() -> None:
    empty = said(Role.ASSISTANT, b"Hm.", Meta(usage=Usage()))
    assert context_tokens([answer(500), empty]).measured == 500


def test_usage_before_a_compaction_counts_nothing() -> None:
    mark = said(Role.NOTE, b"Compacted.")
    after = [replace(mark, label="compaction"), said(Role.USER, WORDS)]
    found = context_tokens([said(Role.USER, WORDS), answer(500), *after])
    assert (found.measured, found.answer) == (0, None)
    assert found.estimated == round(message_tokens(after).sum())


@pytest.mark.parametrize("label", ["agent 7", "left branch", "left branch agent 7"])
def test_what_never_was_in_the_context_counts_nothing(label: str) -> None:
    aside = [replace(said(Role.USER, WORDS), label=label), replace(answer(19), label=label)]
    assert context_tokens([answer(500), *aside]) == context_tokens([answer(500)])


def test_a_split_answer_ends_with_its_last_part() -> None:
    parts = [answer(800, key="a"), answer(820, b"No.", key="a")]
    found = context_tokens([said(Role.USER, WORDS), *parts])
    assert (found.measured, found.estimated, found.answer) == (820, 0, 2)


def test_a_result_between_the_parts_of_an_answer_was_not_sent_with_it() -> None:
    between = said(Role.TOOL, WORDS)
    found = context_tokens([answer(800, key="a"), between, answer(800, key="a")])
    assert (found.measured, found.estimated) == (800, estimate_tokens(WORDS))


def test_an_answer_counted_while_it_streamed_is_estimated() -> None:
    found = context_tokens([said(Role.USER, WORDS), answer(800, WORDS * 20)])
    assert found.measured == 800
    assert found.estimated == estimate_tokens(WORDS * 20) - 10  # its usage says ten of output


def grown(factor: float, rounds: int = 40) -> list[Message]:
    """A session whose measured growth is `factor` times the estimate of what was said."""
    messages, total = [answer(1000)], 1000.0
    for _ in range(rounds):
        asked = said(Role.USER, WORDS * 20)
        total += factor * float(message_tokens([asked, answer(9)]).sum())
        messages += [asked, answer(round(total))]
    return [*messages, said(Role.USER, WORDS * 20)]


@pytest.mark.parametrize("factor", [0.7, 1.0, 1.3])
def test_past_answers_correct_the_estimate(factor: float) -> None:
    found = context_tokens(grown(factor))
    assert found.factor == pytest.approx(factor, rel=0.01)
    plain = estimate_tokens(WORDS * 20)
    assert found.estimated == pytest.approx(plain * factor, abs=2)


def test_what_was_put_in_unseen_corrects_nothing() -> None:
    """A program added 50,000 tokens, and took them out again, between two of 40 answers."""
    messages = grown(1.1)
    more = [replace(m, meta=m.meta._replace(usage=Usage(m.meta.usage.total + 50_000, 1)))
            if m.meta.usage and 20 < n < 60 else m for n, m in enumerate(messages)]  # fmt: skip
    assert context_tokens(more).factor == pytest.approx(1.1, rel=0.01)


@pytest.mark.parametrize("factor", [FACTOR_BOUNDS[0] / 2, FACTOR_BOUNDS[1] * 2])
def test_an_impossible_correction_is_left_out(factor: float) -> None:
    assert context_tokens(grown(factor)).factor == 1


def test_too_little_growth_corrects_nothing() -> None:
    messages = grown(1.3, rounds=2)
    assert message_tokens(messages).sum() < LEAST_TOKENS
    assert context_tokens(messages).factor == 1


def test_another_model_corrects_nothing() -> None:
    other = said(Role.ASSISTANT, b"Yes.", Meta(model="n", usage=Usage(input=99_000)))
    assert context_tokens([*grown(1.3), other, said(Role.USER, WORDS)]).factor == 1


def test_a_message_counts_its_words_alone() -> None:
    call = ToolCall("1", "read", b'{"path": "a.py"}')
    result = ToolResult("1", (Text(WORDS), Blob("image", size=9), Other("x", WORDS)))
    counts = message_tokens(
        [
            Message(Role.ASSISTANT, (Thinking(WORDS, sealed_bytes=99), call)),
            Message(Role.TOOL, (result,)),
            Message(Role.USER, (Blob("image", size=9),)),
        ]
    )
    words = [WORDS + b'\nread\n{"path": "a.py"}', WORDS + b"\n" + WORDS, b""]
    assert [round(c) for c in counts] == [estimate_tokens(w) for w in words]


@settings(deadline=None)
@given(st.lists(st.tuples(st.booleans(), st.integers(12, 10**6)), max_size=12))
def test_the_parts_make_the_total(turns: list[tuple[bool, int]]) -> None:
    messages = [answer(n) if good else said(Role.USER, WORDS) for good, n in turns]
    found = context_tokens(messages)
    assert found.total == found.measured + found.estimated
    assert 0 <= found.share_measured <= 1
    assert found.measured == next((n for good, n in reversed(turns) if good), 0)
