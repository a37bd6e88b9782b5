"""Brakes: a circuit breaker over failures, and a cap on attempts in one turn."""

from __future__ import annotations

from dataclasses import dataclass, replace

from snapcompact.compaction.outcome import Reason


@dataclass(frozen=True, slots=True)
class BreakerRules:
    """Limits; a value that makes no sense means the default."""

    max_failures: int = 3
    cooldown_ms: int = 60000
    """0 keeps it open until a new session."""
    per_turn: int = 10
    count_speculative: bool = True


BENIGN = frozenset(
    {
        Reason.DISABLED, Reason.NOT_APPLIED, Reason.NO_MESSAGES, Reason.NOTHING,
        Reason.NO_SUMMARISER,
        Reason.ALREADY,
        Reason.FOCUS, Reason.INEFFECTIVE, Reason.CANCELLED, Reason.BUSY, Reason.CAPPED,
        Reason.OPEN,
    }
)  # fmt: skip
"""Reasons that are no failure of the machinery."""


@dataclass(frozen=True, slots=True)
class Breaker:
    """A circuit breaker as a value: every change gives a new one."""

    failures: int = 0
    failed_at_ms: int | None = None
    reason: str | None = None

    def failed(self, reason: str, now_ms: int) -> Breaker:
        """After one more failure."""
        return Breaker(self.failures + 1, now_ms, reason)

    def is_open(self, rules: BreakerRules) -> bool:
        """True where nothing may be tried; ask :meth:`at` first, which knows the time."""
        return self.failures >= _positive(rules.max_failures, 3)

    def at(self, now_ms: int, rules: BreakerRules) -> Breaker:
        """The breaker at `now_ms`: fresh once it was open for the whole cool-down."""
        cooldown = rules.cooldown_ms if rules.cooldown_ms >= 0 else 60000
        if not self.is_open(rules) or self.failed_at_ms is None or cooldown == 0:
            return self
        return Breaker() if now_ms - self.failed_at_ms >= cooldown else self


def _positive(value: int | None, default: int) -> int:
    return value if value is not None and value > 0 else default


def per_turn_cap(value: int | None) -> int:
    """Attempts a turn may make; 10 where `value` makes no sense."""
    return _positive(value, 10)


@dataclass(frozen=True, slots=True)
class TurnCount:
    """Attempts of the turn under way."""

    accepted: int = 0
    ineffective: int = 0

    def reached(self, cap: int) -> bool:
        """True where no further automatic attempt may be made."""
        return self.accepted + self.ineffective >= cap

    def after(self, reason: Reason) -> TurnCount:
        """After an attempt that ended with `reason`."""
        if reason is Reason.DONE:
            return replace(self, accepted=self.accepted + 1)
        if reason is Reason.INEFFECTIVE:
            return replace(self, ineffective=self.ineffective + 1)
        return self


def counts_as_failure(reason: Reason) -> bool:
    """True where `reason` moves the breaker."""
    return reason is not Reason.DONE and reason not in BENIGN
