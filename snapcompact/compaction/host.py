"""Who owns a living session, what an orchestrator tells it, and what it may say back."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from snapcompact.compaction.outcome import Outcome, Status

if TYPE_CHECKING:
    from pathlib import Path

    from snapcompact.compaction.deciding import Prepared
    from snapcompact.compaction.hook import HandedIn
    from snapcompact.compaction.run import Result
    from snapcompact.compaction.writers.contract import Stored

T = TypeVar("T")


class Host(Protocol):
    """Who owns the session."""

    def load(self) -> Stored:
        """The session as it is now."""

    def archive(self) -> Path | None:
        """Where pages of the next run are to be archived."""

    def apply(self, ready: Prepared, result: Result) -> dict[str, Any]:
        """Put `result` in place, whole or not at all; facts for the end event."""


@dataclass(frozen=True, slots=True)
class Event:
    """A word about a run: ``start``, ``stage``, ``warning``, ``text`` or ``end``.

    Every start has exactly one end. `auto` says that nobody asked for the run.
    """

    kind: str
    run: int
    auto: bool
    data: dict[str, Any] = field(default_factory=dict)


Before = Callable[["Prepared"], Awaitable["HandedIn | None"]]
"""Told what was decided; gives None, or what is to be done in its place (see hook.py)."""
After = Callable[["Result"], Awaitable[None]]


async def in_thread(work: Callable[[], T]) -> T:
    """`work` done on a thread; a cancellation waits for it, so that nothing of it is left over."""
    task = asyncio.ensure_future(asyncio.to_thread(work))
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        raise


def end_data(outcome: Outcome, facts: dict[str, Any]) -> dict[str, Any]:
    """The fields of an end event."""
    failed = outcome.status is Status.FAILED
    return {
        "status": outcome.status.value,
        "reason": outcome.reason.value,
        "detail": outcome.detail,
        "aborted": outcome.status is Status.CANCELLED,
        **({"errorMessage": outcome.detail} if failed else {}),
        **({"result": facts} if facts else {}),
    }
