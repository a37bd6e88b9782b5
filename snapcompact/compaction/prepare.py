"""The effective context divided: what is summarised, what is kept, what is pinned.

Every message of the effective context is in exactly one part of a :class:`Partition` (invariant 9
of DESIGN.md); the previous summary is carried by name, since the next one replaces it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from snapcompact.compaction.context import Context, last_index
from snapcompact.compaction.cut import (
    Cut,
    CutRules,
    find_cut,
    forced_cut,
    slots_of,
    snapped,
    split_at,
    turns_cut,
)
from snapcompact.compaction.entries import Entry, Item, Kind, is_summary
from snapcompact.compaction.files import FileOps, FileRules, file_ops, merged
from snapcompact.compaction.occupancy import UsageRules, estimate_context, last_usage
from snapcompact.compaction.pairs import whole_split
from snapcompact.compaction.partition import Partition, by_span, divide, keep_prefix, pin
from snapcompact.history.model import Message, Role

if TYPE_CHECKING:
    from snapcompact.compaction.counting import Estimator

__all__ = [
    "CutRequest",
    "Partition",
    "Preparation",
    "PrepareRules",
    "RangeRules",
    "prepare",
]


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
    auto_takes_all: bool = False
    """Where the caller says whether a run is automatic, either way, all is summarised."""


@dataclass(frozen=True, slots=True)
class CutRequest:
    """What the caller asks for; 0 and "" mean nothing asked."""

    keep_tokens: int = 0
    keep_turns: int = 0
    """Turns kept, whatever their size; below 0 keeps nothing."""
    force: bool = False
    """Where nothing must go, keep the last legal part only."""
    auto: bool | None = None
    direction: str = "keep-recent"
    pins: tuple[str, ...] = ()
    """Entry ids kept word for word wherever they are."""
    span: tuple[str, str] = ("", "")
    """First and last entry id to summarise; all others are kept."""


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
    entries: Sequence[Entry],
    asked: CutRequest,
    budget: int,
    estimator: Estimator,
    rules: PrepareRules,
) -> Cut | None:
    """The cut as asked for, moved where it parts no pair."""
    cut = rules.cut
    if asked.keep_turns:
        found: Cut | None = turns_cut(entries, asked.keep_turns, estimator, cut)
    else:
        found = find_cut(entries, budget, estimator, cut)
    if found is None and asked.force:
        found = forced_cut(entries, estimator, cut, rules.scope.force_minimum)
    if found is None:
        return None
    messages = [entry.message or Message(Role.NOTE, ()) for entry in entries]
    index = snapped(messages, found.index, cut.snap_share) if cut.snap_share else found.index
    index = whole_split(messages, index)
    if index == found.index:
        return found
    return split_at(slots_of(entries, estimator, cut), index, cut)


def _request_to_carry(partition: Partition, rules: RangeRules, estimator: Estimator) -> set[str]:
    first = partition.prefix[:1]
    if not rules.carry_request or not first or first[0].message.role is not Role.USER:
        return set()
    return {first[0].id} if estimator(first[0].message) <= rules.carry_limit else set()


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
    return estimate_context(shown, estimator, rules.usage).total


def _budget(context: Context, asked: CutRequest, estimator: Estimator, rules: PrepareRules) -> int:
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
    if rules.scope.auto_takes_all and asked.auto is not None:
        asked = replace(asked, keep_turns=-1)
    found: Cut | None = None
    budget = _budget(context, asked, estimator, rules)
    if asked.span != ("", ""):
        partition, first_kept = by_span(entries, early, asked.span), ""
    elif asked.direction == "keep-prefix":
        partition, first_kept = (
            keep_prefix(entries, early, budget, estimator, rules.cut.snap_share),
            "",
        )
    else:
        found = _find(entries, asked, budget, estimator, rules)
        if found is None:
            return None
        partition, first_kept = divide(entries, early, found)
    ids = set(asked.pins) | _request_to_carry(partition, rules.scope, estimator)
    partition = pin(partition, ids)
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
