"""Answers that a tool writes in several records under one id: nothing of them said twice."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING

from snapcompact.history.model import Block, Text, Thinking, ToolCall

if TYPE_CHECKING:
    from snapcompact.history.report import Report

WINDOW = 64
"""Answers remembered; records of one answer are at most a turn apart, sub-agents interleave few."""


class Answers:
    """What has been said under each of the newest answer ids."""

    def __init__(self, report: Report) -> None:
        self._report = report
        self._said: OrderedDict[str, list[Block]] = OrderedDict()

    def fresh(self, answer: str, found: list[Block]) -> list[Block]:
        """The blocks of a record not said before under id `answer`.

        An equal block is dropped and counted. A text that continues the newest of its kind is a
        growing snapshot: its new end is kept. Without an id all are fresh.
        """
        if not answer:
            return found
        said = self._said.setdefault(answer, [])
        self._said.move_to_end(answer)
        if len(self._said) > WINDOW:
            self._said.popitem(last=False)
        return [new for block in found if (new := self._new(block, said)) is not None]

    def _new(self, block: Block, said: list[Block]) -> Block | None:
        if _sealed(block):
            return block
        if block in said or _same_call(block, said):
            self._report.duplicates["repeated block"] += 1
            return None
        for index, old in enumerate(said):
            rest = _continuation(old, block)
            if rest is not None:
                self._report.duplicates["growing snapshot"] += 1
                said[index] = block
                return rest
        said.append(block)
        return block


def _sealed(block: Block) -> bool:
    return isinstance(block, Thinking) and not block.data


def _same_call(block: Block, said: list[Block]) -> bool:
    return (
        isinstance(block, ToolCall)
        and bool(block.id)
        and any(isinstance(old, ToolCall) and old.id == block.id for old in said)
    )


def _continuation(old: Block, new: Block) -> Block | None:
    if isinstance(old, Text) and isinstance(new, Text) and new.data.startswith(old.data):
        return Text(new.data[len(old.data) :])
    if isinstance(old, Thinking) and isinstance(new, Thinking) and new.data.startswith(old.data):
        return Thinking(new.data[len(old.data) :])
    return None
