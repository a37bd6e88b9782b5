"""What a test says of a session: counts a person can check against the file."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

from snapcompact.history.model import Message, Role, Text, ToolResult
from snapcompact.history.pairing import Standing, pair
from snapcompact.history.session import open_session

if TYPE_CHECKING:
    from snapcompact.history.report import Report
    from snapcompact.history.source import Source

SAMPLES = Path(__file__).parents[2] / ".." / "shared" / "formats" / "samples"


class Seen(NamedTuple):
    """One reading of a session."""

    format: str
    messages: list[Message]
    report: Report

    @property
    def roles(self) -> dict[str, int]:
        return dict(Counter(str(message.role) for message in self.messages))

    @property
    def kinds(self) -> dict[str, int]:
        return dict(Counter(type(block).__name__ for m in self.messages for block in m.blocks))

    @property
    def pairs(self) -> tuple[int, int]:
        """(results whose call is known, orphans)."""
        answers = [answer for _, answer in pair(self.messages) if answer is not None]
        orphans = sum(answer.standing is Standing.ORPHAN for answer in answers)
        return len(answers) - orphans, orphans

    @property
    def texts(self) -> list[str]:
        """Words of every message that has some, results included."""
        return [words for m in self.messages if (words := said(m))]


def said(message: Message) -> str:
    """The words of a message, or of the result it is."""
    if message.role is Role.TOOL:
        return "\n".join(b.text for b in message.blocks if isinstance(b, ToolResult))
    return "\n".join(b.text for b in message.blocks if isinstance(b, Text))


def seen(what: Path | bytes | Source, *, branch: str = "active", select: str = "") -> Seen:
    """Read `what`, its format told from the content."""
    with open_session(what, branch=branch, select=select) as session:
        messages = list(session.messages())
        return Seen(session.format.name, messages, session.report)


def sample(name: str) -> Path:
    """A shared sample; the test is skipped where the samples are not here."""
    path = SAMPLES / name
    if not path.exists():
        pytest.skip("the shared samples are not here")
    return path
