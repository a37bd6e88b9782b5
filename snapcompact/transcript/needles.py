"""Many substrings found in a text at once, by their first three bytes. Pure.

Measured on agent transcripts with 83 needles, one busy core: 200 MB/s, against 35 MB/s for one
``bytes.find`` after the other.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

import numpy as np

BLOCK_BYTES = 1 << 20
"""Text looked at in one go; the work arrays take ten times as much."""

SHORT_BYTES = 512
"""Texts up to here are searched for one needle after the other: the arrays would cost more."""


class Needles:
    """A set of substrings, each of three bytes or more, none of which is empty."""

    def __init__(self, needles: Iterable[bytes]) -> None:
        self._all = sorted(set(needles))
        self._by_code: dict[int, list[bytes]] = defaultdict(list)
        self._known = np.zeros(1 << 24, np.uint8)
        for needle in self._all:
            code = int.from_bytes(needle[:3])
            self._known[code] = 1
            self._by_code[code].append(needle)

    def places(self, text: bytes) -> dict[bytes, list[int]]:
        """Offsets of each needle that is in `text`, in order, overlapping ones too."""
        if len(text) <= SHORT_BYTES:
            return {needle: _places(text, needle) for needle in self._all if needle in text}
        found: dict[bytes, list[int]] = defaultdict(list)
        for base in range(0, len(text) - 2, BLOCK_BYTES):
            codes = _codes(text[base : base + BLOCK_BYTES + 2])
            at = np.flatnonzero(self._known[codes])
            for offset, code in zip((at + base).tolist(), codes[at].tolist(), strict=True):
                for needle in self._by_code[code]:
                    if text.startswith(needle, offset):
                        found[needle].append(offset)
        return found


def _places(text: bytes, needle: bytes) -> list[int]:
    """Offsets of `needle`, which is in `text`."""
    found = [text.find(needle)]
    while (at := text.find(needle, found[-1] + 1)) >= 0:
        found.append(at)
    return found


def _codes(text: bytes) -> np.ndarray[tuple[int], np.dtype[np.int32]]:
    """The number that each byte makes with the two behind it, int32 of shape (len - 2,)."""
    array = np.frombuffer(text, np.uint8)
    codes = array[:-2].astype(np.int32)
    for follower in (array[1:-1], array[2:]):
        codes <<= 8
        codes |= follower
    return codes
