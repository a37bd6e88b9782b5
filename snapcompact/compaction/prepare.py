"""The effective context divided: what is summarised, what is kept, what is pinned.

Every message of the effective context is in exactly one part of a :class:`Partition` (invariant 9
of DESIGN.md); the previous summary is carried by name, since the next one replaces it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from snapcompact.compaction.context import Context, last_index
from snapcompact.compaction.counting import Estimator
from snapcompact.compaction.cut import Cut, CutRules, find_cut, forced_cut, prefix_cut, turns_cut
from snapcompact.compaction.entries import Entry, Item, Kind, is_summary
from snapcompact.compaction.files import FileOps, FileRules, file_ops, merged
from snapcompact.compaction.pairs import call_links, reach
from snapcompact.compaction.usage import UsageRules, estimate_context, last_usage
from snapcompact.errors import UsageError
from snapcompact.history.model import Message, Role


@dataclass(frozen=True, slots=True)
class RangeRules:
    """What a preparation looks at."""

    scope: str = "effective"
    """``effective``: all messages in force; ``after-previous``: those after the last compaction,
    the rest being *recovered*: summarised as well, in front of them."""
    tokens_before: str = "estimate"
    """``estimate`` of the scope, or what the provider ``usage`` says, 0 without."""
    allow_empty: bool = False
    """A preparation with nothing to summarise is returned all the same."""
    adapt_keep: bool = False
    """Divide the keep budget by usage over estimate where that is above 1."""
    carry_request: bool = True
    """The user message that began a split turn is kept word for word, if it is short."""
    carry_limit: int = 2000
    """Tokens up to which that message is carried."""
    force_minimum: int = 1


@dataclass(frozen=True, slots=True)
class CutRequest:
    """What the caller asks for; 0 and "" mean nothing asked."""

    keep_tokens: int = 0
    keep_turns: int = 0
    force: bool = False
    """Where nothing must go, keep the last legal part only."""
    direction: str = "keep-recent"
    pins: tuple[str, ...] = ()
    """Entry ids kept word for word wherever they are."""
    span: tuple[str, str] = ("", "")
    """First and last entry id to summarise; all others are kept."""


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


@dataclass(frozen=True, slots=True)
class Preparation:
    """A partition and the facts around it."""

    partition: Partition
    first_kept: str
    is_split: bool
    tokens_before: int
    previous_summary: str | None
    ops: FileOps


@dataclass(frozen=True, slots=True)
class PrepareRules:
    """The rules a preparation needs, from one policy."""

    cut: CutRules
    scope: RangeRules
    usage: UsageRules
    files: FileRules
    keep_tokens: int = 20000


def _scope_entries(context: Context, rules: RangeRules) -> tuple[list[Entry], list[Item]]:
    """(entries a cut may lie among, items in force that stand before them)."""
    if context.compaction is None:
        return list(context.path[last_index(context.path, Kind.RESET) + 1 :]), []
    if rules.scope == "after-previous":
        entries = list(context.path[last_index(context.path, Kind.COMPACTION) + 1 :])
    else:
        entries = [i.entry for i in context.items if i.entry.kind is not Kind.COMPACTION]
    ids = {entry.id for entry in entries}
    return entries, [item for item in context.items if item.id not in ids]


def _find(
    entries: Sequence[Entry], asked: CutRequest, budget: int, estimator: Estimator, cut: CutRules,
    force_minimum: int,
) -> Cut | None:  # fmt: skip
    if asked.keep_turns:
        return turns_cut(entries, asked.keep_turns, estimator, cut)
    found = find_cut(entries, budget, estimator, cut)
    if found is None and asked.force:
        return forced_cut(entries, estimator, cut, force_minimum)
    return found


def _items(entries: Sequence[Entry]) -> tuple[Item, ...]:
    return tuple(
        Item(entry, entry.message)
        for entry in entries
        if entry.message is not None and entry.kind is not Kind.COMPACTION
    )


def _with_pairs(items: Sequence[Item], wanted: set[int]) -> set[int]:
    """`wanted` indexes and all that is paired with them."""
    links = call_links([item.message for item in items])
    while True:
        more = {link for i in wanted for link in links[i]}
        more |= {i for i, link in enumerate(links) if wanted.intersection(link)}
        if more <= wanted:
            return wanted
        wanted = wanted | more


def _pin(partition: Partition, ids: set[str]) -> Partition:
    """`partition`, the items named in `ids` (and their pairs) pinned instead of summarised."""
    items = [*partition.summarised]
    chosen = _with_pairs(items, {i for i, item in enumerate(items) if item.id in ids})
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


def _request_to_carry(partition: Partition, rules: RangeRules, estimator: Estimator) -> set[str]:
    first = partition.prefix[:1]
    if not rules.carry_request or not first or first[0].message.role is not Role.USER:
        return set()
    return {first[0].id} if estimator(first[0].message) <= rules.carry_limit else set()


def _divide(
    entries: Sequence[Entry], early: Sequence[Item], found: Cut | None
) -> tuple[Partition, str]:
    at = len(entries) if found is None else found.index
    split = found is not None and found.is_split
    turn = found.turn_start if found is not None and split else at
    summaries = [item for item in early if is_summary(item.message)]
    partition = Partition(
        recovered=tuple(item for item in early if not is_summary(item.message)),
        history=_items(entries[: min(turn, at)]),
        prefix=_items(entries[turn:at]) if split else (),
        kept=_items(entries[at:]),
        previous=summaries[-1] if summaries else None,
    )
    return partition, entries[at].id if at < len(entries) else ""


def _safe_borders(entries: Sequence[Entry]) -> list[int]:
    """Indexes, both ends included, where a border parts no pair."""
    needs = reach([entry.message or Message(Role.NOTE, ()) for entry in entries])
    return [index for index, need in enumerate(needs) if need >= index]


def _by_span(entries: Sequence[Entry], early: Sequence[Item], span: tuple[str, str]) -> Partition:
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
    safe = _safe_borders(entries)
    first = min(border for border in safe if border >= first)
    after = max(border for border in safe if border <= last + 1)
    summaries = [item for item in early if is_summary(item.message)]
    return Partition(
        before=(*(i for i in early if not is_summary(i.message)), *_items(entries[:first])),
        history=_items(entries[first:after]) if first < after else (),
        kept=_items(entries[max(first, after) :]),
        previous=summaries[-1] if summaries else None,
    )


def _keep_prefix(
    entries: Sequence[Entry], early: Sequence[Item], budget: int, estimator: Estimator
) -> Partition:
    wanted = prefix_cut(entries, budget, estimator) or 0
    at = max(border for border in _safe_borders(entries) if border <= wanted)
    summaries = [item for item in early if is_summary(item.message)]
    return Partition(
        before=(*(item for item in early if not is_summary(item.message)), *_items(entries[:at])),
        history=_items(entries[at:]) if at else (),
        previous=summaries[-1] if summaries else None,
    )


def _tokens_before(
    context: Context, entries: Sequence[Entry], early: Sequence[Item], estimator: Estimator,
    rules: PrepareRules,
) -> int:  # fmt: skip
    if rules.scope.tokens_before == "usage":
        return last_usage(entries, rules.usage) or 0
    shown = context.items
    if rules.scope.scope == "after-previous":
        ids = {entry.id for entry in entries} | {i.id for i in early if is_summary(i.message)}
        shown = tuple(item for item in context.items if item.id in ids)
    return estimate_context(shown, estimator, rules.usage).tokens


def _budget(
    context: Context, asked: CutRequest, estimator: Estimator, rules: PrepareRules
) -> int:
    keep = asked.keep_tokens or rules.keep_tokens
    if not rules.scope.adapt_keep:
        return keep
    estimate = sum(estimator(item.message) for item in context.items)
    usage = last_usage([item.entry for item in context.items], rules.usage) or 0
    ratio = usage / estimate if estimate else 0
    return math.floor(keep / ratio) if ratio > 1 else keep


def prepare(
    context: Context, asked: CutRequest, estimator: Estimator, rules: PrepareRules
) -> Preparation | None:
    """The preparation of a compaction, None where there is nothing to do.

    Nothing to do: no message, a compaction as the last entry, or a cut that leaves all in place.
    Raises UsageError for a range that does not exist.
    """
    if not context.path or context.path[-1].kind is Kind.COMPACTION:
        return None
    entries, early = _scope_entries(context, rules.scope)
    found: Cut | None = None
    budget = _budget(context, asked, estimator, rules)
    if asked.span != ("", ""):
        partition, first_kept = _by_span(entries, early, asked.span), ""
    elif asked.direction == "keep-prefix":
        partition, first_kept = _keep_prefix(entries, early, budget, estimator), ""
    else:
        found = _find(entries, asked, budget, estimator, rules.cut, rules.scope.force_minimum)
        if found is None:
            return None
        partition, first_kept = _divide(entries, early, found)
    ids = set(asked.pins) | _request_to_carry(partition, rules.scope, estimator)
    partition = _pin(partition, ids) if ids else partition
    if not partition.summarised and not rules.scope.allow_empty:
        return None
    seen = [*partition.summarised, *partition.pinned]
    seen += partition.kept if rules.files.kept_tail else ()
    marks = [context.compaction] if context.compaction else []
    return Preparation(
        partition=partition,
        first_kept=first_kept,
        is_split=found is not None and found.is_split,
        tokens_before=_tokens_before(context, entries, early, estimator, rules),
        previous_summary=(partition.previous.message.text if partition.previous else None),
        ops=merged(file_ops((item.message for item in seen), rules.files), marks),
    )
