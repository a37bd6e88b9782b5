from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from snapcompact.compaction.context import build_context
from snapcompact.compaction.counting import rule_estimator
from snapcompact.compaction.entries import Entry, Kind, Mark
from snapcompact.compaction.policy import preset
from snapcompact.compaction.prepare import CutRequest, Preparation, prepare
from snapcompact.compaction.request import (
    Call,
    call_prompt,
    finish,
    input_windows,
    join_answers,
    plan_calls,
)
from tests.compaction.generated import answer, call, entries_of, result, user

POLICY = preset()
ESTIMATE = rule_estimator(POLICY.tokens)


def prepared(*, split: bool, history: bool = True, previous: bool = False) -> Preparation:
    messages = [user("old", 400), answer("old", size=400)] if history else []
    messages += [user("now", 12_000), answer("", call("1")), result("1", "x", 400)]
    messages += [answer("tail", size=400)] if split else [user("tail", 400)]
    entries = entries_of(messages, 1)
    if previous:
        mark = Entry("c0", Kind.COMPACTION, None, None, Mark("EARLIER", ""))
        entries = (mark, *(Entry(e.id, e.kind, e.message, "c0" if not n else e.parent)
                           for n, e in enumerate(entries)))  # fmt: skip
    context = build_context(entries, POLICY.context)
    made = prepare(context, CutRequest(keep_tokens=90), ESTIMATE, POLICY.prepare)
    assert made is not None
    return made


def test_a_clean_cut_is_one_call() -> None:
    calls = plan_calls(prepared(split=False), "F", POLICY.summary)
    assert [c.kind for c in calls] == [Call.HISTORY]
    assert calls[0].focus == "F"


def test_a_split_turn_is_two_and_focus_reaches_both() -> None:
    calls = plan_calls(prepared(split=True), "F", POLICY.summary)
    assert [c.kind for c in calls] == [Call.HISTORY, Call.PREFIX]
    assert all(c.focus == "F" for c in calls)
    text, _ = join_answers(calls, ["A", "B"], POLICY.summary)
    assert text.startswith("A")
    assert text.endswith("B")


def test_a_previous_summary_always_reaches_a_call() -> None:
    """pi drops it in a split turn without history (CONFLICTS 11)."""
    made = prepared(split=True, history=False, previous=True)
    assert made.previous_summary == "EARLIER"
    for name in ("default", "kit", "oh-my-pi"):
        calls = plan_calls(made, "", preset(name).summary)
        prompts = [call_prompt(c, POLICY.prompt, POLICY.serial) for c in calls]
        assert any("EARLIER" in prompt for prompt in prompts), name


def test_every_summarised_message_is_in_a_prompt() -> None:
    made = prepared(split=True)
    calls = plan_calls(made, "", preset("kit").summary)
    sent = [item for c in calls for item in c.items]
    assert sent == list(made.partition.summarised)


def test_file_lists_follow_the_summary_and_an_empty_one_stays_empty() -> None:
    made = prepared(split=True)
    calls = plan_calls(made, "", POLICY.summary)
    assert finish(made, calls, ["A", "B"], POLICY.summary, POLICY.files).text.endswith(
        "<read-files>\na.py\n</read-files>"
    )
    assert finish(made, calls, ["", " "], POLICY.summary, POLICY.files).text == ""


@given(
    counts=st.lists(st.integers(0, 100), max_size=40),
    limit=st.integers(1, 200),
    borders=st.sets(st.integers(0, 40)),
)
def test_windows_cover_all_and_break_at_borders_only(
    counts: list[int], limit: int, borders: set[int]
) -> None:
    found = input_windows(counts, limit, sorted(borders))
    flat = [index for start, end in found for index in range(start, end)]
    assert flat == list(range(len(counts)))
    assert all(start in borders for start, _ in found[1:])
    for start, end in found:
        inner = [border for border in borders if start < border < end]
        assert sum(counts[start:end]) <= limit or all(
            sum(counts[start:border]) == 0 for border in inner
        )
