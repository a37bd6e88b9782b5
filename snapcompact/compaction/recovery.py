"""After an answer: compact or not, once or again; and the ladder of ways to make a request fit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from snapcompact.compaction.entries import Item
from snapcompact.compaction.overflow import OverflowRules, is_overflow
from snapcompact.compaction.trigger import TriggerRules, should_compact

if TYPE_CHECKING:
    from snapcompact.history.model import Usage


@dataclass(frozen=True, slots=True)
class RecoveryRules:
    """When an overflow is recovered from."""

    enabled: bool = True
    """Recovery's own switch."""
    follows_auto: bool = False
    """Recovery is off where automatic compaction is."""
    same_model: bool = True
    """An overflow another model reported is none of ours."""
    strip_media: bool = True
    """Images and files are put in words in the request that is sent again."""
    retry_delay_ms: int = 100
    truncate: bool = False
    """The ladder's last rung, dropping the oldest pairs, may be used."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The newest answer as far as it matters. ``total`` is None where usage is not known."""

    stop: str
    error: str = ""
    total: int | None = None
    usage: Usage | None = None
    at_ms: int = 1
    same_model: bool = True
    status: int = 0


@dataclass(frozen=True, slots=True)
class Situation:
    """What is known when an answer has ended or a prompt is about to be sent."""

    window: int
    last: Answer
    last_good: int | None = None
    """Context tokens by the newest good answer and what followed, None without one."""
    last_good_at_ms: int = 1
    compaction_at_ms: int | None = None
    before_prompt: bool = False
    attempted: bool = False
    """An overflow of this turn was recovered from already."""
    queued: int = 0
    max_output: int = 0


class Action(StrEnum):
    """What to do."""

    NONE = "none"
    COMPACT = "compact"
    GIVE_UP = "give up"


@dataclass(frozen=True, slots=True)
class Decision:
    """What to do, why, and what comes after."""

    action: Action
    reason: str = ""
    will_retry: bool = False
    deliver_queue: bool = False


_NOTHING = Decision(Action.NONE)


def _is_stale(at_ms: int, situation: Situation) -> bool:
    return situation.compaction_at_ms is not None and at_ms <= situation.compaction_at_ms


def _on_overflow(situation: Situation) -> Decision:
    if situation.attempted:
        return Decision(Action.GIVE_UP, "overflow")
    return Decision(Action.COMPACT, "overflow", will_retry=True)


def after_answer(
    situation: Situation, trigger: TriggerRules, overflow: OverflowRules, rules: RecoveryRules
) -> Decision:
    """What the newest answer calls for.

    Usage from before the newest compaction counts nothing. A cut-off answer is only looked at
    before the next prompt.
    """
    last = situation.last
    if (last.stop == "aborted" and not situation.before_prompt) or _is_stale(last.at_ms, situation):
        return _NOTHING
    over = is_overflow(last.stop, last.error, last.usage, situation.window, overflow, last.status)
    recovers = rules.enabled and (trigger.enabled or not rules.follows_auto)
    if over and recovers and (last.same_model or not rules.same_model):
        return _on_overflow(situation)
    tokens = last.total
    if last.stop == "error":
        tokens = situation.last_good
        if _is_stale(situation.last_good_at_ms, situation):
            tokens = None
    if tokens is None or not should_compact(
        trigger, tokens, situation.window, situation.max_output
    ):
        return _NOTHING
    return Decision(Action.COMPACT, "threshold", deliver_queue=situation.queued > 0)


class Turn(StrEnum):
    """How a turn that overflowed ended."""

    DONE = "done"
    REPLAYED = "replayed"
    TOO_FEW = "too few messages"
    NOT_COMPACTED = "compaction failed"
    STILL_OVER = "still over"


def overflow_turn(first: str, compacted: str, second: str, messages: int, minimum: int = 2) -> Turn:
    """How a turn ends: one compaction, one replay, then the error stands.

    `first` and `second` are ``ok`` or ``overflow``; `compacted` is ``ok`` or an error.
    """
    if first != "overflow":
        return Turn.DONE
    if messages < minimum:
        return Turn.TOO_FEW
    if compacted != "ok":
        return Turn.NOT_COMPACTED
    return Turn.STILL_OVER if second == "overflow" else Turn.REPLAYED


Step = Callable[[Sequence[Item]], Sequence[Item] | None]
"""Makes items smaller; None where it cannot."""


@dataclass(frozen=True, slots=True)
class Climb:
    """The outcome of a ladder. ``items`` are the given ones where nothing helped."""

    success: bool
    strategy: str = ""
    error: str = ""
    items: tuple[Item, ...] = ()


def climb(
    items: Sequence[Item], steps: Sequence[tuple[str, Step]],
    fits: Callable[[Sequence[Item]], bool],
) -> Climb:  # fmt: skip
    """The first step whose result fits. A step that does not is undone before the next."""
    if not steps:
        return Climb(False, error="no reduction mechanism available", items=tuple(items))
    for name, step in steps:
        made = step(items)
        if made is not None and fits(made):
            return Climb(True, name, items=tuple(made))
    tried = ", ".join(name for name, _ in steps)
    return Climb(False, error=f"still over after: {tried}", items=tuple(items))
