"""What is counted of a page before its stream is written: bytes, symbols, what matches pay."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from snapcompact_kernels._jit import kernel
from snapcompact_kernels.deflate_codes import (
    END_OF_BLOCK,
    LENGTH_SYMBOL,
    LITERALS,
    SYMBOLS,
    canonical_entries,
    code_lengths,
    distance_symbol,
)
from snapcompact_kernels.deflate_matches import BLANK, DENSE, LONGEST, RUN, SHORTEST, SPARSE

if TYPE_CHECKING:
    from numpy.typing import NDArray

U = np.uint64
MOST_INK = 10
"""A place with ink in fewer than 1 of so many bytes is looked through for runs."""
MATCH_BITS = 34
"""What literals must cost for a match to take their place: its own 18 or so, and what it hinders.

Fewer make more matches than pay: 20 costs 1 % more bytes.
"""
LENGTH_GUESS, DISTANCE_GUESS = 7, 4
"""Code lengths of matches before any are known; 5 and 3 give the same bytes within 0.02 %."""


@kernel
def count_bytes(page: NDArray[np.uint8], size: int, step: int, counts: NDArray[np.int64]) -> int:
    """Count the bytes of each place of a scanline in its row of cells: ``counts`` (places, 256).

    `size` is the bytes of a scanline; every `step`-th row of cells is looked at, and the first byte
    of a scanline left out. Returns the bytes seen of a place.
    """
    places = counts.shape[0]
    counts[:] = 0
    rows_seen = 0
    for row in range(0, page.size // (places * size), step):
        rows_seen += 1
        for place in range(places):
            start = U((row * places + place) * size)
            for x in range(1, size):
                counts[U(place), page[start + U(x)]] += 1
    return rows_seen * (size - 1)


@kernel
def rough_lengths(counts: NDArray[np.int64], lengths: NDArray[np.int64]) -> None:
    """Guess the code lengths of all symbols (SYMBOLS), those of bytes by how rare they are.

    `counts` as of :func:`count_bytes`.
    """
    every = 0
    total = np.ones(256, np.int64)
    for byte in range(256):
        for place in range(counts.shape[0]):
            total[byte] += counts[place, byte]
        every += total[byte]
    lengths[256:LITERALS] = LENGTH_GUESS
    lengths[LITERALS:] = DISTANCE_GUESS
    for byte in range(256):
        lengths[byte] = 1
        while total[byte] << lengths[byte] < every:
            lengths[byte] += 1


@kernel
def judge_places(
    page: NDArray[np.uint8],
    size: int,
    step: int,
    least: NDArray[np.int64],
    kinds: NDArray[np.int64],
) -> None:
    """Write what matches pay at each place s of a scanline in its row of cells (pitch height).

    ``least[s]`` is the fewest bytes a match must have there, ``kinds[s]`` how much ink is there.
    `size` and `step` as in :func:`count_bytes`.
    """
    places = kinds.size
    counts = np.empty((places, 256), np.int64)
    seen = count_bytes(page, size, step, counts)
    bits = np.empty(SYMBOLS, np.int64)
    rough_lengths(counts, bits)
    for place in range(places):
        cost = 0
        for byte in range(256):
            cost += counts[place, byte] * bits[byte]
        least[place] = min(max(SHORTEST, MATCH_BITS * seen // cost), LONGEST)
        inked = seen - counts[place, 0]
        kinds[place] = BLANK if inked == 0 else SPARSE if inked * MOST_INK < seen else DENSE


@kernel
def count_literals(
    page: NDArray[np.uint8], x: np.uint64, stop: np.uint64, counts: NDArray[np.int64]
) -> None:
    """Count the bytes ``page[x:stop]``, each of four in a row of its own of `counts` (4, SYMBOLS).

    Most bytes are like the one before: one counter would wait for itself.
    """
    while x + U(4) <= stop:
        counts[0, page[x]] += 1
        counts[1, page[x + U(1)]] += 1
        counts[2, page[x + U(2)]] += 1
        counts[3, page[x + U(3)]] += 1
        x += U(4)
    while x < stop:
        counts[0, page[x]] += 1
        x += U(1)


@kernel
def count_symbols(
    page: NDArray[np.uint8],
    size: int,
    repeats: NDArray[np.int32],
    matches: NDArray[np.int32],
    line_first: NDArray[np.int32],
    places: int,
    step: int,
    counts: NDArray[np.int64],
) -> None:
    """Write to ``counts[0]`` how often each symbol is written in every `step`-th row of cells.

    Every symbol counts once more, so that each has a code. `counts` is (4, SYMBOLS).
    """
    counts[:] = 0
    for row in range(0, (line_first.size - 1) // places, step):
        x = U(row * places * size)
        for k in range(line_first[row * places], line_first[(row + 1) * places]):
            count_literals(page, x, U(matches[k, 0]), counts)
            x = U(matches[k, 0] + matches[k, 1])
            counts[1, END_OF_BLOCK + 1 + LENGTH_SYMBOL[matches[k, 1]]] += 1
            repeat = matches[k, 2]
            far = 0 if repeat == RUN else distance_symbol(repeats[repeat, 2])
            counts[2, LITERALS + far] += 1
        count_literals(page, x, U((row + 1) * places * size), counts)
    for symbol in range(SYMBOLS):
        counts[0, symbol] += 1 + counts[1, symbol] + counts[2, symbol] + counts[3, symbol]


@kernel
def make_lengths(counts: NDArray[np.int64], lengths: NDArray[np.int64]) -> None:
    """Write the code lengths of symbols that occur `counts` times (SYMBOLS, all over 0)."""
    code_lengths(counts[:LITERALS], lengths[:LITERALS])
    code_lengths(counts[LITERALS:], lengths[LITERALS:])


@kernel
def make_entries(lengths: NDArray[np.int64], entries: NDArray[np.uint64]) -> None:
    """Write the entries of all symbols, by their code `lengths` (SYMBOLS)."""
    canonical_entries(lengths[:LITERALS], entries[:LITERALS])
    canonical_entries(lengths[LITERALS:], entries[LITERALS:])
