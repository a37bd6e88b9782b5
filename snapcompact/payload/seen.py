"""Which texts came before, in a few bytes each: a set of Python's takes ninety."""

from __future__ import annotations

from array import array
from hashlib import blake2b

FIRST_SLOTS = 1 << 12
MOST_SLOTS = 1 << 23
"""Of 8 bytes each: 64 MB."""


class Seen:
    """A set of texts that only grows, kept as 64-bit digests in an open table, linearly probed.

    At most 24 bytes a text. The table stops growing at `most_slots`; when two thirds of them are
    taken, what comes then is no longer remembered, and what was remembered still is.
    """

    def __init__(self, most_slots: int = MOST_SLOTS) -> None:
        self._most_slots = most_slots
        self._slots = array("Q", bytes(8 * min(FIRST_SLOTS, most_slots)))
        self._taken = 0

    def add(self, data: bytes) -> bool:
        """Remember `data`; True if it came before."""
        digest = int.from_bytes(blake2b(data, digest_size=8).digest(), "little") or 1
        place = self._place(digest)
        if self._slots[place]:
            return True
        if 3 * self._taken >= 2 * len(self._slots):
            if len(self._slots) >= self._most_slots:
                return False
            self._grow()
            place = self._place(digest)
        self._slots[place] = digest
        self._taken += 1
        return False

    def _place(self, digest: int) -> int:
        """Slot where `digest` is, or the free one where it would be."""
        slots, mask = self._slots, len(self._slots) - 1
        place = digest & mask
        while (there := slots[place]) and there != digest:
            place = (place + 1) & mask
        return place

    def _grow(self) -> None:
        old, self._slots = self._slots, array("Q", bytes(16 * len(self._slots)))
        for digest in old:
            if digest:
                self._slots[self._place(digest)] = digest
