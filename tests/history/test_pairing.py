"""Which call a result answers."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from snapcompact.history import pairing
from snapcompact.history.model import Message, Role, Text, ToolCall, ToolResult
from snapcompact.history.pairing import Answer, Pairing, Standing, pair
from tests.strategies import histories

FIRST, AGAIN, ORPHAN = Standing.FIRST, Standing.AGAIN, Standing.ORPHAN
USER = Message(Role.USER, (Text(b"go"),))


def _calls(*ids: str) -> Message:
    return Message(Role.ASSISTANT, tuple(ToolCall(call, "f", b"{}") for call in ids))


def _result(call: str) -> Message:
    return Message(Role.TOOL, (ToolResult(call, ()),))


def _answers(messages: Sequence[Message]) -> list[Answer]:
    """Answers without the numbers of their calls."""
    return [answer._replace(number=0) for _, answer in pair(messages) if answer is not None]


@pytest.mark.parametrize(
    ("messages", "expected"),
    [
        ([_calls("a"), _result("a")], [Answer(FIRST, 0, 0)]),
        (
            [_calls("a", "b"), _result("b"), _result("a")],
            [Answer(FIRST, 0, 1), Answer(FIRST, 0, 0)],
        ),
        ([_result("a"), _calls("a")], [Answer(ORPHAN)]),
        # an aborted result and a complete one share an id
        ([_calls("a"), _result("a"), _result("a")], [Answer(FIRST, 0, 0), Answer(AGAIN, 0, 0)]),
        # ids start again each turn
        (
            [_calls("a"), _result("a"), USER, _calls("a"), _result("a")],
            [Answer(FIRST, 0, 0), Answer(FIRST, 3, 0)],
        ),
        # the first turn's call was never answered
        ([_calls("a"), USER, _calls("a"), _result("a")], [Answer(FIRST, 2, 0)]),
        # two parallel calls with one id, in one message or in two
        (
            [_calls("a", "a"), _result("a"), _result("a")],
            [Answer(FIRST, 0, 0), Answer(FIRST, 0, 1)],
        ),
        (
            [_calls("a"), _calls("a"), _result("a"), _result("a")],
            [Answer(FIRST, 0, 0), Answer(FIRST, 1, 0)],
        ),
        # no ids at all, or only on the results
        ([_calls("", ""), _result(""), _result("")], [Answer(FIRST, 0, 0), Answer(FIRST, 0, 1)]),
        ([_calls("", ""), _result("x"), _result("y")], [Answer(FIRST, 0, 0), Answer(FIRST, 0, 1)]),
        ([_calls("a", "b"), _result("")], [Answer(FIRST, 0, 0)]),
        # an unknown id does not take another's call
        ([_calls("a"), _result("b"), _result("a")], [Answer(ORPHAN), Answer(FIRST, 0, 0)]),
        ([_calls("a"), USER, _result("a")], [Answer(FIRST, 0, 0, late=True)]),
    ],
)
def test_pairs(messages: list[Message], expected: list[Answer]) -> None:
    assert _answers(messages) == expected


def test_calls_are_numbered_from_1() -> None:
    messages = [_calls("a", "b"), _result("b"), _result("a"), _result("x")]
    assert [answer.number for _, answer in pair(messages) if answer] == [2, 1, 0]


def test_calls_without_a_result_are_known() -> None:
    found = Pairing()
    for message in [_calls("a", "b"), _result("b"), _calls("c")]:
        found.feed(message)
    assert found.unanswered() == [(0, 0), (2, 0)]


def test_the_window_bounds_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pairing, "WINDOW", 10)
    messages = [_calls(f"c{n}") for n in range(30)]
    answers = _answers([*messages, _result("c3"), _result("c25")])
    assert answers == [Answer(ORPHAN), Answer(FIRST, 25, 0)]


@given(histories)
def test_a_result_answers_an_earlier_call_once(messages: list[Message]) -> None:
    firsts = set()
    for at, (message, answer) in enumerate(pair(messages)):
        assert (answer is None) == (message.role is not Role.TOOL)
        if answer is None or answer.standing is ORPHAN:
            continue
        assert answer.message < at
        assert isinstance(messages[answer.message].blocks[answer.block], ToolCall)
        if answer.standing is FIRST:
            assert (answer.message, answer.block) not in firsts
            firsts.add((answer.message, answer.block))


@given(histories, st.integers(0, 8))
def test_a_prefix_pairs_as_it_did(messages: list[Message], size: int) -> None:
    whole = [answer for _, answer in pair(messages)]
    assert [answer for _, answer in pair(messages[:size])] == whole[:size]
