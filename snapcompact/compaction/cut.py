"""The cut point: the index of the first entry kept.

One walk from the end, steered by :class:`CutRules`. The seeds' four rules differ in where the walk
stops, which way it steps off a tool result, and what happens when everything fits; each is a knob.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from snapcompact.compaction.entries import BASH, SUMMARY, Entry, Kind
from snapcompact.compaction.occupancy import entry_tokens
from snapcompact.compaction.pairs import reach
from snapcompact.history.model import Message, Role

if TYPE_CHECKING:
    from snapcompact.compaction.counting import Estimator


@dataclass(frozen=True, slots=True)
class CutRules:
    """How a cut is found."""

    walk: str = "budget"
    """``budget``: by estimated tokens; ``usage``: whole turns by differences of billed totals."""
    stop: str = "reached"
    """``reached``: at the entry that fills the budget; ``over``: after the one that overfills."""
    landing: str = "pairs"
    """``forward``: the next entry that may be a cut; ``pairs``: the nearest that parts no pair;
    ``any``: where the walk stopped."""
    slack: float = 1.25
    """With ``pairs``: how far over the budget a step back may go before a step forward is taken."""
    fits: str = "none"
    """All fits the budget: ``none``, the ``first`` legal cut, or the ``middle``."""
    nowhere: str = "none"
    """No legal cut from the stop on: ``none``, or the ``first`` legal one."""
    min_before: int = 1
    """A cut with fewer entries before it is none."""
    clamp_last: bool = False
    """With ``over``: the last entry is kept even if it alone is over the budget."""
    count_marks: bool = True
    """Marks with a message (branch summary, custom) count towards the budget."""
    pull_marks: bool = False
    """Entries before the cut that are no messages move to the kept side."""
    split_by: str = "message"
    """A turn is split if no user's is the ``entry`` at the cut, or the ``message`` from it on."""
    turn_without_user: str = "none"
    """A turn nobody began: ``none`` is split, or it began at the ``start``."""
    snap_share: float = 0
    """Move to the nearest turn border closer than this share of all messages; 0 is off."""


@dataclass(frozen=True, slots=True)
class Slot:
    """What the walk needs to know of an entry."""

    tokens: int
    counted: bool
    is_message: bool
    may_cut: bool
    is_user: bool
    starts_turn: bool
    is_barrier: bool
    usage: int | None = None


@dataclass(frozen=True, slots=True)
class Cut:
    """Where to cut. ``turn_start`` is -1 where no turn is split by it."""

    index: int
    turn_start: int = -1
    is_split: bool = False


def _slot(entry: Entry, estimator: Estimator, rules: CutRules) -> Slot:
    message, kind = entry.message, entry.kind
    if message is None:
        return Slot(0, False, False, False, False, False, kind in (Kind.COMPACTION, Kind.RESET))
    plain = kind is Kind.MESSAGE
    is_user = message.role is Role.USER and message.label not in (BASH, SUMMARY)
    usage = None if entry.failed else entry_tokens(entry)
    return Slot(
        tokens=estimator(message),
        counted=(plain or rules.count_marks) and kind is not Kind.COMPACTION,
        is_message=plain,
        may_cut=message.role is not Role.TOOL and kind not in (Kind.COMPACTION, Kind.META),
        is_user=plain and is_user,
        starts_turn=(plain and message.role is Role.USER and message.label != SUMMARY)
        or kind in (Kind.BRANCH, Kind.CUSTOM),
        is_barrier=kind in (Kind.COMPACTION, Kind.RESET),
        usage=usage,
    )


def slots_of(entries: Sequence[Entry], estimator: Estimator, rules: CutRules) -> tuple[Slot, ...]:
    """What a cut looks at, one slot an entry."""
    return tuple(_slot(entry, estimator, rules) for entry in entries)


def turn_start(slots: Sequence[Slot], index: int, start: int = 0) -> int:
    """Index of the entry that began the turn of `index`, -1 where none did."""
    return next((i for i in range(index, start - 1, -1) if slots[i].starts_turn), -1)


def _walk(slots: Sequence[Slot], budget: int, rules: CutRules, start: int, end: int) -> int | None:
    """Index the walk stops at, None where all fits."""
    total = 0
    for index in range(end - 1, start - 1, -1):
        if not slots[index].counted:
            continue
        total += slots[index].tokens
        if rules.stop == "reached" and total >= budget:
            return index
        if rules.stop == "over" and total > budget:
            return min(index + 1, end - 1) if rules.clamp_last else index + 1
    return None


def _legal(slots: Sequence[Slot], start: int, end: int) -> list[int]:
    return [index for index in range(start, end) if slots[index].may_cut]


def _land_by_pairs(
    slots: Sequence[Slot], messages: Sequence[Message], stop: int, budget: int, rules: CutRules,
    span: tuple[int, int],
) -> int | None:  # fmt: skip
    start, end = span
    needs = reach(messages)
    safe = [index for index in _legal(slots, start, end) if needs[index] >= index]
    back = max((index for index in safe if index <= stop), default=None)
    forward = min((index for index in safe if index >= stop), default=None)
    if back is None:
        return forward
    kept = sum(slot.tokens for slot in slots[back:end] if slot.counted)
    if (kept <= budget * rules.slack and back > start) or forward is None:
        return back
    return forward


def _everything_fits(legal: list[int], rules: CutRules, start: int, end: int) -> int | None:
    if rules.fits == "middle":
        count = end - start
        return start + max(1, count // 2) if count > 1 else None
    if rules.fits == "first":
        return legal[0] if legal else start
    return None


def _raw_cut(
    slots: Sequence[Slot], messages: Sequence[Message], budget: int, rules: CutRules,
    span: tuple[int, int],
) -> int | None:  # fmt: skip
    start, end = span
    legal = _legal(slots, start, end)
    stop = _walk(slots, budget, rules, start, end)
    if stop is None:
        return _everything_fits(legal, rules, start, end)
    if rules.landing == "any":
        return stop if start < stop < end else None
    if rules.landing == "pairs":
        return _land_by_pairs(slots, messages, stop, budget, rules, span)
    landed = next((index for index in legal if index >= stop), None)
    if landed is None and rules.nowhere == "first":
        return legal[0] if legal else start
    return landed


def usage_cut(slots: Sequence[Slot], budget: int, start: int, end: int) -> int:
    """Cut at a turn's start, by differences between billed totals; `start` where all is kept.

    From the newest answer back, the first whose total is at least `budget` less ends the walk; the
    answer after it is the last that must be kept, and its turn's user message is the cut.
    """
    answers = [i for i in range(end - 1, start - 1, -1) if slots[i].usage is not None]
    users = [i for i in range(start, end) if slots[i].is_user]
    if not users:
        return start
    if not answers:
        return users[-1]
    newest = slots[answers[0]].usage or 0
    for place, index in enumerate(answers):
        if newest - (slots[index].usage or 0) >= budget:
            last_kept = answers[max(0, place - 1)]
            return max((i for i in users if i <= last_kept), default=start)
    return start


def _pulled(slots: Sequence[Slot], cut: int, start: int) -> int:
    while cut > start and not slots[cut - 1].is_message and not slots[cut - 1].is_barrier:
        cut -= 1
    return cut


def split_at(slots: Sequence[Slot], cut: int, rules: CutRules, start: int = 0) -> Cut:
    """The cut at `cut` and whether it splits a turn."""
    at = cut
    if rules.split_by == "message":
        at = next((i for i in range(cut, len(slots)) if slots[i].is_message), cut)
    if at >= len(slots) or slots[at].is_user:
        return Cut(cut)
    began = turn_start(slots, at, start)
    if began < 0 and rules.turn_without_user == "start":
        began = start
    if began < 0 or (rules.split_by == "message" and began >= cut):
        return Cut(cut)
    return Cut(cut, began, True)


def find_cut(
    entries: Sequence[Entry], budget: int, estimator: Estimator, rules: CutRules,
    start: int = 0, end: int | None = None,
) -> Cut | None:  # fmt: skip
    """The cut that keeps about `budget` tokens of ``entries[start:end]``; None where none helps."""
    end = len(entries) if end is None else end
    slots = slots_of(entries[:end], estimator, rules)
    if rules.walk == "usage":
        return Cut(usage_cut(slots, budget, start, end))
    messages = [entry.message or Message(Role.NOTE, ()) for entry in entries[:end]]
    cut = _raw_cut(slots, messages, budget, rules, (start, end))
    if cut is not None and rules.pull_marks:
        cut = _pulled(slots, cut, start)
    if cut is None or cut - start < rules.min_before:
        return None
    return split_at(slots, cut, rules, start)


def forced_cut(
    entries: Sequence[Entry], estimator: Estimator, rules: CutRules, minimum: int = 2
) -> Cut | None:
    """The last legal cut with at least `minimum` entries before it; with pairs kept whole."""
    slots = slots_of(entries, estimator, rules)
    messages = [entry.message or Message(Role.NOTE, ()) for entry in entries]
    needs = reach(messages)
    for index in range(len(entries) - 1, minimum - 1, -1):
        if slots[index].may_cut and (rules.landing != "pairs" or needs[index] >= index):
            return split_at(slots, index, rules)
    return None


def turns_cut(entries: Sequence[Entry], turns: int, estimator: Estimator, rules: CutRules) -> Cut:
    """The cut that keeps the newest `turns` turns; index 0 where there are no more."""
    slots = slots_of(entries, estimator, rules)
    starts = [index for index, slot in enumerate(slots) if slot.starts_turn]
    if turns <= 0:
        return Cut(len(entries))
    return Cut(starts[-turns] if len(starts) >= turns else 0)


def prefix_cut(entries: Sequence[Entry], budget: int, estimator: Estimator) -> int | None:
    """Index after the oldest entries that fit `budget`: the first to be summarised."""
    total = 0
    for index, entry in enumerate(entries):
        total += estimator(entry.message) if entry.message else 0
        if total > budget:
            return index or None
    return max(1, len(entries) // 2) if len(entries) > 1 else None


def snapped(messages: Sequence[Message], split: int, share: float) -> int:
    """`split` moved to the nearest border between two turns, if it is near enough."""
    borders = [
        index
        for index in range(1, len(messages))
        if messages[index].role is Role.USER and messages[index - 1].role is Role.ASSISTANT
    ]
    near = min(borders, key=lambda border: (abs(border - split), -border), default=split)
    return near if abs(near - split) < share * len(messages) else split
