"""Sessions that say everything twice: once as an item, once as an event told for the screen.

The twin comes a few records before or after. An event is given only where no item says its words.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from snapcompact.history.model import Message, Role, Usage

if TYPE_CHECKING:
    from collections.abc import Iterator

    from snapcompact.history.report import Report

WINDOW = 64
"""Slots after which a twin is no longer expected; in real files it is one to three away."""

HOLD = 4
"""Newest slots held back, so that usage told a record or two later still finds its answer."""


@dataclass(slots=True)
class _Slot:
    messages: list[Message]
    keys: frozenset[str] = frozenset()
    """Words of an item, or the one text of an event."""
    event: str = ""
    """Kind of an event that waits for its item; empty for what is decided."""
    told_by: set[str] = field(default_factory=set)
    """Kinds of events that told this item."""


class Twins:
    """Takes items and events in file order; gives messages in that order, each once."""

    def __init__(self, report: Report) -> None:
        self._report = report
        self._slots: deque[_Slot] = deque()
        self._told: deque[_Slot] = deque(maxlen=WINDOW)

    def item(self, found: list[Message], keys: frozenset[str]) -> None:
        """An item; `keys` are the texts that an event may tell it by."""
        slot = _Slot(found, keys)
        for waiting in self._slots:
            if waiting.event and waiting.keys & keys and waiting.event not in slot.told_by:
                slot.told_by.add(waiting.event)
                waiting.event, waiting.messages = "", []
                self._report.duplicates["event twin"] += 1
        self._told.append(slot)
        self._slots.append(slot)

    def event(self, kind: str, found: list[Message], key: str) -> None:
        """An event of `kind` that tells `key`."""
        for slot in self._told:
            if key in slot.keys and kind not in slot.told_by:
                slot.told_by.add(kind)
                self._report.duplicates["event twin"] += 1
                return
        self._slots.append(_Slot(found, frozenset((key,)), kind))

    def other(self, found: list[Message]) -> None:
        """Messages that nothing repeats."""
        self._slots.append(_Slot(found))

    def usage(self, spent: Usage) -> bool:
        """Give the newest answer that is still held its usage; False where there is none."""
        for slot in reversed(self._slots):
            for index, message in enumerate(slot.messages):
                if message.role is Role.ASSISTANT and message.meta.usage is None:
                    slot.messages[index] = replace(message, meta=message.meta._replace(usage=spent))
                    return True
        return False

    def ready(self) -> Iterator[Message]:
        """The messages that are decided and no longer held."""
        while len(self._slots) > HOLD:
            if self._slots[0].event and len(self._slots) <= WINDOW:
                return
            yield from self._slots.popleft().messages

    def rest(self) -> Iterator[Message]:
        """The messages still held, at the end of the file."""
        while self._slots:
            yield from self._slots.popleft().messages
