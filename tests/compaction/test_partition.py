"""Invariant 9: every effective message is in exactly one of archived, summarised, kept."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from snapcompact.compaction.context import Context, build_context
from snapcompact.compaction.counting import rule_estimator
from snapcompact.compaction.entries import Entry, Item, Kind, Mark, is_summary
from snapcompact.compaction.pairs import call_links
from snapcompact.compaction.policy import Policy, preset, preset_names
from snapcompact.compaction.prepare import CutRequest, prepare
from snapcompact.errors import UsageError
from tests.compaction.generated import answer, appended, call, entries_of, result, stretches, user

if TYPE_CHECKING:
    from snapcompact.compaction.partition import Partition
    from snapcompact.history.model import Message

ESTIMATE = rule_estimator(preset().tokens)

requests = st.builds(
    CutRequest,
    keep_tokens=st.sampled_from([1, 10, 100, 1000, 5000]),
    keep_turns=st.sampled_from([0, 0, 0, 1, 2]),
    force=st.booleans(),
    auto=st.sampled_from([None, True, False]),
    direction=st.sampled_from(["keep-recent", "keep-recent", "keep-prefix"]),
    pins=st.lists(st.sampled_from([f"e{n}" for n in range(12)]), max_size=2).map(tuple),
)


def parts_of(partition: Partition) -> list[tuple[Item, ...]]:
    return [
        partition.before, partition.recovered, partition.history, partition.prefix,
        partition.pinned, partition.kept,
    ]  # fmt: skip


def words(context: Context) -> list[Message]:
    return [item.message for item in context.items if not is_summary(item.message)]


def check_partition(context: Context, partition: Partition) -> None:
    """Each message in one part, every part in file order, no pair parted by the summary."""
    parts = parts_of(partition)
    shared = [id(item.message) for part in parts for item in part]
    assert sorted(shared) == sorted(id(message) for message in words(context))
    places = {id(message): place for place, message in enumerate(words(context))}
    for part in parts:
        order = [places[id(item.message)] for item in part]
        assert order == sorted(order)
    shown = [*partition.before, *partition.pinned, *partition.kept]
    whole = call_links(words(context))
    visible = {id(item.message) for item in shown}
    for message, links in zip(words(context), whole, strict=True):
        for link in links:
            assert (id(message) in visible) == (id(words(context)[link]) in visible)


def compacted(entries: tuple[Entry, ...], context: Context, partition: Partition) -> Entry:
    """The entry a compaction is stored as: what cannot be named by its first id is carried."""
    carried = [*partition.before, *partition.pinned]
    kept = list(partition.kept)
    while kept and kept[0].entry.kind is Kind.COMPACTION:
        carried.append(kept.pop(0))
    mark = Mark(
        f"S{len(entries)}", kept[0].id if kept else "",
        restored=tuple(item.message for item in carried),
    )  # fmt: skip
    return Entry(
        f"e{len(entries)}", Kind.COMPACTION, None, context.path[-1].id, mark,
        time_ms=1000 * len(entries),
    )  # fmt: skip


@pytest.mark.parametrize("name", preset_names())
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_chain_of_compactions_loses_nothing(name: str, data: st.DataObject) -> None:
    policy: Policy = preset(name)
    estimate = rule_estimator(policy.tokens)
    entries: tuple[Entry, ...] = ()
    archived: list[Message] = []
    for _ in range(data.draw(st.integers(1, 4))):
        entries = appended(entries, data.draw(stretches()))
        context = build_context(entries, policy.context)
        prepared = prepare(context, data.draw(requests), estimate, policy.prepare)
        if prepared is None:
            continue
        check_partition(context, prepared.partition)
        archived += [item.message for item in prepared.partition.summarised]
        entries = (*entries, compacted(entries, context, prepared.partition))
        after = words(build_context(entries, policy.context))
        shown = [*prepared.partition.before, *prepared.partition.pinned, *prepared.partition.kept]
        assert after == [item.message for item in shown]
    said = [e.message for e in entries if e.message is not None and e.kind is not Kind.COMPACTION]
    last = words(build_context(entries, policy.context))
    assert sorted(map(repr, [*archived, *last])) == sorted(map(repr, said))


@settings(max_examples=60, deadline=None)
@given(stretch=stretches(), keep=st.integers(1, 2000))
def test_previous_summary_is_carried_by_name(
    stretch: list[tuple[Kind, Message | None]], keep: int
) -> None:
    first = entries_of([user("a"), answer("b"), user("c")])
    mark = Entry("c1", Kind.COMPACTION, None, "e2", Mark("S1", "e2"))
    entries = appended((*first, mark), stretch)
    policy = preset()
    context = build_context(entries, policy.context)
    prepared = prepare(context, CutRequest(keep_tokens=keep), ESTIMATE, policy.prepare)
    if prepared is not None:
        assert prepared.previous_summary == "S1"
        check_partition(context, prepared.partition)


@settings(max_examples=60, deadline=None)
@given(stretch=stretches(), data=st.data())
def test_explicit_range_summarises_inside_it_only(
    stretch: list[tuple[Kind, Message | None]], data: st.DataObject
) -> None:
    entries = appended((), [*stretch, (Kind.MESSAGE, user("end"))])
    first = data.draw(st.integers(0, len(entries) - 1))
    last = data.draw(st.integers(first, len(entries) - 1))
    policy = preset()
    context = build_context(entries, policy.context)
    asked = CutRequest(span=(entries[first].id, entries[last].id))
    prepared = prepare(context, asked, ESTIMATE, policy.prepare)
    if prepared is None:
        return
    check_partition(context, prepared.partition)
    inside = {entry.id for entry in entries[first : last + 1]}
    assert {item.id for item in prepared.partition.summarised} <= inside


def test_range_the_wrong_way_round_or_unknown_is_refused() -> None:
    context = build_context(entries_of([user("a"), answer("b")]), preset().context)
    for span, said in ((("e1", "e0"), "ends before"), (("e0", "e9"), "no entry 'e9'")):
        with pytest.raises(UsageError, match=said):
            prepare(context, CutRequest(span=span), ESTIMATE, preset().prepare)


def test_pin_takes_its_pair_along() -> None:
    entries = entries_of(
        [user("a"), answer("b", call("x")), result("x"), user("c", 400), answer("d", size=400)]
    )
    policy = preset()
    asked = CutRequest(keep_tokens=200, pins=("e2",))
    prepared = prepare(build_context(entries, policy.context), asked, ESTIMATE, policy.prepare)
    assert prepared is not None
    assert [item.id for item in prepared.partition.pinned] == ["e1", "e2"]
    assert [item.id for item in prepared.partition.summarised] == ["e0"]


def test_split_turn_keeps_its_request_word_for_word() -> None:
    messages = [user("never touch vendor")]
    for number in range(30):
        messages += [answer("go", call(f"c{number}")), result(f"c{number}", "line", 400)]
    policy = preset()
    context = build_context(entries_of(messages), policy.context)
    prepared = prepare(context, CutRequest(keep_tokens=500), ESTIMATE, policy.prepare)
    assert prepared is not None
    assert prepared.is_split
    assert [item.id for item in prepared.partition.pinned] == ["e0"]
    long = [user("never touch vendor", 40000), *messages[1:]]
    context = build_context(entries_of(long), policy.context)
    prepared = prepare(context, CutRequest(keep_tokens=500), ESTIMATE, policy.prepare)
    assert prepared is not None
    assert not prepared.partition.pinned


def test_nothing_after_a_compaction_is_nothing_to_do() -> None:
    entries = entries_of([user("a", 4000), answer("b", size=4000)])
    mark = Entry("c1", Kind.COMPACTION, None, "e1", Mark("S1", "e1"))
    context = build_context((*entries, mark), preset().context)
    assert prepare(context, CutRequest(keep_tokens=1), ESTIMATE, preset().prepare) is None


def test_an_earlier_kept_tail_is_summarised_not_lost() -> None:
    """What pi and oh-my-pi July lose (CONFLICTS 10)."""
    entries = entries_of([user("u1", 400), answer("a1", size=400), user("u2", 400)])
    mark = Entry("c1", Kind.COMPACTION, None, "e2", Mark("S1", "e2"))
    more = [user("u3", 400), answer("a3", size=400), user("u4", 400), answer("a4", size=400)]
    later = tuple(
        replace(entry, parent="c1") if not number else entry
        for number, entry in enumerate(entries_of(more, 10))
    )
    for name in ("default", "pi", "oh-my-pi"):
        policy = preset(name)
        context = build_context((*entries, mark, *later), policy.context)
        prepared = prepare(context, CutRequest(keep_tokens=200), ESTIMATE, policy.prepare)
        assert prepared is not None
        assert [i.id for i in prepared.partition.summarised] == ["e2", "e10", "e11"]
