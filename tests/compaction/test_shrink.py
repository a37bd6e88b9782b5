from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given, settings
from hypothesis import strategies as st

from snapcompact.compaction.counting import rule_estimator
from snapcompact.compaction.entries import Item, Kind
from snapcompact.compaction.policy import preset
from snapcompact.compaction.shrink import ceiling, cut_results, shrink_tail
from tests.compaction.generated import answer, appended, call, entries_of, result, stretches, user

if TYPE_CHECKING:
    from snapcompact.history.model import Message

POLICY = preset()
ESTIMATE = rule_estimator(POLICY.tokens)


def pointer(item: Item) -> str:
    return f"archive {item.id}"


def items_of(messages: list[Message]) -> tuple[Item, ...]:
    return tuple(Item(entry, entry.message) for entry in entries_of(messages) if entry.message)


@settings(max_examples=100, deadline=None)
@given(stretch=stretches(), target=st.integers(1, 5000))
def test_shrinking_tells_the_truth(stretch: list[tuple[Kind, Message | None]], target: int) -> None:
    items = tuple(Item(e, e.message) for e in appended((), stretch) if e.message)
    made = shrink_tail(items, target, ESTIMATE, POLICY.shrink, pointer)
    total = sum(ESTIMATE(item.message) for item in made.items)
    assert made.tokens == total
    assert made.fits == (total <= target)
    before = sum(ESTIMATE(item.message) for item in items)
    assert before - total == sum(edit.saved for edit in made.edits)
    assert [item.id for item in made.items] == [item.id for item in items]
    changed = {edit.index for edit in made.edits}
    assert all(
        new.message == old.message
        for index, (new, old) in enumerate(zip(made.items, items, strict=True))
        if index not in changed
    )


def test_results_go_before_answers_before_the_users_words() -> None:
    items = items_of(
        [user("paste", 40_000), answer("said", call("1"), size=40_000), result("1", "out", 40_000)]
    )
    for target, touched in ((22_000, {2}), (12_000, {1, 2}), (4000, {0, 1, 2})):
        made = shrink_tail(items, target, ESTIMATE, POLICY.shrink, pointer)
        assert made.fits
        assert {edit.index for edit in made.edits} == touched


def test_head_and_tail_stay() -> None:
    items = items_of([result("1", "x", 40_000), result("2", "START " + "y" * 40_000 + " END", 4)])
    made = shrink_tail(items, 12_000, ESTIMATE, POLICY.shrink, pointer)
    edit = next(edit for edit in made.edits if edit.index == 1)
    assert edit.text.startswith("START ")
    assert edit.text.rstrip().endswith("END")
    assert "archive e1" in edit.text


def test_results_are_brought_under_the_ceiling() -> None:
    rules = POLICY.shrink
    items = items_of([user("go"), answer("", call("1")), result("1", "a", 12_000)])
    plug = preset("plugsuits")
    estimate = rule_estimator(plug.tokens)
    edits = cut_results(items, 1000, 100, estimate, rules)
    assert len(edits) == 1
    assert ceiling(1000, 100, rules) == 900
    assert not cut_results(items, 100_000, 100, estimate, rules)
