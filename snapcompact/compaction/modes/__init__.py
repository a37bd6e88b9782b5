"""The ways to compact: pages, a summary, a provider of its own."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from snapcompact.compaction.modes.job import Run

TABLE: Mapping[str, str] = {
    "handoff": "snapcompact.compaction.modes.soft:run_handoff",
    "remote": "snapcompact.compaction.modes.remote:run",
    "soft": "snapcompact.compaction.modes.soft:run",
}
"""Modes that need nothing but their job, sorted; ``snapcompact`` is also given what it drew, and
those of ladder.py summarise nothing."""


def load_mode(name: str) -> Run:
    """The function of mode `name`."""
    module, _, function = TABLE[name].partition(":")
    return cast("Run", getattr(import_module(module), function))
