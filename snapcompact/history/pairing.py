"""Which call a tool result answers: by id and place. Pure, streamed, bounded.

Ids alone do not do: tools reuse them each turn, give parallel calls one id, or leave them out.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from snapcompact.history.model import Message, Role, ToolCall, ToolResult

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

WINDOW = 65_536
"""Calls remembered. A result that comes more than so many calls later is an orphan."""


class Standing(Enum):
    """What a result is to its call."""

    FIRST = "first"
    AGAIN = "again"
    """The call had a result already, and this one replaces it (the first was cut short)."""
    ORPHAN = "orphan"
    """No call is known."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The call that a result answers: message index from 0 and block index, -1 for an orphan."""

    standing: Standing
    message: int = -1
    block: int = -1
    late: bool = False
    """A user's message came between the call and this result."""


@dataclass(slots=True)
class _Call:
    id: str
    message: int
    block: int
    group: int
    turn: int
    answered: bool = False


class Pairing:
    """Takes the messages of a history in order and pairs each result as it comes."""

    def __init__(self) -> None:
        self._calls: OrderedDict[int, _Call] = OrderedDict()
        self._by_id: dict[str, list[int]] = {}
        self._made = 0
        self._index = -1
        self._group = 0
        self._turn = 0
        self._group_open = False

    def feed(self, message: Message) -> Answer | None:
        """The pairing of `message` where it is a tool result, else None."""
        self._index += 1
        if message.role is Role.USER:
            self._turn += 1
            self._group_open = False
        answer = None
        for at, block in enumerate(message.blocks):
            if isinstance(block, ToolCall):
                self._add(block.id, at)
            elif isinstance(block, ToolResult):
                self._group_open = False
                answer = self._answer(block.call_id)
        return answer

    def unanswered(self) -> list[tuple[int, int]]:
        """(message, block) indexes of calls that no result has answered so far, within WINDOW."""
        return [(call.message, call.block) for call in self._calls.values() if not call.answered]

    def _add(self, call_id: str, block: int) -> None:
        """A call; calls with no result between them form a group, as parallel calls do."""
        if not self._group_open:
            self._group += 1
            self._group_open = True
        call = _Call(call_id, self._index, block, self._group, self._turn)
        self._calls[self._made] = call
        self._by_id.setdefault(call_id, []).append(self._made)
        self._made += 1
        if len(self._calls) > WINDOW:
            number, old = self._calls.popitem(last=False)
            same = self._by_id[old.id]
            same.remove(number)
            if not same:
                del self._by_id[old.id]

    def _answer(self, call_id: str) -> Answer:
        call = self._open(call_id)
        if call is not None:
            standing = Standing.FIRST
        else:
            call = self._newest(call_id)
            standing = Standing.AGAIN
        if call is None:
            return Answer(Standing.ORPHAN)
        call.answered = True
        return Answer(standing, call.message, call.block, late=call.turn != self._turn)

    def _open(self, call_id: str) -> _Call | None:
        """The unanswered call meant: the oldest of the newest group that has this id.

        Where the id fits none and either side has no id at all, the oldest open call of the
        newest group.
        """
        numbers = self._by_id.get(call_id, ())
        found = _oldest_of_newest_group(
            [call for n in reversed(numbers) if not (call := self._calls[n]).answered]
        )
        if found is not None or (call_id and numbers):
            return found
        newest = []
        for call in reversed(self._calls.values()):
            if call.group != self._group:
                break
            if not call.answered and not (call_id and call.id):
                newest.append(call)
        return newest[-1] if newest else None

    def _newest(self, call_id: str) -> _Call | None:
        numbers = self._by_id.get(call_id) if call_id else None
        return self._calls[numbers[-1]] if numbers else None


def _oldest_of_newest_group(newest_first: list[_Call]) -> _Call | None:
    found = None
    for call in newest_first:
        if found is not None and call.group != found.group:
            break
        found = call
    return found


def pair(messages: Iterable[Message]) -> Iterator[tuple[Message, Answer | None]]:
    """Each message with its pairing, which is None for all but tool results."""
    pairing = Pairing()
    for message in messages:
        yield message, pairing.feed(message)
