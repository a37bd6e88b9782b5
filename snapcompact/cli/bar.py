"""A progress bar on stderr (rich is imported only for a terminal that can show it)."""

from __future__ import annotations

from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn


class Bar:
    """A bar with the count so far; pulses until a total is known."""

    def __init__(self, what: str, unit: str) -> None:
        self._progress = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn(unit, markup=False),
            TimeElapsedColumn(),
            console=Console(stderr=True, markup=False, highlight=False),
            transient=True,
        )
        self._task = self._progress.add_task(what, total=None)

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self._progress.stop()

    def advance(self, amount: int = 1) -> None:
        """See console.Progress."""
        self._progress.advance(self._task, amount)

    def total(self, amount: int) -> None:
        """See console.Progress."""
        self._progress.update(self._task, total=amount)
