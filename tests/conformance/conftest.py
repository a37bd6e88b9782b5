"""Prints how many vectors ran and how many were left out, system by system."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """One line a system: passed, skipped, failed."""
    counts: Counter[tuple[str, str]] = Counter()
    for outcome in ("passed", "skipped", "failed"):
        for report in terminalreporter.stats.get(outcome, []):
            if "test_vectors.py::test_vector[" in report.nodeid:
                system = report.nodeid.split("[", 1)[1].split("/", 1)[0]
                counts[system, outcome] += 1
    systems = sorted({system for system, _ in counts})
    if not systems:
        return
    terminalreporter.section("conformance vectors")
    for outcome in ("passed", "skipped", "failed"):
        total = sum(counts[system, outcome] for system in systems)
        parts = ", ".join(f"{s} {counts[s, outcome]}" for s in systems if counts[s, outcome])
        terminalreporter.line(f"{outcome}: {total}" + (f" ({parts})" if parts else ""))
