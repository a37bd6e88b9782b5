"""When a session is compacted: reserve, threshold, pressure levels.

Every rule is a number in :class:`TriggerRules`; CONFLICTS 2 to 4 of the seeds say why the default's
are what they are. Ratios are of the *effective* window: the window less a compaction reserve.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum

DEFAULT_RATIO = 0.5


@dataclass(frozen=True, slots=True)
class TriggerRules:
    """Thresholds. ``reserve_tokens`` None means unset, which is not the default given."""

    enabled: bool = True
    compare: str = ">"
    reserve_tokens: int | None = None
    default_reserve: int = 16384
    reserve_share: float = 0.15
    share_raises_explicit: bool = False
    """An explicit reserve below the share is raised to it."""
    cap_at_output: bool = True
    """An unset reserve is at most what the model can answer."""
    zero_reserve: str = "honour"
    """An explicit 0: ``honour`` it, take it as ``unset``, or ``never`` compact."""
    impossible: str = "share"
    """A reserve that leaves no window: use the fallback ``share``, or ``compare`` all the same."""
    fallback_share: float = 0.15
    clamp: bool = True
    """Keep the threshold inside 0 … window - 1."""
    unknown_window: str = "never"
    """A window of 0: ``never`` compact, or ``compare``."""
    threshold_tokens: int = -1
    threshold_percent: float = -1
    threshold_ratio: float = 0
    """Share of the effective window; 0 is off. Outside (0, 1] it means one half."""
    max_tokens: int = 0
    """With a ratio: no more than these tokens; 0 is off."""
    prune_reserve_share: float = 0.10
    prune_reserve_min: int = 500
    prune_reserve_max: int = 20000
    warning_share: float = 0.85
    speculative_share: float = 0.75
    speculative_start_ratio: float = 0
    lead_share: float = 0.125
    lead_min: int = 8192
    lead_max: int = 32000
    keep_tokens: int = 20000
    """The kept tail's budget, where no share of a known window says otherwise."""
    keep_share: float = 0.25
    """The kept tail's share of window less reserve, rounded down."""
    keep_capped: bool = True
    """``keep_tokens`` is the most that the share gives."""
    keep_min: int = 2000


@dataclass(frozen=True, slots=True)
class Threshold:
    """Tokens above which a session is compacted, and the reserves that led there."""

    tokens: int
    effective_reserve: int
    budget_reserve: int


def _effective_reserve(rules: TriggerRules, window: int, max_output: int) -> tuple[int, bool]:
    """(reserve, explicit)."""
    share = max(0, math.floor(window * rules.reserve_share))
    given = rules.reserve_tokens
    if given is not None and (given > 0 or rules.zero_reserve != "unset"):
        return (max(share, given) if rules.share_raises_explicit else given), True
    reserve = max(share, rules.default_reserve)
    if rules.cap_at_output and max_output > 0:
        reserve = min(reserve, max_output)
    return reserve, False


def resolve_reserve(rules: TriggerRules, window: int, max_output: int = 0) -> tuple[int, int]:
    """(reserve as meant, as used): an impossible one falls back to the share, at least 1."""
    effective, explicit = _effective_reserve(rules, window, max_output)
    if rules.impossible != "share":
        return effective, effective
    share = math.floor(window * rules.fallback_share)
    swallowed = effective >= window or (not explicit and effective >= window - share)
    return effective, max(1, share) if swallowed else effective


def valid_ratio(ratio: float | None) -> float:
    """`ratio` where it lies in (0, 1], else one half."""
    return ratio if ratio is not None and 0 < ratio <= 1 else DEFAULT_RATIO


def effective_window(rules: TriggerRules, window: int) -> int:
    """The window less what compaction itself needs, never negative."""
    return max(0, window - _compaction_reserve(rules, window))


def _compaction_reserve(rules: TriggerRules, window: int) -> int:
    share = math.floor(window * rules.prune_reserve_share)
    return min(rules.prune_reserve_max, max(rules.prune_reserve_min, share))


def resolve_threshold(rules: TriggerRules, window: int, max_output: int = 0) -> Threshold:
    """The threshold: tokens, else percent, else ratio, else window less reserve."""
    effective, budget = resolve_reserve(rules, window, max_output)
    if rules.threshold_tokens > 0:
        tokens = min(max(rules.threshold_tokens, 1), window - 1)
    elif rules.threshold_percent > 0:
        tokens = math.floor(window * min(max(rules.threshold_percent, 1), 99) / 100)
    elif rules.threshold_ratio:
        limit = effective_window(rules, window)
        tokens = math.floor(limit * valid_ratio(rules.threshold_ratio))
        tokens = min(tokens, rules.max_tokens) if rules.max_tokens else tokens
    else:
        tokens = window - budget
        tokens = max(0, min(window - 1, tokens)) if rules.clamp else tokens
    return Threshold(tokens, effective, budget)


def should_compact(rules: TriggerRules, tokens: int, window: int, max_output: int = 0) -> bool:
    """True where a session of `tokens` is to be compacted on its own accord."""
    if not rules.enabled or (window <= 0 and rules.unknown_window == "never"):
        return False
    given = rules.reserve_tokens
    if given is not None and given <= 0 and rules.zero_reserve == "never":
        return False
    threshold = resolve_threshold(rules, window, max_output).tokens
    return tokens >= threshold if rules.compare == ">=" else tokens > threshold


def keep_budget(rules: TriggerRules, window: int, max_output: int = 0) -> int:
    """Tokens of the kept tail."""
    if not rules.keep_share or window <= 0:
        return rules.keep_tokens
    reserve = resolve_reserve(rules, window, max_output)[1]
    share = max(rules.keep_min, math.floor((window - reserve) * rules.keep_share))
    return min(share, rules.keep_tokens) if rules.keep_capped else share


class Pressure(StrEnum):
    """How full a session is."""

    NORMAL = "normal"
    ELEVATED = "elevated"
    WARNING = "warning"
    CRITICAL = "critical"


@dataclass(frozen=True, slots=True)
class Budget:
    """Token marks of a window, from the first that matters to the last."""

    window: int
    reserved: int
    effective: int
    speculative_at: int
    auto_at: int
    warning_at: int
    hard_at: int


def context_budget(
    rules: TriggerRules, window: int, ratio: float | None = None, headroom: int = 0
) -> Budget:
    """The marks of `window`; `headroom` is what the answer needs (its limit, else a reserve)."""
    reserved = _compaction_reserve(rules, window)
    effective = max(0, window - reserved)
    auto = math.floor(effective * valid_ratio(ratio))
    return Budget(
        window=window,
        reserved=reserved,
        effective=effective,
        speculative_at=math.floor(auto * rules.speculative_share),
        auto_at=auto,
        warning_at=math.floor(effective * rules.warning_share),
        hard_at=max(0, window - headroom),
    )


def pressure(tokens: int, budget: Budget) -> Pressure:
    """The level of `tokens`; each mark belongs to the level above it."""
    marks = (
        (budget.hard_at, Pressure.CRITICAL),
        (budget.warning_at, Pressure.WARNING),
        (budget.auto_at, Pressure.ELEVATED),
    )
    return next((level for mark, level in marks if tokens >= mark), Pressure.NORMAL)


def at_hard_limit(tokens: int, window: int, reserve: int, additional: int = 0) -> bool:
    """True where what is there, what is to be added and the reserve fill the window."""
    return tokens + additional + reserve >= window


def phase_reserve(reserve: int, *, intermediate: bool, usage_known: bool) -> int:
    """The reserve of a step: doubled inside a tool loop while only an estimate is known."""
    return reserve * 2 if intermediate and not usage_known else reserve


def speculative_at(
    limit: int, *, start_ratio: float | None, ratio: float | None, reserve: int, share: float = 0.75
) -> int:
    """Tokens at which a background summary starts, under a blocking ratio or without one."""
    start = start_ratio if start_ratio is not None and 0 < start_ratio < 1 else None
    if ratio is not None:
        return math.floor(limit * valid_ratio(ratio) * (start or share))
    if start is not None:
        return math.floor(limit * start)
    return max(0, limit - 2 * reserve)


def speculative_mark(rules: TriggerRules, threshold: int) -> int:
    """Tokens at which a background summary starts, as a share of the blocking threshold."""
    start = rules.speculative_start_ratio
    return math.floor(threshold * (start if 0 < start < 1 else rules.speculative_share))


def speculation_lead(rules: TriggerRules, threshold: int) -> int:
    """How far below the threshold a background summary may start."""
    return math.floor(min(max(threshold * rules.lead_share, rules.lead_min), rules.lead_max))


def recommended_output(window: int, input_tokens: int, reserve: int, *, unknown: int = 8192) -> int:
    """Tokens to ask for at most: 85 % of what is left, less a reserve of at most 15 %."""
    if window <= 0:
        return unknown
    left = window - input_tokens - min(reserve, window * 0.15)
    return max(0, math.floor(left * 0.85 + 1e-9))


# Larger windows may be filled further before it hurts (plugsuits' table).
_RATIO_STEPS = ((16000, 0.45), (32000, 0.5), (64000, 0.55), (128000, 0.6))


def adaptive_ratio(window: int) -> float:
    """The share of a window to fill, by its size."""
    if window <= 0:
        return DEFAULT_RATIO
    return next((ratio for limit, ratio in _RATIO_STEPS if window <= limit), 0.65)


def soft_budget(window: int, reserve: int) -> int:
    """Tokens a session may hold before it is compacted softly."""
    if window <= 0:
        return 8000
    return max(1024, math.floor(0.8 * (window - max(0, reserve))))


def soft_start_ratio(window: int, reserve: int) -> float:
    """Share of :func:`soft_budget` at which a background summary starts."""
    if window <= 0:
        return 0.75
    soft = soft_budget(window, reserve)
    return min(0.95, max(0.15, max(512, math.floor(0.75 * soft)) / soft))
