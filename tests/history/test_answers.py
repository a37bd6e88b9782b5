"""Split and growing answers; what was seen before; what is said twice."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from snapcompact.history import answers, twins
from snapcompact.history import seen as seen_module
from snapcompact.history.answers import Answers
from snapcompact.history.model import (
    Block,
    Message,
    Meta,
    Role,
    Text,
    Thinking,
    ToolCall,
    Usage,
)
from snapcompact.history.report import Report
from snapcompact.history.seen import Seen
from snapcompact.history.twins import Twins

if TYPE_CHECKING:
    import pytest


@given(st.lists(st.sampled_from(["a", "b", "ab", ""]), max_size=8))
def test_what_is_told_of_a_growing_answer_is_its_text(steps: list[str]) -> None:
    """A text written again and longer is told once, in pieces."""
    report = Report()
    said = Answers(report)
    whole, told = "", b""
    for step in steps:
        whole += step
        found: list[Block] = [Text(whole.encode())] if whole else []
        told += b"".join(b.data for b in said.fresh("m", found) if isinstance(b, Text))
    assert told == whole.encode()


def test_calls_are_told_once_by_id_and_seals_always() -> None:
    report = Report()
    said = Answers(report)
    call, seal = ToolCall("t", "f", b"{}"), Thinking(b"", 9)
    assert said.fresh("m", [seal, call]) == [seal, call]
    assert said.fresh("m", [seal, ToolCall("t", "f", b'{"a":1}')]) == [seal]
    assert said.fresh("n", [call]) == [call]
    assert said.fresh("", [call]) == [call]
    assert report.duplicates == {"repeated block": 1}


def test_only_so_many_answers_are_remembered() -> None:
    said = Answers(Report())
    block: list[Block] = [Text(b"same")]
    for number in range(answers.WINDOW + 1):
        assert said.fresh(str(number), block) == block
    assert said.fresh("0", block) == block
    assert said.fresh(str(answers.WINDOW), block) == []


@given(st.lists(st.integers(0, 400), max_size=2000))
def test_seen_is_a_set(numbers: list[int]) -> None:
    seen, twin = Seen(), set()
    for number in numbers:
        text = f"id-{number}"
        assert seen.add(text) == (text not in twin)
        twin.add(text)


def test_seen_forgets_only_what_is_far_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(seen_module, "MOST_IDS", 100)
    seen = Seen()
    for number in range(1000):
        assert seen.add(str(number))
        assert number < 99 or not seen.add(str(number - 99))
    assert seen.add("0")


def test_seen_grows() -> None:
    seen = Seen()
    assert all(seen.add(str(n)) for n in range(5000))
    assert not any(seen.add(str(n)) for n in range(5000))


def _message(text: str, role: Role = Role.ASSISTANT) -> Message:
    return Message(role, (Text(text.encode()),))


@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from(["item", "event"])), max_size=30))
def test_twins_tell_every_word_and_items_once(steps: list[tuple[str, str]]) -> None:
    report = Report()
    said = Twins(report)
    told: list[str] = []
    for text, kind in steps:
        if kind == "item":
            said.item([_message(text)], frozenset((text,)))
        else:
            said.event("agent_message", [_message(text)], text)
        told += [message.text for message in said.ready()]
    told += [message.text for message in said.rest()]
    for text in "abc":
        items, events = steps.count((text, "item")), steps.count((text, "event"))
        assert told.count(text) == max(items, events)
    assert report.duplicates["event twin"] == len(steps) - len(told)


def test_an_event_waits_only_so_long_for_its_item() -> None:
    said = Twins(Report())
    said.event("agent_message", [_message("alone")], "alone")
    for number in range(twins.WINDOW):
        said.other([_message(str(number))])
    assert next(said.ready()).text == "alone"


def test_usage_finds_the_newest_answer_still_held() -> None:
    said = Twins(Report())
    said.other([_message("a")])
    said.other([_message("result", Role.TOOL)])
    assert said.usage(Usage(1, 2))
    assert not said.usage(Usage(3, 4))
    assert [message.meta for message in said.rest()] == [Meta(usage=Usage(1, 2)), Meta()]
