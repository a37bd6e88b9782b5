from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from snapcompact.compaction.context import (
    active_path,
    build_context,
    check_first_kept,
    first_kept_at,
)
from snapcompact.compaction.entries import Entry, Item, Kind, Mark, is_summary
from snapcompact.compaction.policy import preset
from snapcompact.errors import InputError
from tests.compaction.generated import answer, entries_of, user

RULES = preset().context


def shown(items: tuple[Item, ...]) -> list[str]:
    return [f"S({item.id})" if is_summary(item.message) else item.id for item in items]


def compaction(number: int, parent: str | None, first_kept: str) -> Entry:
    return Entry(f"c{number}", Kind.COMPACTION, None, parent, Mark(f"S{number}", first_kept))


FOUR = entries_of([user("u1"), answer("a1"), user("u2"), answer("a2")])


def test_the_newest_compaction_its_tail_and_what_came_later() -> None:
    more = replace(entries_of([user("u3")], 9)[0], parent="c1")
    context = build_context((*FOUR, compaction(1, "e3", "e2"), more), RULES)
    assert shown(context.items) == ["S(c1)", "e2", "e3", "e9"]
    assert context.compaction is not None
    assert not context.warnings


def test_a_compaction_without_parent_continues_the_file() -> None:
    """kit stores it as a new root; an abandoned branch between does not leak in."""
    fork = replace(FOUR[1], id="b1", parent="e0")
    entries = (FOUR[0], fork, replace(FOUR[1], parent="e0"), compaction(1, None, "e0"))
    assert shown(build_context(entries, RULES).items) == ["S(c1)", "e0", "e1"]


def test_an_unknown_first_kept_keeps_all_and_warns() -> None:
    """pi drops it in silence."""
    context = build_context((*FOUR, compaction(1, "e3", "nope")), RULES)
    assert shown(context.items) == ["S(c1)", "e0", "e1", "e2", "e3"]
    assert "nope" in context.warnings[0]
    second = build_context((*FOUR, compaction(1, "e3", "e2"), compaction(2, "c1", "nope")), RULES)
    assert shown(second.items) == ["S(c2)", "e2", "e3"]


def test_an_empty_first_kept_keeps_nothing() -> None:
    context = build_context((*FOUR, compaction(1, "e3", "")), RULES)
    assert shown(context.items) == ["S(c1)"]


def test_a_reset_cuts_the_past() -> None:
    reset = Entry("r", Kind.RESET, None, "c1")
    last = replace(entries_of([user("u3")], 9)[0], parent="r")
    context = build_context((*FOUR, compaction(1, "e3", "e2"), reset, last), RULES)
    assert shown(context.items) == ["e9"]
    assert context.compaction is None


def test_restored_messages_stand_behind_the_summary() -> None:
    mark = Mark("S1", "e3", restored=(user("skill"),))
    entry = Entry("c1", Kind.COMPACTION, None, "e3", mark)
    items = build_context((*FOUR, entry), RULES).items
    assert [item.message.text.strip() for item in items] == ["S1", "skill", "a2"]


def test_an_old_record_names_a_file_index() -> None:
    assert first_kept_at(FOUR, 0) == "e0"
    assert first_kept_at(FOUR, 2) == "e2"
    assert first_kept_at(FOUR, 9) == ""


def test_an_unknown_first_kept_is_refused_at_writing() -> None:
    check_first_kept(FOUR, "e2", RULES)
    check_first_kept(FOUR, "", RULES)
    with pytest.raises(InputError, match="nope"):
        check_first_kept(FOUR, "nope", RULES)


@settings(max_examples=100, deadline=None)
@given(parents=st.lists(st.one_of(st.none(), st.integers(0, 12)), min_size=1, max_size=12))
def test_any_parents_give_a_path(parents: list[int | None]) -> None:
    """Cycles, missing parents and forests included."""
    entries = tuple(
        Entry(f"e{n}", Kind.MESSAGE, user(str(n)), None if p is None else f"e{p}")
        for n, p in enumerate(parents)
    )
    path = active_path(entries)
    assert path[-1].id == entries[-1].id
    assert len({entry.id for entry in path}) == len(path)
    for before, after in pairwise(path):
        assert after.parent == before.id
