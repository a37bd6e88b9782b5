from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given, settings
from hypothesis import strategies as st

from snapcompact.compaction.context import Context, build_context
from snapcompact.compaction.counting import rule_estimator
from snapcompact.compaction.entries import Entry, Kind, Mark
from snapcompact.compaction.outcome import Reason, Status
from snapcompact.compaction.plan import Ask, Plan, decide, judge, plan_lines
from snapcompact.compaction.policy import preset
from snapcompact.compaction.prepare import CutRequest
from snapcompact.compaction.request import call_prompt
from tests.compaction.generated import answer, appended, call, entries_of, result, stretches, user
from tests.compaction.test_partition import check_partition

if TYPE_CHECKING:
    from snapcompact.history.model import Message

POLICY = preset()
ESTIMATE = rule_estimator(POLICY.tokens)


def context_of(messages: list[Message]) -> Context:
    return build_context(entries_of(messages), POLICY.context)


def planned(messages: list[Message], ask: Ask) -> Plan:
    return decide(context_of(messages), ask, ESTIMATE, POLICY)


@settings(max_examples=80, deadline=None)
@given(stretch=stretches(), window=st.sampled_from([0, 500, 4000, 16000, 200_000]))
def test_any_session_has_a_plan_and_it_prints(
    stretch: list[tuple[Kind, Message | None]], window: int
) -> None:
    context = build_context(appended((), stretch), POLICY.context)
    plan = decide(context, Ask(window=window), ESTIMATE, POLICY)
    assert list(plan_lines(plan, ESTIMATE))
    assert plan.tokens_before == sum(ESTIMATE(item.message) for item in context.items)
    if plan.preparation:
        assert plan.outcome is None
        check_partition(context, plan.partition)
    if plan.tail and plan.tail.fits:
        assert plan.tail.tokens <= window


def test_nothing_to_compact_says_which_nothing() -> None:
    assert planned([], Ask(window=16000)).outcome.reason is Reason.NO_MESSAGES  # type: ignore[union-attr]
    small = planned([user("a"), answer("b")], Ask(window=16000)).outcome
    assert small is not None
    assert (small.reason, small.status) == (Reason.NOTHING, Status.NOTHING)
    entries = entries_of([user("a"), answer("b")])
    mark = Entry("c1", Kind.COMPACTION, None, "e1", Mark("S", "e1"))
    again = decide(
        build_context((*entries, mark), POLICY.context), Ask(window=16000), ESTIMATE, POLICY
    ).outcome
    assert again is not None
    assert again.reason is Reason.ALREADY


def test_a_tail_over_the_window_is_shrunk_with_a_pointer() -> None:
    """CONFLICTS 8: a huge last result, alone over the window."""
    messages = [user("go"), answer("", call("1")), result("1", "line", 400_000)]
    plan = planned(messages, Ask(window=16000))
    assert plan.tail is not None
    assert plan.tail.fits
    assert plan.tail.tokens <= 16000 * 0.6
    cut = plan.tail.edits[0].text
    assert cut.startswith("line")
    assert "the archive, entry e2" in cut
    assert plan.tail.items[0].message == messages[0]


def test_a_second_pass_over_the_same_stops() -> None:
    """Case 04: it does not repeat itself."""
    messages = [user("start"), answer("ready"), user("report", 120_000)]
    context = context_of(messages)
    plan = decide(context, Ask(window=200_000), ESTIMATE, POLICY)
    assert plan.preparation is not None
    mark = Entry("c1", Kind.COMPACTION, None, "e2", Mark("S", plan.preparation.first_kept))
    after = build_context((*context.path, mark), POLICY.context)
    second = decide(after, Ask(window=200_000), ESTIMATE, POLICY)
    assert second.outcome is not None
    assert second.outcome.status is Status.NOTHING


def test_what_is_summarised_is_pruned_for_the_summariser_alone() -> None:
    messages = [user("go")]
    for number in range(8):
        messages += [
            answer("", call(f"c{number}", args=b'{"path":"f%d"}' % number)),
            result(f"c{number}", "line", 60_000),
        ]
    messages += [user("next", 40_000), answer("done", size=40_000)]
    plan = planned(messages, Ask(window=200_000))
    assert plan.reductions
    assert all(step.saved > 0 for step in plan.reductions)
    # The partition itself is untouched: the archive gets every byte.
    assert all(item.message in messages for item in plan.partition.summarised)
    text = call_prompt(plan.calls[0], POLICY.prompt, POLICY.serial)
    assert len(text) < 60_000


def test_a_forced_plan_keeps_the_last_part() -> None:
    messages = [user("a"), answer("b"), user("c"), answer("d")]
    plan = planned(messages, Ask(window=200_000, cut=CutRequest(force=True)))
    assert plan.preparation is not None
    assert plan.preparation.first_kept == "e3"


def test_a_result_that_does_not_shrink_is_refused() -> None:
    messages = [user("a", 4000), answer("b", size=4000), user("c", 40_000)]
    ask = Ask(window=200_000, cut=CutRequest(keep_tokens=5000))
    plan = planned(messages, ask)
    assert judge(plan, 100, ask, ESTIMATE, POLICY).accepted
    refused = judge(plan, 2500, ask, ESTIMATE, POLICY)
    assert not refused.accepted
    assert refused.reason is Reason.INEFFECTIVE


def test_skill_text_is_carried() -> None:
    skill = user('<skill name="x">how to</skill>')
    plan = planned([skill, answer("b"), user("c", 120_000), answer("d")], Ask(window=200_000))
    assert [item.id for item in plan.protected] == ["e0"]


def test_a_tail_makes_room_for_what_is_pinned_beside_it() -> None:
    messages = [user("keep this", 16_000), answer("b", size=4000), user("big", 60_000)]
    ask = Ask(window=16000, cut=CutRequest(pins=("e0",)))
    plan = planned(messages, ask)
    assert [item.id for item in plan.partition.pinned] == ["e0"]
    assert plan.tail is not None
    assert plan.kept_tokens(ESTIMATE) <= 16000 * 0.6
    assert judge(plan, 500, ask, ESTIMATE, POLICY).accepted
