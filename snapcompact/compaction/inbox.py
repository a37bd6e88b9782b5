"""What the user says while a compaction runs: kept in order, delivered however that ends."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from snapcompact.compaction.guard import Queued, delivery


class Inbox:
    """Queued input. `failures` is told what `deliver` raised; what was not sent stays."""

    def __init__(
        self, deliver: Callable[[Queued], Awaitable[None]] | None, failures: list[str]
    ) -> None:
        self._deliver = deliver
        self._failures = failures
        self._queue: list[Queued] = []

    @property
    def waiting(self) -> tuple[Queued, ...]:
        """Input that waits, in the order it will be delivered: steering first."""
        return delivery(self._queue)

    def add(self, text: str, *, steer: bool = False) -> None:
        """Put `text` behind what waits."""
        self._queue.append(Queued(text, steer))

    async def deliver_all(self) -> None:
        """Hand over what waits; what cannot be sent is put back in front, in order."""
        waiting, self._queue = list(delivery(self._queue)), []
        if self._deliver is None:
            self._queue = waiting
            return
        while waiting:
            try:
                await self._deliver(waiting[0])
            except Exception as error:
                self._failures.append(f"deliver: {error!r}")
                self._queue = [*waiting, *self._queue]
                return
            waiting.pop(0)
