"""How full a session is, told from its entries.

The rule is that of tokens/usage.py; here is what only entries know (totals as reported, the time of
a compaction) and what triggers and status lines make of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from snapcompact.compaction.entries import Entry, Item, Kind
from snapcompact.history.model import Role
from snapcompact.tokens.usage import ContextTokens, usage_then_estimates, window_tokens

if TYPE_CHECKING:
    from snapcompact.compaction.counting import Estimator


@dataclass(frozen=True, slots=True)
class UsageRules:
    """Which figure decides. ``source``: what the trigger compares with its threshold."""

    source: str = "largest"
    """``largest`` of usage and estimate, ``usage`` where there is any, else the estimate."""
    skip_failed: bool = True
    """An answer that failed or was cut off is no source of usage."""
    skip_error: bool = True


def entry_tokens(entry: Entry) -> int | None:
    """The usage total of an assistant entry, None where it has none."""
    message = entry.message
    if message is None or message.role is not Role.ASSISTANT or message.meta.usage is None:
        return None
    return window_tokens(message.meta.usage, entry.reported_total)


def _is_source(entry: Entry, rules: UsageRules) -> bool:
    if entry_tokens(entry) is None:
        return False
    stop = entry.message.meta.stop if entry.message else ""
    if stop == "aborted":
        return not rules.skip_failed
    return not (stop.startswith("error") and rules.skip_error)


def last_usage(entries: Sequence[Entry], rules: UsageRules) -> int | None:
    """Usage total of the newest good answer, None without one."""
    for entry in reversed(entries):
        if _is_source(entry, rules):
            return entry_tokens(entry)
    return None


def estimate_context(
    items: Sequence[Item], estimator: Estimator, rules: UsageRules
) -> ContextTokens:
    """Usage of the newest good answer plus the estimate of every later message, uncorrected.

    Usage from before the newest compaction counts nothing: it measured another context. The caller
    gives items of the effective context; an item before a summary that stands later is skipped so.
    """
    newest_mark = max(
        (item.entry.time_ms for item in items if item.entry.kind is Kind.COMPACTION), default=-1
    )
    totals = [
        entry_tokens(item.entry) or 0
        if _is_source(item.entry, rules) and (newest_mark < 0 or item.entry.time_ms > newest_mark)
        else 0
        for item in items
    ]
    return usage_then_estimates(totals, [estimator(item.message) for item in items])


def trigger_tokens(rules: UsageRules, usage: int, estimate: int) -> int:
    """The figure the trigger looks at, never negative."""
    if rules.source == "usage":
        return usage if usage > 0 else max(0, estimate)
    return max(0, usage, estimate)


def tokens_after(last: int, before: int, after: int) -> int:
    """A provider's count carried over a compaction: less the estimated saving, at least `after`.

    `before` and `after` are estimates of the same context; 0 or less stays 0 (nothing known).
    """
    return max(last - max(before - after, 0), after) if last > 0 else 0


@dataclass(frozen=True, slots=True)
class Occupancy:
    """What a status line shows; None where it is not known yet."""

    tokens: int | None
    percent: float | None


def occupancy(window: int, tokens: int, *, known: bool) -> Occupancy | None:
    """How full the window is; None without one, empty until an answer came after a compaction."""
    if window <= 0:
        return None
    if not known:
        return Occupancy(None, None)
    return Occupancy(tokens, tokens / window * 100)


def _thousands(tokens: int) -> str:
    return str(tokens) if tokens < 1000 else f"{tokens / 1000:.1f}k"


def occupancy_text(used: int, limit: int, percent: int, level: str = "") -> str:
    """``used/limit (p%)``, with the level in brackets where it is above normal."""
    if limit <= 0:
        return f"?/{limit} (?)"
    label = {"elevated": " [elevated]", "warning": " [WARNING]", "critical": " [CRITICAL]"}
    return f"{_thousands(used)}/{_thousands(limit)} ({percent}%){label.get(level, '')}"
