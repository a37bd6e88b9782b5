"""Which ids were seen before, in 8 to 16 bytes each and at most some 70 MB."""

from __future__ import annotations

from array import array

_START_SLOTS = 1 << 10

MOST_IDS = 1 << 21
"""Ids of a generation; two are kept, so that at least the last two million ids are known."""


class Seen:
    """A set of texts by their 64-bit hash, to drop copies of records.

    Two of ten million ids share a hash with probability 3e-6; the hash is keyed per process, so no
    file can be made to collide.
    """

    def __init__(self) -> None:
        self._new = _Hashes()
        self._old = _Hashes()

    def add(self, text: str) -> bool:
        """Remember `text`; True where it was new."""
        key = hash(text) or 1  # 0 marks an empty slot
        if (len(self._old) and key in self._old) or not self._new.add(key):
            return False
        if len(self._new) >= MOST_IDS:
            self._old, self._new = self._new, _Hashes()
        return True


class _Hashes:
    """An open-addressing set of numbers, none 0, at most half full."""

    def __init__(self) -> None:
        self._slots = array("q", bytes(8 * _START_SLOTS))
        self._mask = _START_SLOTS - 1
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def __contains__(self, key: int) -> bool:
        return self._slots[self._place(key)] == key

    def add(self, key: int) -> bool:
        """Whether `key` was new."""
        at = self._place(key)
        if self._slots[at]:
            return False
        self._slots[at] = key
        self._count += 1
        if self._count * 2 > self._mask:
            self._grow()
        return True

    def _place(self, key: int) -> int:
        """The slot of `key`, or the empty one where it belongs."""
        slots, mask = self._slots, self._mask
        at = key & mask
        while (found := slots[at]) and found != key:
            at = (at + 1) & mask
        return at

    def _grow(self) -> None:
        old = self._slots
        self._mask = len(old) * 2 - 1
        self._slots = array("q", bytes(8 * len(old) * 2))
        for key in old:
            if key:
                self._slots[self._place(key)] = key
