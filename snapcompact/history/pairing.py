"""Which call a result answers, when ids are repeated, late or unknown.

Calls are numbered from 1 in the order they were made. A result answers, of the calls with its id:
the oldest one still open in the newest group that has one (a *group* is a run of calls with no
result or user message between, so parallel calls that share an id each get their result, and ids
that restart every turn never reach back to an aborted call); if none is open, the newest one again
(an aborted and a complete result of one call).
"""

from __future__ import annotations

from collections import OrderedDict, deque
from typing import NamedTuple

MOST_IDS = 65_536
"""Ids remembered, the newest first. An answer to an older call counts as an orphan, so that memory
stays flat over millions of calls; real results come within a few hundred calls."""


class Answer(NamedTuple):
    """The call a result answers. ``back`` is 1 for the newest call made so far."""

    number: int
    back: int
    expected: bool
    """It is the call behind the newest one answered before, as when results come in order."""
    repeated: bool
    """The call had a result already."""


class _Calls:
    """Open calls of one id, oldest first, all of one group; and the newest call of the id."""

    __slots__ = ("group", "newest", "open")

    def __init__(self, number: int, group: int) -> None:
        self.group = group
        self.newest = number
        self.open = deque([number], maxlen=MOST_IDS)


class Pairing:
    """Pairs calls and results one by one; memory is bounded by MOST_IDS."""

    def __init__(self) -> None:
        self._by_id: OrderedDict[str, _Calls] = OrderedDict()
        self._made = 0
        self._answered = 0
        self._group = 0

    def call(self, call_id: str) -> int:
        """Number of the call just made with `call_id`."""
        self._made += 1
        known = self._by_id.get(call_id)
        if known is None or known.group != self._group:
            self._by_id[call_id] = _Calls(self._made, self._group)
        else:
            known.open.append(self._made)
            known.newest = self._made
        self._by_id.move_to_end(call_id)
        if len(self._by_id) > MOST_IDS:
            self._by_id.popitem(last=False)
        return self._made

    def result(self, call_id: str) -> Answer | None:
        """The call that a result with `call_id` answers; None if no such call is known."""
        self._group = self._made
        known = self._by_id.get(call_id)
        if known is None:
            return None
        repeated = not known.open
        number = known.newest if repeated else known.open.popleft()
        answer = Answer(number, self._made + 1 - number, number == self._answered + 1, repeated)
        self._answered = max(self._answered, number)
        return answer

    def turn(self) -> None:
        """A user's message has come: later calls are of another group."""
        self._group = self._made
