"""A context in parts: what becomes of each message. Every message is in exactly one part."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from snapcompact.compaction.cut import Cut, prefix_cut, snapped
from snapcompact.compaction.entries import Entry, Item, Kind, is_summary
from snapcompact.compaction.pairs import call_links, reach
from snapcompact.errors import UsageError
from snapcompact.history.model import Message, Role

if TYPE_CHECKING:
    from snapcompact.compaction.counting import Estimator


@dataclass(frozen=True, slots=True)
class Partition:
    """Items by what becomes of them, each in file order."""

    recovered: tuple[Item, ...] = ()
    history: tuple[Item, ...] = ()
    prefix: tuple[Item, ...] = ()
    """The begun part of a split turn."""
    pinned: tuple[Item, ...] = ()
    """Kept word for word though they lie in the summarised range."""
    before: tuple[Item, ...] = ()
    """Kept in front of the summary (keep-prefix, ranges)."""
    kept: tuple[Item, ...] = ()
    previous: Item | None = None
    """The summary this one replaces."""

    @property
    def summarised(self) -> tuple[Item, ...]:
        """All that the new summary must hold, oldest first."""
        return (*self.recovered, *self.history, *self.prefix)


def items_of(entries: Sequence[Entry]) -> tuple[Item, ...]:
    """The items of `entries` that have a message; compactions have none of their own."""
    return tuple(
        Item(entry, entry.message)
        for entry in entries
        if entry.message is not None and entry.kind is not Kind.COMPACTION
    )


def _closed(items: Sequence[Item], wanted: set[int], kept_from: int) -> set[int]:
    """`wanted` and all before `kept_from` that is paired with them or with what is kept."""
    links = call_links([item.message for item in items])
    kept = set(range(kept_from, len(items)))
    while True:
        reached = wanted | kept
        more = {link for index in reached for link in links[index]}
        more |= {index for index, found in enumerate(links) if reached.intersection(found)}
        grown = {index for index in wanted | more if index < kept_from}
        if grown == wanted:
            return wanted
        wanted = grown


def pin(partition: Partition, ids: set[str]) -> Partition:
    """`partition`, the items named in `ids` pinned instead of summarised, with their pairs.

    The pair of anything kept is pinned too, so that no pair is ever parted.
    """
    items = [*partition.summarised, *partition.kept]
    end = len(partition.summarised)
    named = {index for index, item in enumerate(items[:end]) if item.id in ids}
    chosen = _closed(items, named, end)
    if not chosen:
        return partition
    pinned = {id(items[index]) for index in chosen}

    def rest(part: Sequence[Item]) -> tuple[Item, ...]:
        return tuple(item for item in part if id(item) not in pinned)

    return replace(
        partition,
        recovered=rest(partition.recovered),
        history=rest(partition.history),
        prefix=rest(partition.prefix),
        pinned=tuple(items[index] for index in sorted(chosen)),
    )


def divide(
    entries: Sequence[Entry], early: Sequence[Item], found: Cut | None
) -> tuple[Partition, str]:
    """(the partition of a cut, the id of the first entry kept)."""
    at = len(entries) if found is None else found.index
    split = found is not None and found.is_split
    turn = found.turn_start if found is not None and split else at
    summaries = [item for item in early if is_summary(item.message)]
    partition = Partition(
        recovered=tuple(item for item in early if not is_summary(item.message)),
        history=items_of(entries[: min(turn, at)]),
        prefix=items_of(entries[turn:at]) if split else (),
        kept=items_of(entries[at:]),
        previous=summaries[-1] if summaries else None,
    )
    return partition, entries[at].id if at < len(entries) else ""


def _safe_borders(entries: Sequence[Entry], early: Sequence[Item]) -> list[int]:
    """Indexes of `entries`, the end included, where a border parts no pair of it and `early`."""
    messages = [item.message for item in early]
    messages += [entry.message or Message(Role.NOTE, ()) for entry in entries]
    needs = reach(messages)
    shift = len(early)
    return [index for index in range(len(entries) + 1) if needs[shift + index] >= shift + index]


def by_span(entries: Sequence[Entry], early: Sequence[Item], span: tuple[str, str]) -> Partition:
    """The partition that summarises `span` alone; pairs that straddle its ends stay whole.

    Raises UsageError where an id is not there or the ends are the wrong way round.
    """
    places = {entry.id: index for index, entry in enumerate(entries)}
    for end in span:
        if end not in places:
            raise UsageError(f"no entry {end!r} in the context of {len(entries)} entries")
    first, last = places[span[0]], places[span[1]]
    if first > last:
        raise UsageError(f"range ends before it begins: {span[0]!r} comes after {span[1]!r}")
    safe = _safe_borders(entries, early)
    first = min(border for border in safe if border >= first)
    after = max((border for border in safe if border <= last + 1), default=first)
    summaries = [item for item in early if is_summary(item.message)]
    return Partition(
        before=(*(i for i in early if not is_summary(i.message)), *items_of(entries[:first])),
        history=items_of(entries[first:after]) if first < after else (),
        kept=items_of(entries[max(first, after) :]),
        previous=summaries[-1] if summaries else None,
    )


def keep_prefix(
    entries: Sequence[Entry],
    early: Sequence[Item],
    budget: int,
    estimator: Estimator,
    snap_share: float = 0,
) -> Partition:
    """The partition that keeps the oldest entries and summarises the rest."""
    wanted = prefix_cut(entries, budget, estimator) or 0
    if snap_share:
        messages = [entry.message or Message(Role.NOTE, ()) for entry in entries]
        wanted = snapped(messages, wanted, snap_share)
    safe = _safe_borders(entries, early)
    at = max((border for border in safe if border <= wanted), default=0)
    summaries = [item for item in early if is_summary(item.message)]
    return Partition(
        before=(*(i for i in early if not is_summary(i.message)), *items_of(entries[:at])),
        history=items_of(entries[at:]) if at else (),
        kept=() if at else items_of(entries),
        previous=summaries[-1] if summaries else None,
    )
