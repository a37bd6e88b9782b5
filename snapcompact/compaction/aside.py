"""A speculative result kept aside, and brought up to what the session has become."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from snapcompact.compaction.speculate import Prepared as Kept
from snapcompact.compaction.speculate import stale

if TYPE_CHECKING:
    from snapcompact.compaction.deciding import Prepared
    from snapcompact.compaction.run import Result


@dataclass(frozen=True, slots=True)
class Aside:
    """A speculative result and what it was made from."""

    kept: Kept
    result: Result
    ready: Prepared


def brought_up(waiting: Aside, ready: Prepared) -> Aside | None:
    """`waiting` with what came since added to its kept tail; None where it is stale."""
    items = ready.context.items
    if stale(waiting.kept, items, ready.plan.tokens_before, ready.plan.keep_tokens):
        return None
    later = items[waiting.kept.base_count :]
    change = waiting.result.change
    partition = replace(change.partition, kept=(*change.partition.kept, *later))
    grown = sum(ready.estimator(item.message) for item in later)
    change = replace(change, partition=partition, tokens_before=ready.plan.tokens_before,
                     tokens_after=change.tokens_after + grown)  # fmt: skip
    result = replace(waiting.result, change=change, tokens_after=change.tokens_after)
    return Aside(waiting.kept, result, replace(ready, options=waiting.ready.options))
