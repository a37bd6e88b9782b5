"""Huffman codes of deflate (RFC 1951), as numbers ready to be written.

An *entry* holds a code's bits, first bit lowest, shifted left by 6, and its length below. The sum
of two entries has the sum of their lengths below as long as that is under 64.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from snapcompact_kernels._jit import kernel
from snapcompact_kernels.cells import signed

if TYPE_CHECKING:
    from numpy.typing import NDArray

U = np.uint64
LITERALS = 286
DISTANCES = 30
SYMBOLS = LITERALS + DISTANCES
"""Distance symbols are numbered on behind the literal and length symbols."""
END_OF_BLOCK = 256
LIMIT = 14
"""Longest code: four of them, and 7 bits held over, fit 64 bits."""

_EXTRA = [0] * 8 + [n for n in range(1, 6) for _ in range(4)] + [0]
LENGTH_EXTRA = np.array(_EXTRA)
LENGTH_BASE = np.array([*(3 + np.cumsum([0] + [1 << n for n in _EXTRA[:27]])).tolist(), 258])
LENGTH_SYMBOL = np.searchsorted(LENGTH_BASE, np.arange(259), side="right") - 1
DISTANCE_EXTRA = np.array([0, 0, *(n for n in range(14) for _ in range(2))])
DISTANCE_BASE = 1 + np.cumsum(np.concatenate(([0], 1 << DISTANCE_EXTRA[:-1])))
_FAR = np.concatenate((np.arange(1, 257), np.arange(1, 1 << 15, 1 << 7)))
DISTANCE_SYMBOL = (np.searchsorted(DISTANCE_BASE, _FAR, side="right") - 1).astype(np.uint8)
"""Tables of RFC 1951, section 3.2.5; LENGTH_SYMBOL counts from 0. DISTANCE_SYMBOL is that of the
distances 1 to 256, then that of every 128th, since those behind the first 256 share theirs."""


@kernel
def distance_symbol(distance: int) -> int:
    """Number, from 0, of the distance code for `distance`."""
    behind = U(distance - 1)
    return signed(DISTANCE_SYMBOL[behind if behind < U(256) else U(256) + (behind >> U(7))])


@kernel
def sort_up(keys: NDArray[np.int64]) -> None:
    """Sort `keys` in place (Shell's sort: compiles in a blink, where numba's own takes seconds)."""
    gap = 132
    while gap:
        for i in range(gap, keys.size):
            key = keys[i]
            j = i
            while j >= gap and keys[j - gap] > key:
                keys[j] = keys[j - gap]
                j -= gap
            keys[j] = key
        gap //= 3


@kernel
def code_lengths(counts: NDArray[np.int64], lengths: NDArray[np.int64]) -> None:
    """Lengths, at most LIMIT, of a Huffman code for symbols that occur `counts` times (all > 0).

    Huffman's tree by two queues; then lengths over LIMIT are cut, and the shortest codes that can
    make room are lengthened, deepest first.
    """
    size = counts.size
    keys = np.empty(size, np.int64)
    for i in range(size):
        keys[i] = counts[i] << 9 | i
    sort_up(keys)
    weights = np.empty(2 * size, np.int64)
    parents = np.zeros(2 * size, np.int64)
    for i in range(size):
        weights[i] = keys[i] >> 9
    leaf, node = 0, size
    for made in range(size, 2 * size - 1):
        total = 0
        for _ in range(2):
            if leaf < size and (node >= made or weights[leaf] <= weights[node]):
                taken = leaf
                leaf += 1
            else:
                taken = node
                node += 1
            total += weights[taken]
            parents[taken] = made
        weights[made] = total
    depths = np.zeros(2 * size, np.int64)
    of_length = np.zeros(LIMIT + 1, np.int64)
    room = 1 << LIMIT
    for i in range(2 * size - 3, -1, -1):
        depths[i] = depths[parents[i]] + 1
        if i < size:
            length = min(depths[i], LIMIT)
            of_length[length] += 1
            room -= 1 << (LIMIT - length)
    while room < 0:
        length = LIMIT - 1
        while of_length[length] == 0:
            length -= 1
        of_length[length] -= 1
        of_length[length + 1] += 2
        of_length[LIMIT] -= 1
        room += 1
    i = 0
    for length in range(LIMIT, 0, -1):
        for _ in range(of_length[length]):
            lengths[keys[i] & 511] = length
            i += 1


@kernel
def canonical_entries(lengths: NDArray[np.int64], entries: NDArray[np.uint64]) -> None:
    """Write the entry of each symbol, by RFC 1951 section 3.2.2, from its code `lengths`."""
    following = np.zeros(LIMIT + 2, np.int64)
    for length in lengths:
        following[length + 1] += 1
    code = 0
    for length in range(1, LIMIT + 1):
        code = (code + following[length]) << 1
        following[length] = code
    for i in range(lengths.size):
        length = lengths[i]
        code = following[length]
        following[length] += 1
        turned = 0
        for _ in range(length):
            turned = turned << 1 | (code & 1)
            code >>= 1
        entries[i] = U(turned << 6 | length)


@kernel
def join(first: np.uint64, second: np.uint64) -> np.uint64:
    """One entry of the two, the bits of `first` before those of `second`."""
    size = first & U(63)
    return ((first >> U(6)) | (second >> U(6)) << size) << U(6) | (size + (second & U(63)))


@kernel
def length_entry(entries: NDArray[np.uint64], length: int) -> np.uint64:
    """The entry of a match's `length`, its extra bits included."""
    symbol = signed(LENGTH_SYMBOL[length])
    extra = U((length - LENGTH_BASE[symbol]) << 6 | LENGTH_EXTRA[symbol])
    return join(entries[END_OF_BLOCK + 1 + symbol], extra)


@kernel
def distance_entry(entries: NDArray[np.uint64], distance: int) -> np.uint64:
    """The entry of a match's `distance`, its extra bits included."""
    symbol = distance_symbol(distance)
    extra = U((distance - DISTANCE_BASE[symbol]) << 6 | DISTANCE_EXTRA[symbol])
    return join(entries[LITERALS + symbol], extra)
