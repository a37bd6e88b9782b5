"""UTF-8 bytes -> token counts: a pre-token machine, learned costs, counts at any offsets.

The machine walks the bytes with one byte of look-ahead and says where a tokenizer would cut the
text into pre-tokens (words, digit groups, runs of signs or blanks). Every byte has a cost, learned
by its place in the pre-token and its neighbours; common pre-tokens have a cost of their own, found
by hash. Costs and counts are in 1/256 of a token.

Tables, the same for all kernels (snapcompact/tokens/machine.py and table.py make them):

- ``signs`` uint16[256]: byte -> ``symbol << 8 | class`` (0-127, 0-15);
- ``moves`` uint16[4096]: ``kind << 8 | class << 4 | class of the next byte`` -> ``kind << 8``, with
  127 added where the pre-token goes on at the byte instead of starting; kinds 0-15;
- ``rows`` int32[2048]: ``kind << 7 | position`` -> offset of that row in ``costs``;
- ``costs`` uint8[]: ``row + (symbol of the previous byte << 7 | symbol)`` -> cost of the byte;
- ``words`` uint16[2**18]: in the four places of a pre-token's bucket, in any order,
  ``tag << 8 | code``, 0: none. Codes to 128 are 1/32 token each, those above 1/4 (to 35.75 tokens).

``carry`` int64[8] is the state between calls, so that a text given in parts counts as the whole:
kind, position, hash, cost by bytes so far, previous symbol, count of the closed pre-tokens, offset
where the open one starts, cost by bytes at that offset. A text starts with position -1, else zeros.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from snapcompact_kernels._jit import kernel

Bytes = NDArray[np.uint8]
Ints = NDArray[np.int64]
Int32s = NDArray[np.int32]
Words = NDArray[np.uint16]

BLOCK = 2048
"""Bytes walked before their pre-tokens are looked up; the scratch arrays stay in the L1 cache."""
PIECE = 64
"""A longer pre-token is cut into pieces of this many bytes, so that a run of one character repeats
a few pieces, found by hash: long runs cost what they should, in linear time. Positions go round
from 127 to 0, so every second piece of a run counts as a start, in fitting and counting alike."""
MULTIPLIER = 0x5851F42D4C957F2D
"""Odd 63-bit multiplier of the rolling hash (Knuth's MMIX generator)."""
BUCKETS = 1 << 16
WAYS = 4
BUCKET_SHIFT = 48
"""The hash's top 16 bits are the bucket, the 8 bits below them the tag."""
NEVER = 1 << 62
"""Offset of a cut that is not there."""


def new_carry() -> Ints:
    """State at the start of a text."""
    carry = np.zeros(8, np.int64)
    carry[1] = -1
    return carry


def new_scratch() -> Ints:
    """Scratch space of :func:`count_by_words`."""
    return np.zeros((3, BLOCK + 1), np.int64)


@kernel
def trace(
    data: Bytes,
    signs: Words,
    moves: Words,
    kinds: Bytes,
    positions: Bytes,
    hashes: Ints,
    ends: Ints,
) -> int:
    """Number of pre-tokens of `data`, for fitting and inspection.

    Writes kind and position of each byte into ``kinds`` and ``positions`` (uint8[len(data)]), and
    hash and end offset of each pre-token into ``hashes`` and ``ends`` (int64[len(data)]).
    """
    move = np.int64(0)
    position = np.int64(-1)
    word_hash = np.int64(0)
    count = 0
    for at in range(len(data)):
        here = np.int64(signs[data[at]]) & 15
        following = np.int64(signs[data[at + 1] if at + 1 < len(data) else 10]) & 15
        move = np.int64(moves[(move & 0xF00) | here << 4 | following])
        position = (position + 1) & (move & 127)
        if position & (PIECE - 1) == 0:
            count += 1
            word_hash = np.int64(0)
        word_hash = (word_hash + np.int64(data[at]) + 1) * MULTIPLIER
        kinds[at] = move >> 8
        positions[at] = position
        hashes[count - 1] = word_hash
        ends[count - 1] = at + 1
    return count


@kernel
def count_by_bytes(
    data: Bytes,
    first: int,
    end: int,
    after: int,
    base: int,
    signs: Words,
    moves: Words,
    rows: Int32s,
    costs: Bytes,
    carry: Ints,
    cuts: Ints,
    cut: int,
    counts: Ints,
) -> int:
    """Count data[first:end], which the byte `after` follows, by the costs of its bytes alone.

    `base` is the offset of data[0] in the text. Writes ``counts[k]``, the count up to offset
    ``cuts[k]``, for cuts from number `cut` on that lie below the end; returns the next cut's
    number. Updates ``carry``; carry[5] is the count so far.
    """
    move = carry[0]
    position = carry[1]
    before = carry[4]
    total = carry[5]
    sign = np.int64(signs[data[first] if first < end else 10])
    at = first
    while at < end:
        while cut < len(cuts) and cuts[cut] <= base + at:
            counts[cut] = total
            cut += 1
        stop = min(end, cuts[cut] - base) if cut < len(cuts) else end
        is_last = at == end - 1  # as in count_by_words
        stop = end if is_last else min(stop, end - 1)
        for here in range(at, stop):
            following = np.int64(signs[after if is_last else data[here + 1]])
            move = np.int64(moves[(move & 0xF00) | (sign & 15) << 4 | (following & 15)])
            position = (position + 1) & (move & 127)
            now = sign >> 8
            row = np.int64(rows[(move >> 1) & 0x780 | position])
            total += np.int64(costs[row + (before << 7 | now)])
            before = now
            sign = following
        at = stop
    carry[0] = move
    carry[1] = position
    carry[4] = before
    carry[5] = total
    return cut


@kernel
def count_by_words(
    data: Bytes,
    first: int,
    end: int,
    after: int,
    base: int,
    signs: Words,
    moves: Words,
    rows: Int32s,
    costs: Bytes,
    words: Words,
    carry: Ints,
    scratch: Ints,
    cuts: Ints,
    cut: int,
    counts: Ints,
) -> int:
    """As :func:`count_by_bytes`, with the costs of known words; carry[5] lags by the open word.

    ``scratch`` is int64[3, BLOCK + 1]. A cut inside a word gets the word's share up to it.
    """
    move = carry[0]
    position = carry[1]
    word_hash = carry[2]
    by_bytes = carry[3]
    before = carry[4]
    hashes = scratch[0]
    ends = scratch[1]
    sums = scratch[2]
    sign = np.int64(signs[data[first] if first < end else 10])
    low = first
    while low < end:
        closed = 0
        is_last = low == end - 1  # the last byte is a block of its own: no test at each byte
        high = end if is_last else min(low + BLOCK, end - 1)
        for here in range(low, high):
            following = np.int64(signs[after if is_last else data[here + 1]])
            move = np.int64(moves[(move & 0xF00) | (sign & 15) << 4 | (following & 15)])
            position = (position + 1) & (move & 127)
            starts = 1 if position & (PIECE - 1) == 0 else 0
            # Without a branch: written at each byte, kept where a word starts.
            hashes[closed] = word_hash
            ends[closed] = here
            sums[closed] = by_bytes
            closed += starts
            word_hash = ((word_hash & (starts - 1)) + np.int64(data[here]) + 1) * MULTIPLIER
            now = sign >> 8
            row = np.int64(rows[(move >> 1) & 0x780 | position])
            by_bytes += np.int64(costs[row + (before << 7 | now)])
            before = now
            sign = following
        low = high
        cut = _close(closed, base, words, carry, scratch, cuts, cut, counts)
    carry[0] = move
    carry[1] = position
    carry[2] = word_hash
    carry[3] = by_bytes
    carry[4] = before
    return cut


@kernel
def _close(
    closed: int,
    base: int,
    words: Words,
    carry: Ints,
    scratch: Ints,
    cuts: Ints,
    cut: int,
    counts: Ints,
) -> int:
    """Count the first `closed` words noted in ``scratch``; returns the next cut's number."""
    hashes = scratch[0]
    ends = scratch[1]
    sums = scratch[2]
    total = carry[5]
    start = carry[6]
    sum_before = carry[7]
    pending = cuts[cut] if cut < len(cuts) else NEVER
    for at in range(closed):
        end = base + ends[at]
        place = ((hashes[at] >> BUCKET_SHIFT) & (BUCKETS - 1)) * WAYS
        tag = (hashes[at] >> (BUCKET_SHIFT - 8)) & 255
        code = np.int64(0)
        for way in range(WAYS):
            entry = np.int64(words[place + way])
            code |= (entry & 255) if entry >> 8 == tag else 0
        cost = max(code * 8, code * 64 - 7168) if code else sums[at] - sum_before
        while pending <= end:
            counts[cut] = total + (cost * (pending - start) // (end - start) if end > start else 0)
            cut += 1
            pending = cuts[cut] if cut < len(cuts) else NEVER
        total += cost
        start = end
        sum_before = sums[at]
    carry[5] = total
    carry[6] = start
    carry[7] = sum_before
    return cut


@kernel
def finish_words(
    end: int, words: Words, carry: Ints, scratch: Ints, cuts: Ints, cut: int, counts: Ints
) -> int:
    """Close the open word at offset `end`, the end of the text; returns the next cut's number."""
    scratch[0, 0] = carry[2]
    scratch[1, 0] = end
    scratch[2, 0] = carry[3]
    return _close(1, 0, words, carry, scratch, cuts, cut, counts)


@kernel
def count_parts(
    data: Bytes,
    offsets: Ints,
    signs: Words,
    moves: Words,
    rows: Int32s,
    costs: Bytes,
    words: Words,
    by_bytes: bool,
    counts: Ints,
) -> None:
    """Write into ``counts[k]`` the count of data[offsets[k]:offsets[k + 1]], a text of its own."""
    carry = np.zeros(8, np.int64)
    scratch = np.zeros((3, BLOCK + 1), np.int64)
    none = np.zeros(0, np.int64)
    for part in range(len(offsets) - 1):
        carry[:] = 0
        carry[1] = -1
        first, end = offsets[part], offsets[part + 1]
        text_tables = (signs, moves, rows, costs)
        if by_bytes:
            count_by_bytes(data, first, end, 10, 0, *text_tables, carry, none, 0, none)
        else:
            carry[6] = first
            count_by_words(
                data, first, end, 10, 0, *text_tables, words, carry, scratch, none, 0, none
            )
            finish_words(end, words, carry, scratch, none, 0, none)
        counts[part] = carry[5]
