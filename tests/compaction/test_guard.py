from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from snapcompact.compaction.breaker import (
    Breaker,
    BreakerRules,
    TurnCount,
    counts_as_failure,
    per_turn_cap,
)
from snapcompact.compaction.entries import Item
from snapcompact.compaction.guard import (
    Continuation,
    Queued,
    accept,
    check_summary,
    continuation,
    continues_alone,
    delivery,
    judge_progress,
    to_replay,
)
from snapcompact.compaction.outcome import Outcome, Reason, Status, manual_gate
from snapcompact.compaction.policy import preset
from snapcompact.compaction.recovery import (
    Action,
    Answer,
    Situation,
    Turn,
    after_answer,
    climb,
    overflow_turn,
)
from snapcompact.compaction.speculate import blocking_events, may_start, prepared, stale
from tests.compaction.generated import answer, call, entries_of, user

if TYPE_CHECKING:
    from snapcompact.history.model import Message

POLICY = preset()
RULES = POLICY.accept


def items_of(messages: list[Message]) -> list[Item]:
    return [Item(entry, entry.message) for entry in entries_of(messages) if entry.message]


@given(before=st.integers(1, 500_000), after=st.integers(0, 500_000), auto=st.booleans())
def test_nothing_that_grows_is_accepted(before: int, after: int, auto: bool) -> None:
    judged = accept(before, after, 200_000, 30_000, RULES, auto=auto)
    if judged.accepted:
        assert after < before
        assert not auto or after < 170_000
    assert judged.accepted or judged.reason is Reason.INEFFECTIVE


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", Reason.EMPTY),
        (" \n\t", Reason.EMPTY),
        ('{"tool_calls": [{"id": 1}]}', Reason.PROTOCOL),
        ("<function_calls>\n<invoke", Reason.PROTOCOL),
        ("<|im_start|>assistant", Reason.PROTOCOL),
        ("## Goal\nFix it", Reason.DONE),
        ("{not protocol}", Reason.DONE),
        ('{"type":"compact","id":1}', Reason.PROTOCOL),
        ('```json\n{"type": "message",\n "role": "user"}\n```', Reason.PROTOCOL),
        ('[{"method": "tools/call"}]', Reason.PROTOCOL),
        ('{"goal": "Fix it"}', Reason.DONE),
        ('The server sends {"type":"compact"} and waits.', Reason.DONE),
    ],
)
def test_what_is_no_summary(text: str, reason: Reason) -> None:
    assert check_summary(text, RULES) is reason


@given(residual=st.integers(0, 300_000), queued=st.integers(0, 2), retry=st.booleans())
def test_queued_input_is_always_delivered(residual: int, queued: int, retry: bool) -> None:
    found = judge_progress(
        residual, 200_000, POLICY.trigger, RULES, will_retry=retry, queued=queued
    )
    assert found.delivers_queue == (queued > 0)
    assert found.fits == (residual <= (170_000 if retry else 136_000))
    assert found.may_continue == (found.fits or queued > 0)
    assert not (found.rescue and found.dead_end)


def test_one_rescue_then_a_dead_end() -> None:
    first = judge_progress(180_000, 200_000, POLICY.trigger, RULES)
    again = judge_progress(180_000, 200_000, POLICY.trigger, RULES, rescued=True)
    assert (first.rescue, first.dead_end) == (True, False)
    assert (again.rescue, again.dead_end) == (False, True)


def test_going_on_alone() -> None:
    assert continues_alone("overflow", RULES, mid_turn=True, before_prompt=True)
    assert continues_alone("threshold", RULES, mid_turn=False, before_prompt=False)
    assert not continues_alone("threshold", RULES, mid_turn=True, before_prompt=False)
    off = replace(RULES, auto_continue=False)
    assert not continues_alone("threshold", off, mid_turn=False, before_prompt=False)


def test_only_an_unanswered_request_outside_the_tail_is_said_again() -> None:
    """plugsuits says it again even where it was answered."""
    asked = items_of([user("old"), answer("done"), user("do it")])
    assert to_replay(asked, [], RULES) is asked[2]
    assert to_replay(asked, asked[2:], RULES) is None
    begun = items_of([user("do it"), answer("", call("1"))])
    assert to_replay(begun, [], RULES) is None
    assert to_replay(begun, [], replace(RULES, replay="always")) is begun[0]
    assert to_replay(asked, [], replace(RULES, replay="never")) is None


def test_continuation_variants() -> None:
    assert continuation(auto=False, replay=True) is Continuation.MANUAL
    assert continuation(auto=True, replay=True) is Continuation.AUTO_WITH_REPLAY
    assert continuation(auto=True, replay=False) is Continuation.TOOL_LOOP
    assert continuation(auto=True, replay=False, overflow=True) is Continuation.OVERFLOW


@given(st.lists(st.tuples(st.text(max_size=3), st.booleans()), max_size=8))
def test_steering_first_order_kept(queue: list[tuple[str, bool]]) -> None:
    made = delivery([Queued(text, steer) for text, steer in queue])
    assert [q.text for q in made] == [t for t, s in queue if s] + [t for t, s in queue if not s]


@given(
    ops=st.lists(st.tuples(st.sampled_from(["fail", "ok"]), st.integers(0, 100_000)), max_size=20)
)
def test_the_breaker_opens_at_the_limit_and_closes_after_the_cool_down(
    ops: list[tuple[str, int]],
) -> None:
    rules, state, now, failures = BreakerRules(), Breaker(), 0, 0
    for op, wait in ops:
        now += wait
        state = state.at(now, rules)
        if failures >= 3 and wait >= 60_000:
            failures = 0
        if op == "fail":
            state, failures = state.failed("x", now), failures + 1
        else:
            state, failures = Breaker(), 0
        assert state.is_open(rules) == (failures >= 3)


def test_cancel_and_benign_ends_are_no_failures() -> None:
    counted = {reason for reason in Reason if counts_as_failure(reason)}
    assert counted == {
        Reason.EMPTY, Reason.PROTOCOL, Reason.ERROR, Reason.NO_MODEL, Reason.NO_KEY,
    }  # fmt: skip


def test_ineffective_attempts_count_towards_the_cap() -> None:
    count = TurnCount()
    for _ in range(per_turn_cap(3)):
        assert not count.reached(3)
        count = count.after(Reason.INEFFECTIVE)
    assert count.reached(3)
    assert per_turn_cap(0) == per_turn_cap(None) == 10


def test_arguments_are_checked_before_anything_is_stopped() -> None:
    gate = manual_gate(focus_refused=True, running=True, has_model=False)
    assert gate == Outcome(Reason.FOCUS)
    assert manual_gate(running=True) == Outcome(Reason.BUSY)
    assert Outcome(Reason.BUSY).status is Status.BUSY
    assert Outcome(Reason.CANCELLED).status is Status.CANCELLED
    assert manual_gate() is None


def test_recovery_runs_once_a_turn_and_has_its_own_switch() -> None:
    over = Answer("error", "prompt is too long")

    def decide(situation: Situation, *, auto: bool = True) -> Action:
        trigger = replace(POLICY.trigger, enabled=auto)
        return after_answer(situation, trigger, POLICY.overflow, POLICY.recovery).action

    assert decide(Situation(200_000, over), auto=False) is Action.COMPACT
    assert decide(Situation(200_000, over, attempted=True)) is Action.GIVE_UP
    assert decide(Situation(200_000, replace(over, same_model=False))) is Action.NONE
    assert decide(Situation(200_000, over, compaction_at_ms=5)) is Action.NONE
    assert decide(Situation(0, Answer("stop", total=10**9))) is Action.NONE


@pytest.mark.parametrize(
    ("first", "compacted", "second", "messages", "end"),
    [
        ("ok", "ok", "ok", 5, Turn.DONE),
        ("overflow", "ok", "ok", 5, Turn.REPLAYED),
        ("overflow", "ok", "overflow", 5, Turn.STILL_OVER),
        ("overflow", "boom", "ok", 5, Turn.NOT_COMPACTED),
        ("overflow", "ok", "ok", 1, Turn.TOO_FEW),
    ],
)
def test_a_turn_is_replayed_once(
    first: str, compacted: str, second: str, messages: int, end: Turn
) -> None:
    assert overflow_turn(first, compacted, second, messages) is end


def test_a_rung_that_does_not_fit_is_undone() -> None:
    items = items_of([user("a"), user("b"), user("c")])
    seen: list[int] = []

    def drop(count: int, given: object) -> list[Item]:
        assert given is items
        seen.append(count)
        return items[count:]

    steps = [("one", lambda given: drop(1, given)), ("two", lambda given: drop(2, given))]
    found = climb(items, steps, lambda made: len(made) <= 1)
    assert (found.success, found.strategy, len(found.items)) == (True, "two", 1)
    failed = climb(items, steps, lambda made: not made)
    assert (failed.success, failed.items) == (False, tuple(items))
    assert seen == [1, 2, 1, 2]


def test_a_prepared_summary_is_dropped_when_its_base_changed() -> None:
    items = items_of([user("a"), answer("b")])
    made = prepared("S", items, 100)
    assert stale(made, items, 100, 50) == ""
    assert stale(made, [*items, *items_of([user("c")])], 140, 50) == ""
    assert "came since" in stale(made, items, 151, 50)
    assert "changed" in stale(made, items[:1], 100, 50)
    assert "changed" in stale(made, items_of([user("a"), answer("x")]), 100, 50)


@given(tokens=st.integers(0, 3000))
def test_a_background_summary_starts_below_the_threshold(tokens: int) -> None:
    free = {"enabled": True, "running": False, "waiting": False, "capped": False}
    assert may_start(tokens, 2000, 500, **free) == (1500 <= tokens < 2000)
    for key, value in free.items():
        assert not may_start(tokens, 2000, 500, **{**free, key: not value})


def test_blocking_events_start_and_end_once() -> None:
    for prune in ("done", "insufficient", "no-config"):
        for fits in (False, True):
            events = blocking_events("manual", prune=prune, fits_after_prune=fits)
            assert sum("starting" in event for event in events) == 1
            assert sum("completed" in event for event in events) == 1
