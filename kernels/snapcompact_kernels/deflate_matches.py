"""Matches in a page's scanlines: repeats of cells, as far as each scanline bears them, and runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from snapcompact_kernels._jit import kernel
from snapcompact_kernels.words import equal_ahead, equal_behind, load_little

if TYPE_CHECKING:
    from numpy.typing import NDArray

U = np.uint64
LONGEST = 258
SHORTEST = 3
"""Bytes of a match, RFC 1951."""
LEAST_RUN = 15
"""Shorter runs of paper are literals, of a bit or so each."""
RUN = -1
"""In place of a repeat's number: what repeats is the byte before."""
DENSE, SPARSE, BLANK = 0, 1, 2
"""Kinds of places in a row of cells, by their ink."""


@kernel
def add_match(
    matches: NDArray[np.int32], count: int, begin: np.uint64, stop: np.uint64, repeat: int
) -> int:
    """Write ``begin:stop``, in pieces of LONGEST, to `matches` from `count` on; the new count.

    One or two bytes left over stay literals.
    """
    while begin + U(SHORTEST) <= stop:
        size = min(stop - begin, U(LONGEST))
        matches[count, 0] = begin
        matches[count, 1] = size
        matches[count, 2] = repeat
        begin += size
        count += 1
    return count


@kernel
def add_runs(
    page: NDArray[np.uint8],
    x: np.uint64,
    stop: np.uint64,
    matches: NDArray[np.int32],
    count: int,
) -> int:
    """Write the runs of zeros in ``page[x:stop]`` to `matches` from `count` on; the new count.

    Eight bytes are looked at a time: a run of LEAST_RUN fills some eight of them.
    """
    floor = x
    while x + U(8) <= stop:
        if load_little(page, x):
            x += U(8)
            continue
        early = max(x, U(8)) - U(8)
        begin = max(floor, min(x, early + U(8) - equal_behind(load_little(page, early), U(0))))
        x += U(8)
        while x + U(8) <= stop and load_little(page, x) == U(0):
            x += U(8)
        x = min(x + equal_ahead(load_little(page, x), U(0)), stop)
        if x - begin >= U(LEAST_RUN):
            count = add_match(matches, count, begin + U(1), x, RUN)
        floor = x
    return count


@kernel
def fit_matches(
    page: NDArray[np.uint8],
    size: int,
    repeats: NDArray[np.int32],
    first: NDArray[np.int32],
    least: NDArray[np.int64],
    kinds: NDArray[np.int64],
    matches: NDArray[np.int32],
    line_first: NDArray[np.int32],
) -> None:
    """Write the matches in the flat scanlines `page`, `size` bytes each, 8 bytes or more behind.

    A match is first byte on the page, bytes, and number of its repeat, or RUN; ``line_first``
    (scanlines + 1) says where each scanline's begin. Each of the row's `repeats` (``find_repeats``)
    is stretched by up to 7 bytes to both sides, as far as they repeat, and taken if it then has
    ``least[s]`` bytes, s being the scanline's place in its row of cells. Runs of paper are matches
    too unless ``kinds[s]`` is DENSE, and nothing else is where it is BLANK.
    """
    places = least.size
    count = 0
    line = U(0)
    for row in range(first.size - 1):
        for place in range(places):
            line_first[row * places + place] = count
            enough = U(least[place])
            x = line
            stop = line + U(size)
            for k in range(first[row], first[row + 1] if kinds[place] != BLANK else 0):
                far = U(repeats[k, 2])
                begin = line + U(1 + repeats[k, 0])
                end = begin + U(repeats[k, 1])
                end += equal_ahead(load_little(page, end), load_little(page, end - far))
                end = min(end, stop)
                early = max(begin, far + U(8)) - U(8)  # nothing stands before the page
                same = equal_behind(load_little(page, early), load_little(page, early - far))
                begin = max(x, min(begin, early + U(8) - same))
                if kinds[place] == DENSE and end <= begin + U(LONGEST):
                    # Written always, kept if long enough: no branch that the processor must guess.
                    matches[count, 0] = begin
                    matches[count, 1] = end - begin
                    matches[count, 2] = k
                    kept = begin + enough <= end
                    count += 1 if kept else 0
                    x = end if kept else x
                elif begin + enough <= end:
                    count = add_runs(page, x, begin, matches, count)
                    count = add_match(matches, count, begin, end, k)
                    x = end
            if kinds[place] != DENSE:
                count = add_runs(page, x, stop, matches, count)
            line = stop
    line_first[places * (first.size - 1)] = count
