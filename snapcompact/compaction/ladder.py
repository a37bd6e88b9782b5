"""After an overflow: ways to make a session fit, each gentler than the next, tried in this order.

prune old tool output; compact; compact with only the last legal part kept; and, where the settings
allow it, cut off the oldest messages. A rung is a change of what was decided; its result is judged
and written like any other, so nothing is lost before it is known to fit.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING

from snapcompact.compaction.deciding import Prepared
from snapcompact.compaction.edits import Edit, apply_edits
from snapcompact.compaction.micro import Region, shake_regions
from snapcompact.compaction.pairs import reach
from snapcompact.compaction.partition import Partition
from snapcompact.compaction.progressive import prune_levels
from snapcompact.compaction.shrink import Shrunk
from snapcompact.compaction.trigger import resolve_reserve
from snapcompact.history.model import Text

if TYPE_CHECKING:
    from snapcompact.compaction.entries import Item

Rung = Callable[[Prepared], Prepared | None]
"""What was decided, changed; None where the rung cannot help."""

SET_ASIDE = "[set aside: {tokens} tokens; whole in {where}]"
CUT_OFF = "[The {count} oldest messages were cut off to fit; they are in the session's old state.]"


def room(ready: Prepared) -> int:
    """Tokens a context may hold: the window less its reserve; 0 for an unknown window."""
    window = ready.ask.window
    if window <= 0:
        return 0
    return window - resolve_reserve(ready.job.policy.trigger, window, ready.ask.max_output)[1]


def pruned(ready: Prepared) -> Prepared | None:
    """Old tool output replaced by notices, and nothing summarised, where that alone fits."""
    items, limit = ready.context.items, room(ready)
    if limit <= 0 or not ready.job.policy.prune.enabled:
        return None
    made = prune_levels(items, limit - 1, ready.estimator, ready.job.policy.levels)
    if not made.edits or made.after >= limit:
        return None
    tail = Shrunk(apply_edits(items, made.edits), made.edits, made.after, fits=True)
    plan = replace(ready.plan, preparation=None, outcome=None, tail=tail, calls=(), protected=())
    return replace(ready, job=replace(ready.job, plan=plan))


def as_decided(ready: Prepared) -> Prepared | None:
    """The compaction as it was decided."""
    return ready


def shaken(ready: Prepared) -> Prepared | None:
    """Old tool results and long blocks set aside, each with where it can be read again."""
    items, policy = ready.context.items, ready.job.policy
    regions = shake_regions(items, ready.estimator, policy.shake, policy.levels.protected_tools)
    edits = [_set_aside(ready, block) for _, block in groupby(regions, _block_of)]
    if not edits:
        return None
    changed = apply_edits(items, edits)
    tokens = sum(ready.estimator(item.message) for item in changed)
    tail = Shrunk(changed, tuple(edits), tokens, fits=True)
    plan = replace(ready.plan, preparation=None, outcome=None, tail=tail, calls=(), protected=())
    return replace(ready, job=replace(ready.job, plan=plan))


def _block_of(region: Region) -> tuple[int, int]:
    return region.index, region.block


def _set_aside(ready: Prepared, regions: Iterable[Region]) -> Edit:
    """The edit that puts a notice in place of each of `regions`, all of one block."""
    found = list(regions)
    item = ready.context.items[found[0].index]
    block = item.message.blocks[found[0].block]
    where = f"{os.path.basename(ready.job.stored.session.source.name)}, entry {item.id}"
    if not isinstance(block, Text):
        text = SET_ASIDE.format(tokens=found[0].tokens, where=where)
        return Edit(found[0].index, found[0].block, text, found[0].tokens, "shake")
    text = block.text
    for region in reversed(found):
        notice = SET_ASIDE.format(tokens=region.tokens, where=where)
        text = text[: region.start] + notice + text[region.end :]
    saved = sum(region.tokens for region in found)
    return Edit(found[0].index, found[0].block, text, saved, "shake")


def truncated(ready: Prepared) -> Prepared | None:
    """:func:`newest`, only where the settings allow it."""
    return newest(ready) if ready.job.policy.recovery.truncate else None


def newest(ready: Prepared) -> Prepared | None:
    """The newest messages that fit half of the room, no pair parted; the others are cut off."""
    limit = room(ready)
    if limit <= 0 or ready.plan.preparation is None:
        return None
    kept = _newest(ready, limit)
    items = [item for item in ready.context.items if item.entry is not ready.context.compaction]
    if not kept or len(kept) == len(items):
        return None
    gone = len(items) - len(kept)
    previous = ready.plan.preparation.previous_summary or ""
    text = "\n\n".join(part for part in (previous, CUT_OFF.format(count=gone)) if part)
    partition = Partition(
        history=tuple(items[:gone]), kept=kept, previous=ready.plan.partition.previous
    )
    preparation = replace(
        ready.plan.preparation, partition=partition, first_kept=kept[0].id, is_split=False
    )
    plan = replace(ready.plan, preparation=preparation, tail=None, protected=())
    return replace(ready, job=replace(ready.job, plan=plan, given=text))


def _newest(ready: Prepared, limit: int) -> tuple[Item, ...]:
    items = [item for item in ready.context.items if item.entry is not ready.context.compaction]
    needs = reach([item.message for item in items])
    left, first = limit // 2, len(items)
    for index in range(len(items) - 1, -1, -1):
        left -= ready.estimator(items[index].message)
        if left < 0:
            break
        first = index if needs[index] >= index else first
    return tuple(items[first:])


LADDER: tuple[tuple[str, Rung], ...] = (
    ("prune", pruned),
    ("compact", as_decided),
    ("aggressive-compact", as_decided),
    ("truncate", truncated),
)
"""The rungs in order; ``aggressive-compact`` is decided anew with nothing but the end kept."""

REARRANGED: Mapping[str, Rung] = {"shake": shaken, "window": newest}
"""Modes that summarise nothing; they only run by themselves, where an order names them."""
