"""Spans of lines that a session took back later, with the line that took them back. Pure."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from snapcompact.errors import UnknownNameError

if TYPE_CHECKING:
    from snapcompact.history.model import Message


class Span(NamedTuple):
    """Lines from `first` up to, not with, line `end`, which took them back."""

    first: int
    end: int

    @property
    def branch(self) -> str:
        """Name of the branch that was left: the file as it was before line `end`."""
        return f"before-line-{self.end}"


class Spans:
    """What of a file is left, for the branch asked for."""

    def __init__(self, spans: Iterable[Span], branch: str) -> None:
        """Raises UnknownNameError where `branch` is no span's, nor ``active`` or ``all``."""
        self._spans = list(spans)
        self.branches = [span.branch for span in self._spans]
        self._all = branch == "all"
        self._end = 0
        if branch not in ("active", "all"):
            if branch not in self.branches:
                known = ", ".join(self.branches) or "none"
                raise UnknownNameError(f"no branch {branch!r} in this session; known: {known}")
            self._end = self._spans[self.branches.index(branch)].end
            self._spans = [span for span in self._spans if span.end < self._end]
        self._union = _union(self._spans)

    def ended(self, line: int) -> bool:
        """Whether the branch asked for ends before `line`."""
        return 0 < self._end <= line

    def dropped(self, line: int) -> bool:
        """Whether `line` is left and not asked for."""
        return not self._all and self._is_left(line)

    def marked(self, message: Message) -> Message:
        """`message`, labelled where it is on a left branch."""
        if self._all and self._is_left(message.meta.line):
            return left(message)
        return message

    def _is_left(self, line: int) -> bool:
        at = bisect_right(self._union, line, key=_first) - 1
        return at >= 0 and line < self._union[at].end


def _first(span: Span) -> int:
    return span.first


def _union(spans: list[Span]) -> list[Span]:
    """The same lines in spans that neither touch nor overlap, in order."""
    out: list[Span] = []
    for span in sorted(spans):
        if out and span.first <= out[-1].end:
            out[-1] = Span(out[-1].first, max(out[-1].end, span.end))
        else:
            out.append(span)
    return out


def left(message: Message) -> Message:
    """`message` with the label of a left branch."""
    return replace(message, label=f"left branch {message.label}".strip())
