"""Answers that a tool writes in several records under one id: nothing of them said twice."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from snapcompact.history.model import Block, Text, Thinking, ToolCall
from snapcompact.history.resume import CannotResume

if TYPE_CHECKING:
    from collections.abc import Iterable

    from snapcompact.history.report import Report

WINDOW = 64
"""Answers remembered; records of one answer are at most a turn apart, sub-agents interleave few."""

MOST_BLOCKS = 4096
"""Blocks remembered of one answer."""

TEXTS = 8
"""Newest texts of an answer that may still grow."""


@dataclass(slots=True)
class _Said:
    """What one answer has said: hashes of blocks, ids of calls, and its newest texts."""

    since: int
    """Byte offset of the record it began with."""
    known: dict[int | str, None] = field(default_factory=dict)
    texts: list[Text | Thinking] = field(default_factory=list)
    """The oldest first."""

    def add(self, key: int | str) -> bool:
        """Whether `key` was new."""
        if key in self.known:
            return False
        self.known[key] = None
        if len(self.known) > MOST_BLOCKS:
            del self.known[next(iter(self.known))]
        return True


class Answers:
    """What has been said under each of the newest answer ids."""

    def __init__(self, report: Report, closed: Iterable[str] = ()) -> None:
        """`closed` are ids of answers whose beginning is not known here (see ``resume.py``)."""
        self._report = report
        self._said: OrderedDict[str, _Said] = OrderedDict()
        self._closed = tuple(closed)

    def began_before(self, offset: int) -> tuple[str, ...]:
        """Ids of the answers remembered that began before byte `offset`, the newest last."""
        mine = (answer for answer, said in self._said.items() if said.since < offset)
        return (*self._closed, *mine)[-WINDOW:]

    def fresh(self, answer: str, found: list[Block], offset: int = 0) -> list[Block]:
        """The blocks of the record at byte `offset` not said before under id `answer`.

        An equal block is dropped and counted, and so is a call with a known id. A text that
        continues one of the newest is a growing snapshot: its new end is kept. Without an id all
        are fresh. Raises CannotResume for an answer that is closed.
        """
        if not answer:
            return found
        said = self._said.get(answer)
        if said is None:
            if answer in self._closed:
                raise CannotResume(f"answer {answer} goes on")
            said = self._said[answer] = _Said(offset)
            if len(self._said) > WINDOW:
                self._said.popitem(last=False)
        else:
            self._said.move_to_end(answer)
        return [new for block in found if (new := self._new(block, said)) is not None]

    def _new(self, block: Block, said: _Said) -> Block | None:
        if type(block) is Thinking and not block.data:
            return block
        named = type(block) is ToolCall and block.id
        if not said.add(f"call {named}" if named else hash(block)):
            self._report.duplicates["repeated block"] += 1
            return None
        if type(block) is not Text and type(block) is not Thinking:
            return block
        for index, old in enumerate(said.texts):
            if type(old) is type(block) and block.data.startswith(old.data):
                self._report.duplicates["growing snapshot"] += 1
                said.texts[index] = block
                return type(block)(block.data[len(old.data) :])
        said.texts.append(block)
        if len(said.texts) > TEXTS:
            del said.texts[0]
        return block
