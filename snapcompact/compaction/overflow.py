"""Did the request not fit? Told from the error's status and words, or from the usage of an answer.

Words vary by server and lie: "too many tokens per minute" is a rate limit. A status code or a rate
word decides first; then come the patterns, which are data (``presets.toml``).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from snapcompact.history.model import Usage


@dataclass(frozen=True, slots=True)
class OverflowRules:
    """Patterns are regular expressions, searched without regard to case."""

    patterns: tuple[str, ...] = ()
    veto: tuple[str, ...] = ()
    """Words that make it something else, whatever follows."""
    payload: tuple[str, ...] = ()
    """Words of a request too large in bytes: media must go, a summary may not help."""
    levels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Confidence to patterns, highest first; in place of ``patterns`` where given."""
    medium_needs: int = 2
    """How many patterns of the level ``medium`` it takes."""
    classes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Other kinds of error and their patterns, tried in order after overflow."""
    silent_parts: tuple[str, ...] = ("input", "cache_read", "cache_write")
    silent_stops: tuple[str, ...] = ()
    """Stop reasons with which usage above the window is an overflow; none means any."""
    silent_without_window: bool = False


@dataclass(frozen=True, slots=True)
class Verdict:
    """What an error is. ``kind`` names it where ``classes`` knows it."""

    overflow: bool
    payload: bool = False
    confidence: str = "low"
    kind: str = "none"


@cache
def _compiled(patterns: tuple[str, ...]) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(pattern, re.IGNORECASE) for pattern in patterns)


def _hits(text: str, patterns: Sequence[str]) -> int:
    return sum(1 for pattern in _compiled(tuple(patterns)) if pattern.search(text))


def _by_level(text: str, rules: OverflowRules) -> Verdict:
    for level, patterns in rules.levels.items():
        needed = rules.medium_needs if level == "medium" else 1
        if _hits(text, patterns) >= needed:
            return Verdict(True, confidence=level, kind="context_overflow")
    return Verdict(False)


def classify(text: str, rules: OverflowRules, status: int = 0) -> Verdict:
    """What the error `text`, with HTTP `status` where known, says."""
    text = text[:20000]
    if status == 429 or _hits(text, rules.veto):
        return Verdict(False, kind="rate_limit")
    if rules.levels:
        return _by_level(text, rules)
    payload = status == 413 or bool(_hits(text, rules.payload))
    if payload or _hits(text, rules.patterns):
        return Verdict(True, payload, "high", "context_overflow")
    for kind, patterns in rules.classes.items():
        if _hits(text, patterns):
            return Verdict(False, kind=kind)
    return Verdict(False)


def silent_overflow(usage: Usage | None, stop: str, window: int, rules: OverflowRules) -> bool:
    """True where an answer came although more than the window was sent."""
    if usage is None or (window <= 0 and not rules.silent_without_window):
        return False
    if rules.silent_stops and stop not in rules.silent_stops:
        return False
    sent = sum(int(getattr(usage, part)) for part in rules.silent_parts)
    return sent > window


def is_overflow(
    stop: str, error: str, usage: Usage | None, window: int, rules: OverflowRules, status: int = 0
) -> bool:
    """True where the answer failed for want of room, or hides that it did."""
    if stop == "error" and error and classify(error, rules, status).overflow:
        return True
    return silent_overflow(usage, stop, window, rules)


def bytes_are_tokens(verdict: Verdict, tokens: int, window: int, share: float = 0.9) -> bool:
    """True where a request refused for its bytes is nearly full in tokens too.

    Only then does a summary help; else media must go. An unknown window is taken as full.
    """
    return verdict.payload and (window <= 0 or tokens >= window * share)
