"""The cheapest way to write each scanline, given the repeats of its row of cells."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from snapcompact_kernels._jit import kernel
from snapcompact_kernels.cells import signed
from snapcompact_kernels.deflate_codes import (
    DISTANCE_EXTRA,
    END_OF_BLOCK,
    LENGTH_EXTRA,
    LENGTH_SYMBOL,
    LITERALS,
    distance_symbol,
)
from snapcompact_kernels.deflate_matches import LONGEST, RUN, SHORTEST, add_match, add_runs
from snapcompact_kernels.words import equal_ahead, equal_behind, load_little

if TYPE_CHECKING:
    from numpy.typing import NDArray

U = np.uint64
STRETCH = 4
"""Words by which a repeat is stretched to either side, 7 bytes each: one costs 0.6 % more bytes."""
OVERLAPS = 8
"""Steps before one that it may begin behind: more are hardly ever the cheapest, and take time."""
NEVER = 1 << 30
"""Bits of a match that is too short."""


@kernel
def length_bits(lengths: NDArray[np.int64], size: int) -> int:
    """Bits of a match's length, `size` bytes, by the codes' `lengths` (SYMBOLS)."""
    symbol = LENGTH_SYMBOL[size]
    return signed(lengths[END_OF_BLOCK + 1 + symbol] + LENGTH_EXTRA[symbol])


@kernel
def distance_bits(lengths: NDArray[np.int64], distance: int) -> int:
    """Bits of a match's `distance`, by the codes' `lengths` (SYMBOLS)."""
    symbol = distance_symbol(distance)
    return signed(lengths[LITERALS + symbol] + DISTANCE_EXTRA[symbol])


@kernel
def match_bits(size: int, far: int, sizes: NDArray[np.int64]) -> int:
    """Bits of a match of `size` bytes, in pieces of LONGEST, `far` being those of its distance."""
    pieces = (size - 1) // LONGEST
    return far + signed(sizes[U(size - pieces * LONGEST)] + pieces * (far + sizes[LONGEST]))


@kernel
def stretch(
    page: NDArray[np.uint8], line: int, size: int, begin: int, stop: int, distance: int
) -> tuple[int, int]:
    """A repeat's bytes in a scanline, ``begin:stop`` counted from `line`, as far as it bears them.

    `page` goes on for the bytes of STRETCH words, or more.
    """
    far = U(distance)
    low, high = U(line), U(line + size)
    end = low + U(stop)
    for _ in range(STRETCH):
        same = equal_ahead(load_little(page, end), load_little(page, end - far))
        end += same
        if same < U(7):
            break
    start = low + U(begin)
    for _ in range(STRETCH):
        early = max(start, far + U(8)) - U(8)  # nothing stands before the page
        same = equal_behind(load_little(page, early), load_little(page, early - far))
        start = max(low, min(start, early + U(8) - same))
        if same < U(7):
            break
    return signed(start - low), signed(min(end, high) - low)


@kernel
def add_step(
    steps: NDArray[np.int64],
    count: int,
    begin: int,
    stop: int,
    number: int,
    before: NDArray[np.int64],
    distances: NDArray[np.int64],
) -> int:
    """Add the match of bytes ``begin:stop`` by repeat `number` to `steps`; their new count.

    `steps` (begin, stop, number; any) ends ever further right, and begins so too; column 0 is none.
    A step goes if the new one saves more by its distance than it writes fewer bytes. No branch:
    the processor would guess wrong every other time, which takes as long as all of this.
    """
    last = U(count)
    lost = max(0, before[U(begin)] - before[U(steps[0, last])])
    lost += max(0, before[U(steps[1, last])] - before[U(stop)])
    saved = distances[U(1 + steps[2, last])] - distances[U(1 + number)]
    last -= U((count > 0) & (lost <= saved))
    start = max(begin, steps[0, last])
    kept = (stop - start >= SHORTEST) & (stop > steps[1, last])
    last += U(1)
    steps[0, last] = start
    steps[1, last] = stop
    steps[2, last] = number
    return signed(last) - 1 + (1 if kept else 0)


@kernel
def add_cheapest(
    steps: NDArray[np.int64],
    count: int,
    before: NDArray[np.int64],
    sizes: NDArray[np.int64],
    distances: NDArray[np.int64],
    line: int,
    matches: NDArray[np.int32],
    made: int,
) -> int:
    """Write those of a line's `steps` that make the cheapest way to `matches`; the new count.

    From left to right, the fewest bits up to the end of each step, taken as a whole or from where
    one before it ends. ``before[x]`` is the bits of all bytes before x as literals; `sizes` and
    `distances` those of matches. Rows 3 to 5 of `steps` are scratch: bits, the step before, first
    byte.
    """
    saved, at, behind = 0, 0, 1  # by the best way to where no step overlaps; its last step
    for i in range(1, count + 2):
        begin = steps[0, U(i)] if i <= count else before.size
        while behind < i and steps[1, U(behind)] <= begin:
            bits = steps[3, U(behind)] - before[U(steps[1, U(behind)])]
            if bits < saved:
                saved, at = bits, behind
            behind += 1
        if i > count:
            break
        stop = steps[1, U(i)]
        far = distances[U(1 + steps[2, U(i)])]
        best = saved + before[U(begin)] + match_bits(stop - begin, far, sizes)
        last, start = at, begin
        for j in range(i - 1, max(behind, i - OVERLAPS) - 1, -1):
            bits = steps[3, U(j)] + match_bits(stop - steps[1, U(j)], far, sizes)
            if bits < best:
                best, last, start = bits, j, steps[1, U(j)]
        steps[3, U(i)] = best
        steps[4, U(i)] = last
        steps[5, U(i)] = start
    first = 0
    while at:
        last = steps[4, U(at)]
        steps[4, U(at)] = first
        first, at = at, last
    while first:
        start, stop = U(line + steps[5, U(first)]), U(line + steps[1, U(first)])
        made = add_match(matches, made, start, stop, steps[2, U(first)])
        first = steps[4, U(first)]
    return made


@kernel
def choose_matches(
    page: NDArray[np.uint8],
    size: int,
    repeats: NDArray[np.int32],
    first: NDArray[np.int32],
    places: int,
    step: int,
    lengths: NDArray[np.int64],
    matches: NDArray[np.int32],
    line_first: NDArray[np.int32],
) -> None:
    """Write the matches that make the scanlines of every `step`-th row of cells the shortest.

    As ``deflate_matches.fit_matches``, which keeps every match of some length; `places` scanlines
    are a row of cells. What a match or a literal costs is told by the code `lengths` (SYMBOLS).
    """
    rows = first.size - 1
    sizes = np.full(LONGEST + 1, NEVER, np.int64)
    for length in range(SHORTEST, LONGEST + 1):
        sizes[length] = length_bits(lengths, length)
    distances = np.empty(1 + repeats.shape[0], np.int64)
    distances[0] = distance_bits(lengths, 1)  # of RUN
    before = np.zeros(size + 1, np.int64)
    runs = np.empty((size, 3), np.int32)
    steps = np.zeros((6, size + 2), np.int64)  # they end at so many bytes at most
    steps[2, 0] = RUN  # looked up where no step stands before
    count = 0
    for row in range(rows):
        low, high = signed(first[row]), signed(first[row + 1])
        if row % step == 0:
            for k in range(low, high):
                distances[1 + k] = distance_bits(lengths, signed(repeats[k, 2]))
        for line_number in range(row * places, (row + 1) * places):
            line_first[line_number] = count
            if row % step:
                continue
            line = line_number * size
            found = add_runs(page, U(line + 1), U(line + size), runs, 0)
            if found and runs[0, 0] <= line + 2 and runs[0, 0] + runs[0, 1] == line + size:
                matches[count] = runs[0]  # a blank line
                count += 1
                continue
            bits = 0
            for x in range(size):
                bits += lengths[page[U(line) + U(x)]]
                before[U(x) + U(1)] = bits
            made = 0
            run = 0
            for k in range(low, high + 1):
                begin, stop = size, size
                if k < high:
                    begin = 1 + signed(repeats[k, 0])
                    stop = begin + signed(repeats[k, 1])
                    begin, stop = stretch(page, line, size, begin, stop, signed(repeats[k, 2]))
                while run < found and runs[run, 0] - line <= begin:
                    x = signed(runs[run, 0]) - line
                    behind = x + signed(runs[run, 1])
                    made = add_step(steps, made, x, behind, RUN, before, distances)
                    run += 1
                if k == high:
                    break
                made = add_step(steps, made, begin, stop, k, before, distances)
            count = add_cheapest(steps, made, before, sizes, distances, line, matches, count)
    line_first[places * rows] = count
