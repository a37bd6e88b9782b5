"""The title of a session, from whatever its records offer."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from snapcompact.history.model import Message
    from snapcompact.history.report import Report

TITLE_CHARACTERS = 120
"""Longest title made from a prompt."""


class Titles:
    """Keeps ``report.info["title"]`` at the best title met so far."""

    def __init__(self, report: Report, kinds: tuple[str, ...] = ()) -> None:
        """`kinds` of title records, the strongest first; a prompt is weaker than all."""
        self._report = report
        self._kinds = kinds
        self.rank = len(kinds) + 1
        """Of the title so far, 0 for the strongest kind."""

    def add(self, kind: str, title: object) -> None:
        """A title of `kind`; the newest of the strongest kind wins."""
        rank = self._kinds.index(kind)
        if isinstance(title, str) and title.strip() and rank <= self.rank:
            self.rank = rank
            self._report.info["title"] = first_line(title)

    def guess(self, title: object) -> None:
        """A title that may be another session's: stands until anything better comes."""
        if self.rank > len(self._kinds) and isinstance(title, str) and title.strip():
            self._report.info["title"] = first_line(title)

    def prompt(self, message: Message | str) -> None:
        """The first words a person typed."""
        if self.rank <= len(self._kinds):
            return
        text = message if isinstance(message, str) else message.text
        if text.strip():
            self.rank = len(self._kinds)
            self._report.info["title"] = first_line(text)


def first_line(text: str) -> str:
    """The first line of `text` that has words, cut at TITLE_CHARACTERS."""
    line = text.strip().split("\n", 1)[0].strip()
    return line if len(line) <= TITLE_CHARACTERS else line[: TITLE_CHARACTERS - 1] + "…"
