"""Which call a tool result answers: by id and place. Pure, streamed, bounded.

Ids alone do not do: tools reuse them each turn, give parallel calls one id, or leave them out.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, NamedTuple

from snapcompact.history.model import Message, Role, ToolCall, ToolResult
from snapcompact.history.resume import OlderCall

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

WINDOW = 16_384
"""Calls remembered. A result that comes more than so many calls later is an orphan."""


class Standing(Enum):
    """What a result is to its call."""

    FIRST = "first"
    AGAIN = "again"
    """The call had a result already, and this one replaces it (the first was cut short)."""
    ORPHAN = "orphan"
    """No call is known."""


class Answer(NamedTuple):
    """The call that a result answers: message index from 0 and block index, -1 for an orphan."""

    standing: Standing
    message: int = -1
    block: int = -1
    late: bool = False
    """A user's message came between the call and this result."""
    number: int = 0
    """Number of the call among all calls, from 1; 0 for an orphan."""


@dataclass(slots=True, eq=False)
class _Call:
    id: str
    message: int
    block: int
    group: int
    turn: int
    number: int
    answered: bool = False

    @property
    def newest(self) -> _Call:
        """As of :class:`_SameId`: most ids are of one call alone, and then it stands for them."""
        return self

    def take(self) -> _Call | None:
        """As of :class:`_SameId`."""
        return None if self.answered else self


@dataclass(slots=True)
class _SameId:
    """Calls of one id: the newest, and those still open in groups, the newest group last.

    ``open`` is None where none is: an empty deque takes 600 bytes, and most ids are answered.
    """

    newest: _Call
    open: deque[deque[_Call]] | None = None

    def add(self, call: _Call) -> None:
        self.newest = call
        if self.open is None:
            self.open = deque()
        if not self.open or self.open[-1][0].group != call.group:
            self.open.append(deque())
        self.open[-1].append(call)

    def take(self) -> _Call | None:
        """The oldest open call of the newest group that has one, no longer open."""
        found = None
        while self.open and found is None:
            group = self.open[-1]
            call = group.popleft()
            if not group:
                self.open.pop()
            found = None if call.answered else call
        self.open = self.open or None
        return found

    def forget(self, call: _Call) -> None:
        """`call`, older than all others, is out of the window."""
        if self.open and self.open[0][0] is call:
            self.open[0].popleft()
            if not self.open[0]:
                self.open.popleft()


class Pairing:
    """Takes the messages of a history in order and pairs each result as it comes.

    Each step takes constant time, and memory is that of WINDOW calls.
    """

    def __init__(self) -> None:
        self.made = 0
        """Calls so far."""
        self.begins_late = False
        """The first calls of the history are not known here: a result that fits no open call that
        is known raises OlderCall."""
        self._calls: deque[_Call] = deque()
        self._by_id: dict[str, _Call | _SameId] = {}
        self._newest_group: deque[_Call] = deque()
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
            if type(block) is ToolCall:
                self._add(block.id, at)
            elif type(block) is ToolResult:
                self._group_open = False
                answer = self._answer(block.call_id)
        return answer

    def unanswered(self) -> list[tuple[int, int]]:
        """(message, block) indexes of calls that no result has answered so far, within WINDOW."""
        return [(call.message, call.block) for call in self._calls if not call.answered]

    def _add(self, call_id: str, block: int) -> None:
        """A call; calls with no result between them form a group, as parallel calls do."""
        if not self._group_open:
            self._group += 1
            self._group_open = True
            self._newest_group.clear()
        self.made += 1
        call = _Call(call_id, self._index, block, self._group, self._turn, self.made)
        self._calls.append(call)
        self._newest_group.append(call)
        first = self._by_id.setdefault(call_id, call)
        if first is not call:
            self._several(call_id, first).add(call)
        if len(self._calls) > WINDOW:
            self._forget(self._calls.popleft())

    def _several(self, call_id: str, first: _Call | _SameId) -> _SameId:
        """What stands for the calls of `call_id` now that there is one more than `first`."""
        if isinstance(first, _SameId):
            return first
        same = self._by_id[call_id] = _SameId(first)
        if not first.answered:
            same.add(first)
        return same

    def _forget(self, old: _Call) -> None:
        same = self._by_id[old.id]
        if isinstance(same, _SameId):
            same.forget(old)
        if same.newest is old:
            del self._by_id[old.id]
        if self._newest_group and self._newest_group[0] is old:
            self._newest_group.popleft()

    def _answer(self, call_id: str) -> Answer:
        same = self._by_id.get(call_id)
        call = same.take() if same else None
        if call is None and self.begins_late:
            raise OlderCall(f"result {call_id!r} answers an older call, or none")
        if call is None and not (call_id and same):
            call = self._open_without_id(call_id)
        standing = Standing.FIRST
        if call is None and same and call_id:
            call, standing = same.newest, Standing.AGAIN
        if call is None:
            return Answer(Standing.ORPHAN)
        call.answered = True
        late = call.turn != self._turn
        return Answer(standing, call.message, call.block, late, call.number)

    def _open_without_id(self, call_id: str) -> _Call | None:
        """Where an id fits none and either side has no id: the newest group's oldest open call."""
        for call in self._newest_group:
            if not call.answered and not (call_id and call.id):
                return call
        return None


def pair(messages: Iterable[Message]) -> Iterator[tuple[Message, Answer | None]]:
    """Each message with its pairing, which is None for all but tool results."""
    pairing = Pairing()
    for message in messages:
        yield message, pairing.feed(message)
