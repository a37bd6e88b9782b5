"""Whether a result is worth keeping, and whether the agent may go on by itself after it."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from snapcompact.compaction.entries import Item, calls_of
from snapcompact.compaction.outcome import Reason
from snapcompact.compaction.trigger import TriggerRules, resolve_threshold, valid_ratio
from snapcompact.history.model import Message, Role, Text


@dataclass(frozen=True, slots=True)
class AcceptRules:
    """What a result must be."""

    gate: bool = True
    """Automatic results must fit the window less reserve."""
    refuse_growth: bool = True
    """No result, asked for or not, may be as large as what it replaces."""
    refuse_empty: bool = True
    refuse_protocol: bool = True
    """A summary that is nothing but a tool call is none."""
    ratio: float = 0.5
    """The gate is for contexts that had filled this share of the window."""
    gate_below_trigger: bool = True
    """The gate holds for smaller contexts too."""
    fallback_share: float = 0.95
    min_savings: float = 0.1
    band: float = 0.8
    """Share of the threshold up to which the agent may go on by itself."""
    auto_continue: bool = True
    replay: str = "unanswered"
    """``always``: the newest user text is said again; ``unanswered``: only if it got no answer and
    is not in the tail; ``never``."""


@dataclass(frozen=True, slots=True)
class Acceptance:
    """A judgement and the figures behind it."""

    accepted: bool
    reason: Reason
    fits_budget: bool
    below_trigger: bool
    meets_savings: bool


def accept(
    before: int, after: int, window: int, reserve: int, rules: AcceptRules, *, auto: bool
) -> Acceptance:
    """Whether a result of `after` tokens may replace a context of `before`; the same estimator."""
    limit = window - reserve if 0 < reserve < window else window * rules.fallback_share
    trigger = math.floor(window * valid_ratio(rules.ratio))
    fits = after < limit if window > 0 else after < before
    gated = rules.gate and auto and (rules.gate_below_trigger or before >= trigger)
    good = (fits or not gated) and (after < before or not rules.refuse_growth)
    return Acceptance(
        accepted=good,
        reason=Reason.DONE if good else Reason.INEFFECTIVE,
        fits_budget=fits,
        below_trigger=after < trigger,
        meets_savings=before - after >= before * rules.min_savings,
    )


_PROTOCOL = re.compile(
    r"^\s*(?:<(?:function_calls|tool_call|tool_use|invoke)\b|\{\s*\"(?:tool_calls|function_call)\"|"
    r"<\|[a-z_]+\|>)",
    re.IGNORECASE,
)


_FENCED = re.compile(r"\s*```(?:json)?\s*\n(.*?)\n?\s*```\s*", re.DOTALL | re.IGNORECASE)
_PROTOCOL_KEYS = frozenset({
    "action", "arguments", "command", "function", "function_call", "jsonrpc", "method", "role",
    "tool", "tool_call", "tool_calls", "tool_use", "type",
})  # fmt: skip


def _is_protocol_json(text: str) -> bool:
    """True where the whole of `text` is one JSON object, or a list of such, that gives orders."""
    fenced = _FENCED.fullmatch(text)
    body = (fenced[1] if fenced else text).strip()
    if not body.startswith(("{", "[")):
        return False
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return False
    items = value if isinstance(value, list) else [value]
    return any(isinstance(item, dict) and _PROTOCOL_KEYS & item.keys() for item in items)


def check_summary(text: str, rules: AcceptRules) -> Reason:
    """DONE, or why `text` is no summary: blank, or a tool call in disguise."""
    if not text.strip():
        return Reason.EMPTY if rules.refuse_empty else Reason.DONE
    if rules.refuse_protocol and (_PROTOCOL.match(text) or _is_protocol_json(text)):
        return Reason.PROTOCOL
    return Reason.DONE


@dataclass(frozen=True, slots=True)
class Progress:
    """What an automatic compaction's result allows."""

    fits: bool
    may_continue: bool
    rescue: bool = False
    """Set old blocks aside once more before giving up."""
    dead_end: bool = False
    """Warn once; nothing goes on by itself until the user speaks."""
    delivers_queue: bool = False


def judge_progress(
    residual: int | None, window: int, trigger: TriggerRules, rules: AcceptRules, *,
    reason: str = "threshold", will_retry: bool = False, queued: int = 0, rescued: bool = False,
) -> Progress:  # fmt: skip
    """May the agent go on with `residual` tokens left? None means nothing could be compacted.

    A retry must fit the window less reserve; going on unasked takes more room (``band``), else the
    next answer would compact again. A user's queued message is delivered whatever happens.
    """
    queue = queued > 0
    if reason == "idle":
        return Progress(fits=True, may_continue=False, delivers_queue=queue)
    if residual is None:
        return Progress(False, queue, dead_end=True, delivers_queue=queue)
    if window <= 0:
        return Progress(True, True, delivers_queue=queue)
    threshold = resolve_threshold(trigger, window)
    if will_retry:
        fits = residual <= window - threshold.budget_reserve
    else:
        fits = residual <= math.floor(rules.band * threshold.tokens)
    if fits:
        return Progress(True, True, delivers_queue=queue)
    return Progress(False, queue, rescue=not rescued, dead_end=rescued, delivers_queue=queue)


def continues_alone(
    reason: str, rules: AcceptRules, *, mid_turn: bool, before_prompt: bool
) -> bool:
    """True where the agent is told to go on after a compaction nobody asked for."""
    if reason in ("overflow", "incomplete"):
        return True
    return rules.auto_continue and reason == "threshold" and not mid_turn and not before_prompt


class Continuation(StrEnum):
    """Which words stand after the summary."""

    AUTO = "auto"
    MANUAL = "manual"
    AUTO_WITH_REPLAY = "auto-with-replay"
    TOOL_LOOP = "tool-loop"
    OVERFLOW = "overflow"


def continuation(*, auto: bool, replay: bool, overflow: bool = False) -> Continuation:
    """The variant for a run."""
    if overflow:
        return Continuation.OVERFLOW
    if not auto:
        return Continuation.MANUAL
    return Continuation.AUTO_WITH_REPLAY if replay else Continuation.TOOL_LOOP


def _plain_user(message: Message) -> bool:
    words_only = all(isinstance(block, Text) for block in message.blocks)
    return (
        message.role is Role.USER
        and not message.label
        and words_only
        and bool(message.text.strip())
    )


def to_replay(items: Sequence[Item], kept: Sequence[Item], rules: AcceptRules) -> Item | None:
    """The user message to say again after the summary, None where none is owed."""
    place = next((i for i in range(len(items) - 1, -1, -1) if _plain_user(items[i].message)), None)
    if rules.replay == "never" or place is None:
        return None
    if rules.replay == "always":
        return items[place]
    answered = any(
        item.message.role is Role.ASSISTANT and (item.message.text.strip() or
                                                 calls_of(item.message))
        for item in items[place + 1 :]
    )  # fmt: skip
    in_tail = any(item is items[place] for item in kept)
    return None if answered or in_tail else items[place]


@dataclass(frozen=True, slots=True)
class Queued:
    """User input that came while a compaction ran."""

    text: str
    steer: bool = False


def delivery(queue: Sequence[Queued]) -> tuple[Queued, ...]:
    """The queue as it is delivered, whatever the outcome: steering first, then as typed."""
    return tuple(sorted(queue, key=lambda one: not one.steer))


def idle_due(idle_s: float, tokens: int, *, enabled: bool, after_s: float, above: int) -> bool:
    """True where a session nobody uses is large enough to be compacted; it never goes on alone."""
    return enabled and idle_s >= after_s and tokens > above
