"""What a mode is given and what it makes; the session itself is touched by none of them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from snapcompact.compaction.entries import Files

if TYPE_CHECKING:
    from pathlib import Path

    from snapcompact.compaction.counting import Estimator
    from snapcompact.compaction.plan import Plan
    from snapcompact.compaction.policy import Policy
    from snapcompact.compaction.writers.contract import Stored
    from snapcompact.history.model import Usage
    from snapcompact.llm.contract import Endpoint, Model, Part
    from snapcompact.providers.rows import Model as ModelRow

Say = Callable[[str], None]
"""Told a text; must not raise."""


def quiet(text: str) -> None:
    """Say nothing."""


@dataclass(frozen=True, slots=True)
class Job:
    """One compaction, decided and not yet made."""

    plan: Plan
    stored: Stored
    policy: Policy
    estimator: Estimator
    row: ModelRow
    """Of the catalog: the model that will read the session."""
    focus: str = ""
    model: Model | None = None
    """Summarises; None: a deterministic extract does."""
    summary_window: int = 0
    """Tokens of the summarising model's window, 0 where it is not known."""
    task_aware: bool = False
    """Ask first what the task is and what must not be lost."""
    endpoint: Endpoint | None = None
    """Of a provider that compacts by itself."""
    remote_url: str = ""
    """Of a server that summarises."""
    reference: bool = False
    """Name the archive instead of showing its pages."""
    given: str | None = None
    """A summary a callback has given in place of the mode's."""
    archive: Path | None = None
    """Where the archive will be."""
    room: int = 0
    """Tokens that a result may take."""
    say: Say = quiet
    """Warnings and repeated requests."""
    on_text: Say = quiet
    """A summary as it comes."""


@dataclass(frozen=True, slots=True)
class Made:
    """What stands in place of the past."""

    mode: str
    summary: str
    pieces: tuple[Part, ...] = ()
    native: tuple[dict[str, Any], ...] = ()
    """Items of the provider's own compaction, in place of the summary."""
    short: str = ""
    files: Files = field(default_factory=Files)
    extract: bool = False
    """Made without a model, though it is the place of one."""
    archive: Path | None = None
    """An archive made on the way, not yet where it will be."""
    pages: int = 0
    usage: tuple[Usage, ...] = ()
    notes: tuple[str, ...] = ()


Run = Callable[[Job], Awaitable[Made]]
