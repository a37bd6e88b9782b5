"""A summary made in the background is kept aside and used only if its base is still there."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from snapcompact.compaction.entries import Item


def base_hash(items: Sequence[Item]) -> str:
    """SHA-256 (hex) of what `items` say, ids included: a rewind or an edit gives another."""
    digest = hashlib.sha256()
    for item in items:
        digest.update(repr((item.id, item.message.role.value, item.message.blocks)).encode())
        digest.update(b"\0")
    return digest.hexdigest()


@dataclass(frozen=True, slots=True)
class Prepared:
    """A finished summary and the context it was made from."""

    summary: str
    base_count: int
    base: str
    base_tokens: int


def prepared(summary: str, items: Sequence[Item], tokens: int) -> Prepared:
    """A summary kept aside, tied to `items`."""
    return Prepared(summary, len(items), base_hash(items), tokens)


def stale(made: Prepared, items: Sequence[Item], tokens: int, keep_tokens: int) -> str:
    """Why `made` can no longer be used on `items`, "" where it can.

    The context must begin as it did, and must not have grown by more than the kept tail may hold.
    """
    if len(items) < made.base_count or base_hash(items[: made.base_count]) != made.base:
        return "the conversation it was made from has changed"
    if tokens - made.base_tokens > keep_tokens:
        return f"{tokens - made.base_tokens} tokens came since, more than the {keep_tokens} kept"
    return ""


def may_start(
    tokens: int, threshold: int, lead: int, *, enabled: bool, running: bool, waiting: bool,
    capped: bool,
) -> bool:  # fmt: skip
    """True in the stretch of `lead` tokens below the threshold, with nothing running or waiting."""
    free = enabled and not running and not waiting and not capped
    return free and threshold - lead <= tokens < threshold


BlockingEvent = tuple[str | bool, ...]
"""(reason, stage, blocking), or one or two words for a part of a stage."""


def blocking_events(
    reason: str, *, prune: str, compacted: bool = True, fits_after_prune: bool = False,
    fits_after: bool = False,
) -> tuple[BlockingEvent, ...]:  # fmt: skip
    """Events of a blocking run in order. `prune`: ``done``, ``insufficient``, ``no-config``."""
    events: list[BlockingEvent] = [
        (reason, "starting", True), (reason, "pruning", True), ("prune-start",),
    ]  # fmt: skip
    events.append(("prune-complete",) if prune == "done" else ("prune-skipped", prune))
    if not fits_after_prune:
        events += [(reason, "compacting", True), ("compaction-start",)]
        events += [("compaction-complete",)] if compacted and fits_after else []
    events.append((reason, "completed", False))
    if not fits_after_prune and not fits_after:
        events.append(("still-exceeded",))
    return tuple(events)
