from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from snapcompact.compaction.counting import rule_estimator
from snapcompact.compaction.cut import find_cut, forced_cut, prefix_cut, snapped, turns_cut
from snapcompact.compaction.pairs import reach
from snapcompact.compaction.policy import preset
from snapcompact.history.model import Message, Role
from tests.compaction.generated import (
    answer,
    appended,
    call,
    entries_of,
    result,
    stretches,
    user,
)

if TYPE_CHECKING:
    from snapcompact.compaction.entries import Kind

RULES = preset().cut
ESTIMATE = rule_estimator(preset().tokens)


@settings(max_examples=150, deadline=None)
@given(stretch=stretches(), budget=st.integers(1, 5000))
def test_default_cut_is_legal(stretch: list[tuple[Kind, Message | None]], budget: int) -> None:
    entries = appended((), stretch)
    cut = find_cut(entries, budget, ESTIMATE, RULES)
    if cut is None:
        return
    messages = [e.message or Message(Role.NOTE, ()) for e in entries]
    assert 0 < cut.index < len(entries)
    assert reach(messages)[cut.index] == cut.index
    assert messages[cut.index].role is not Role.TOOL
    assert cut.is_split == (cut.turn_start >= 0)
    assert cut.turn_start < cut.index


@settings(max_examples=100, deadline=None)
@given(sizes=st.lists(st.integers(1, 500), min_size=2, max_size=30), budget=st.integers(1, 3000))
def test_plain_turns_keep_about_the_budget(sizes: list[int], budget: int) -> None:
    entries = entries_of([user("x" * (4 * size)) for size in sizes])
    cut = find_cut(entries, budget, ESTIMATE, RULES)
    tokens = [ESTIMATE(entry.message) for entry in entries if entry.message]
    if cut is None:
        # The walk ended nowhere, or at the very first message.
        assert sum(tokens[1:]) < budget
        return
    assert sum(tokens[cut.index + 1 :]) < budget
    assert sum(tokens[cut.index :]) >= budget


def test_trailing_results_over_the_budget_stay_with_their_calls() -> None:
    """Case 06 and CONFLICTS 7, 8: the plain rules of all four systems find nothing here."""
    messages = [
        user("old one"), answer("old"), user("old two"), answer("old"), user("run the suite"),
        answer("", call("a"), call("b"), call("c")),
        result("a", size=29000), result("b", size=29000), result("c", size=29000),
    ]  # fmt: skip
    cut = find_cut(entries_of(messages), 20000, ESTIMATE, RULES)
    assert cut is not None
    assert cut.index == 5
    assert cut.turn_start == 4


def test_results_alone_have_no_legal_cut() -> None:
    entries = entries_of([result(f"c{n}", size=400) for n in range(8)])
    assert find_cut(entries, 10, ESTIMATE, RULES) is None
    assert forced_cut(entries, ESTIMATE, RULES, 1) is None


def test_a_huge_last_message_is_kept_alone() -> None:
    """Case 04: never 0, never everything."""
    entries = entries_of([user("start"), answer("ready"), user("report", 120_000)])
    cut = find_cut(entries, 20000, ESTIMATE, RULES)
    assert cut is not None
    assert cut.index == 2


@pytest.mark.parametrize(("turns", "index"), [(1, 4), (2, 2), (3, 0), (9, 0), (-1, 6)])
def test_turns(turns: int, index: int) -> None:
    entries = entries_of([user("a"), answer("b"), user("c"), answer("d"), user("e"), answer("f")])
    assert turns_cut(entries, turns, ESTIMATE, RULES).index == index


def test_forced_cut_keeps_the_last_legal_part() -> None:
    entries = entries_of([user("a"), answer("b", call("1")), result("1"), answer("c")])
    cut = forced_cut(entries, ESTIMATE, RULES, 1)
    assert cut is not None
    assert cut.index == 3
    pair_at_end = entries_of([user("a"), answer("b"), answer("c", call("1")), result("1")])
    cut = forced_cut(pair_at_end, ESTIMATE, RULES, 1)
    assert cut is not None
    assert cut.index == 2


def test_prefix_cut_counts_from_the_front() -> None:
    entries = entries_of([user("a", 400), user("b", 400), user("c", 400)])
    assert prefix_cut(entries, 150, ESTIMATE) == 1
    assert prefix_cut(entries, 10, ESTIMATE) is None
    assert prefix_cut(entries, 10_000, ESTIMATE) == 1


def test_snapping_moves_to_a_near_border_only() -> None:
    messages = [user("a"), answer("b"), user("c"), answer("d"), user("e"), answer("f")]
    assert snapped(messages, 5, 0.2) == 4
    assert snapped(messages, 5, 0.1) == 5
