"""Which ids were seen before, in 8 to 16 bytes each."""

from __future__ import annotations

from array import array

_START_SLOTS = 1 << 10


class Seen:
    """A set of texts by their 64-bit hash, to drop copies of records.

    Two of ten million ids share a hash with probability 3e-6; the hash is keyed per process, so no
    file can be made to collide.
    """

    def __init__(self) -> None:
        self._slots = array("q", bytes(8 * _START_SLOTS))
        self._mask = _START_SLOTS - 1
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def add(self, text: str) -> bool:
        """Remember `text`; True where it was new."""
        key = hash(text) or 1  # 0 marks an empty slot
        slots, mask = self._slots, self._mask
        at = key & mask
        while found := slots[at]:
            if found == key:
                return False
            at = (at + 1) & mask
        slots[at] = key
        self._count += 1
        if self._count * 2 > mask:
            self._grow()
        return True

    def _grow(self) -> None:
        old = self._slots
        self._mask = mask = len(old) * 2 - 1
        self._slots = slots = array("q", bytes(8 * (mask + 1)))
        for key in old:
            if key:
                at = key & mask
                while slots[at]:
                    at = (at + 1) & mask
                slots[at] = key
