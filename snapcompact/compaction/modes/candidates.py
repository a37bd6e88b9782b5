"""Which model summarises next when one fails."""

from __future__ import annotations

from dataclasses import dataclass

_NEXT = ("auth", "timeout", "unavailable", "not found")


@dataclass(frozen=True, slots=True)
class NextTry:
    """What follows a failure. ``delay_ms`` is how long to wait before the same model is asked."""

    next_candidate: bool
    same_model_allowed: bool
    delay_ms: int = 0


def next_try(
    error: str, *, delay_ms: int = 0, more: bool = True, longest_ms: int = 30000
) -> NextTry:
    """After `error` (auth, timeout, transient, …) of a candidate.

    Bad credentials and time-outs go to the next, a time-out never back to the same; what passes is
    tried again, unless it takes longer than `longest_ms` and there is another.
    """
    if error in _NEXT:
        return NextTry(True, same_model_allowed=error != "timeout")
    if delay_ms > longest_ms and more:
        return NextTry(True, same_model_allowed=True)
    return NextTry(False, same_model_allowed=True, delay_ms=delay_ms)


def candidates(
    compaction_model: str, current: str, roles: tuple[str, ...], largest: str
) -> tuple[str, ...]:
    """Models in the order they are asked, each once, unset ones left out."""
    return tuple(dict.fromkeys(m for m in (compaction_model, current, *roles, largest) if m))
