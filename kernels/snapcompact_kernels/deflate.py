"""A page's zlib stream, straight from its cells and scanlines.

One block with codes of its own. Matches come from the cells (``deflate_matches``), literals from
the scanlines. What a scanline of glyphs is worth differs with its place in the cell, so each place
takes only matches from a length on that its literals would exceed, and places with hardly any ink
are written as runs of paper. Plain integers throughout: the same bytes on every machine.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from snapcompact_kernels._jit import kernel
from snapcompact_kernels.cells import signed
from snapcompact_kernels.deflate_codes import (
    DISTANCES,
    END_OF_BLOCK,
    LENGTH_SYMBOL,
    LITERALS,
    SYMBOLS,
    canonical_entries,
    code_lengths,
    distance_entry,
    distance_symbol,
    join,
    length_entry,
)
from snapcompact_kernels.deflate_matches import LONGEST
from snapcompact_kernels.words import load_little, store_little

if TYPE_CHECKING:
    from numpy.typing import NDArray

U = np.uint64
SAMPLE_ROWS = 12
"""Rows of cells that the codes are made from: all of them save 0.4 % of bytes at 9 ns a cell."""
MATCH_BITS = 24
"""What a match costs, about."""
SPARSE = 16
"""A place with ink in fewer than 1 of so many bytes is written as runs."""
LEAST_RUN = 10
"""Shorter runs of paper are literals, of a bit or two each."""
NEVER = 1 << 20


@kernel
def put(
    out: NDArray[np.uint8], at: np.uint64, held: np.uint64, bits: np.uint64, entry: np.uint64
) -> tuple[np.uint64, np.uint64, np.uint64]:
    """Write `entry` behind the lowest `bits` bits of `held`, which belong at byte `at`.

    Returns `at`, `held` and `bits` anew, fewer than 8; the entry is at most 57 bits long.
    """
    held |= (entry >> U(6)) << bits
    store_little(out, at, held)
    bits += entry & U(63)
    return at + (bits >> U(3)), held >> (bits & U(56)), bits & U(7)


@kernel
def put_literals(
    page: NDArray[np.uint8],
    x: np.uint64,
    stop: np.uint64,
    entries: NDArray[np.uint64],
    out: NDArray[np.uint8],
    state: tuple[np.uint64, np.uint64, np.uint64],
) -> tuple[np.uint64, np.uint64, np.uint64]:
    """Write ``page[x:stop]``, four bytes at a time."""
    at, held, bits = state
    while x + U(4) <= stop:
        a = entries[page[x]]
        b = entries[page[x + U(1)]]
        c = entries[page[x + U(2)]]
        d = entries[page[x + U(3)]]
        ab = a + b
        abc = ab + c
        code = a >> U(6) | (b >> U(6)) << (a & U(63))
        code |= (c >> U(6)) << (ab & U(63)) | (d >> U(6)) << (abc & U(63))
        at, held, bits = put(out, at, held, bits, code << U(6) | (abc + d & U(63)))
        x += U(4)
    while x < stop:
        at, held, bits = put(out, at, held, bits, entries[page[x]])
        x += U(1)
    return at, held, bits


@kernel
def run_end(page: NDArray[np.uint8], x: np.uint64, stop: np.uint64) -> np.uint64:
    """Where the run of zeros that starts at `x` ends, `stop` at the latest."""
    while x + U(8) <= stop and load_little(page, x) == U(0):
        x += U(8)
    while x < stop and page[x] == 0:
        x += U(1)
    return x


@kernel
def put_runs(
    page: NDArray[np.uint8],
    x: np.uint64,
    stop: np.uint64,
    entries: NDArray[np.uint64],
    runs: NDArray[np.uint64],
    out: NDArray[np.uint8],
    state: tuple[np.uint64, np.uint64, np.uint64],
) -> tuple[np.uint64, np.uint64, np.uint64]:
    """Write ``page[x:stop]``, long runs of zeros as one zero and matches at distance 1.

    ``runs[n]`` is the entry of such a match of n bytes.
    """
    at, held, bits = state
    while x < stop:
        end = run_end(page, x, stop)
        if end - x >= U(LEAST_RUN):
            at, held, bits = put(out, at, held, bits, entries[0])
            x += U(1)
            while end - x >= U(3):
                size = min(end - x, U(LONGEST))
                at, held, bits = put(out, at, held, bits, runs[size])
                x += size
        while x < end:
            at, held, bits = put(out, at, held, bits, entries[0])
            x += U(1)
        if x < stop:
            at, held, bits = put(out, at, held, bits, entries[page[x]])
            x += U(1)
    return at, held, bits


@kernel
def count_runs(
    page: NDArray[np.uint8], x: np.uint64, stop: np.uint64, counts: NDArray[np.int64]
) -> None:
    """Add to `counts` the symbols that :func:`put_runs` writes."""
    while x < stop:
        end = run_end(page, x, stop)
        if end - x >= U(LEAST_RUN):
            counts[0] += 1
            x += U(1)
            while end - x >= U(3):
                size = min(end - x, U(LONGEST))
                counts[END_OF_BLOCK + 1 + LENGTH_SYMBOL[size]] += 1
                counts[LITERALS] += 1
                x += size
        counts[0] += np.int64(end - x)
        x = end
        if x < stop:
            counts[page[x]] += 1
            x += U(1)


@kernel
def judge_places(page: NDArray[np.uint8], size: int, step: int, least: NDArray[np.int64]) -> None:
    """Write to ``least[s]`` the shortest match worth its bits in scanlines s of rows of cells.

    `size` is the bytes of a scanline; every `step`-th row of cells is looked at. A byte without ink
    costs about 1.1 bits, one with ink 4.6 more. Places to be written as runs get NEVER.
    """
    for place in range(least.size):
        inked = 0
        seen = 0
        for row in range(0, page.size // (least.size * size), step):
            start = U((row * least.size + place) * size)
            inked_here = 0
            for x in range(1, size):
                inked_here += page[start + U(x)] != 0
            inked += inked_here
            seen += size - 1
        if inked * SPARSE < seen:
            least[place] = NEVER
        else:
            least[place] = 10 * MATCH_BITS * seen // (11 * seen + 46 * inked) + 1


@kernel
def pick_matches(
    tokens: NDArray[np.int32],
    first: int,
    stop: int,
    least: int,
    size: int,
    spans: NDArray[np.uint64],
) -> int:
    """Write to `spans` the tokens from `first` to `stop` of at least `least` bytes; how many.

    A span is where a match begins in its scanline, where it ends, and its token; behind the last
    stands one that begins at `size`, the scanline's end.
    """
    picked = 0
    for i in range(first, stop):
        if tokens[i, 1] >= least:
            spans[picked, 0] = U(1 + tokens[i, 0])
            spans[picked, 1] = U(1 + tokens[i, 0] + tokens[i, 1])
            spans[picked, 2] = U(i)
            picked += 1
    spans[picked, 0] = U(size)
    return picked


@kernel
def count_symbols(
    page: NDArray[np.uint8],
    size: int,
    tokens: NDArray[np.int32],
    first: NDArray[np.int32],
    least: NDArray[np.int64],
    step: int,
    counts: NDArray[np.int64],
) -> None:
    """Write to `counts` (SYMBOLS) how often each symbol is written in every `step`-th row of cells.

    Every symbol counts once more, so that each has a code.
    """
    counts[:] = 1
    spans = np.empty((size + 1, 3), np.uint64)
    for row in range(0, first.size - 1, step):
        for place in range(least.size):
            line = U((row * least.size + place) * size)
            picked = pick_matches(tokens, first[row], first[row + 1], least[place], size, spans)
            x = U(0)
            for k in range(picked + 1):
                stop = spans[k, 0]
                if least[place] == NEVER:
                    count_runs(page, line + x, line + stop, counts)
                else:
                    for i in range(x, stop):
                        counts[page[line + i]] += 1
                if k < picked:
                    token = spans[k, 2]
                    counts[END_OF_BLOCK + 1 + LENGTH_SYMBOL[tokens[token, 1]]] += 1
                    counts[LITERALS + distance_symbol(tokens[token, 2])] += 1
                    x = spans[k, 1]


@kernel
def put_header(
    lengths: NDArray[np.int64],
    out: NDArray[np.uint8],
    state: tuple[np.uint64, np.uint64, np.uint64],
) -> tuple[np.uint64, np.uint64, np.uint64]:
    """Write the zlib header and that of one last block with codes of `lengths` (SYMBOLS).

    The code lengths themselves are written in four bits each: their code gives the sixteen numbers
    0 to 15 four bits, and the three repeats none (158 bytes; repeats would save 50).
    """
    at, held, bits = state
    at, held, bits = put(out, at, held, bits, U(0x0178 << 6 | 16))
    at, held, bits = put(out, at, held, bits, U(5 << 6 | 3))
    at, held, bits = put(out, at, held, bits, U((LITERALS - 257) << 6 | 5))
    at, held, bits = put(out, at, held, bits, U((DISTANCES - 1) << 6 | 5))
    at, held, bits = put(out, at, held, bits, U(15 << 6 | 4))
    for i in range(19):
        at, held, bits = put(out, at, held, bits, U((0 if i < 3 else 4) << 6 | 3))
    for length in lengths:
        turned = (length & 1) << 3 | (length & 2) << 1 | (length & 4) >> 1 | (length & 8) >> 3
        at, held, bits = put(out, at, held, bits, U(turned << 6 | 4))
    return at, held, bits


@kernel
def put_rows(
    page: NDArray[np.uint8],
    size: int,
    tokens: NDArray[np.int32],
    first: NDArray[np.int32],
    least: NDArray[np.int64],
    entries: NDArray[np.uint64],
    out: NDArray[np.uint8],
    state: tuple[np.uint64, np.uint64, np.uint64],
) -> tuple[np.uint64, np.uint64, np.uint64]:
    """Write all scanlines of `page`, `size` bytes each."""
    lengths = np.zeros(LONGEST + 1, np.uint64)
    runs = np.zeros(LONGEST + 1, np.uint64)
    for length in range(3, LONGEST + 1):
        lengths[length] = length_entry(entries, length)
        runs[length] = join(lengths[length], entries[LITERALS])
    spans = np.empty((size + 1, 3), np.uint64)
    for row in range(first.size - 1):
        before = -1
        picked = 0
        for place in range(least.size):
            line = U((row * least.size + place) * size)
            if least[place] != before:
                before = least[place]
                picked = pick_matches(tokens, first[row], first[row + 1], before, size, spans)
                for k in range(picked):
                    token = spans[k, 2]
                    far = distance_entry(entries, signed(tokens[token, 2]))
                    spans[k, 2] = join(lengths[tokens[token, 1]], far)
            x = U(0)
            for k in range(picked + 1):
                stop = line + spans[k, 0]
                if before == NEVER:
                    state = put_runs(page, line + x, stop, entries, runs, out, state)
                else:
                    state = put_literals(page, line + x, stop, entries, out, state)
                if k < picked:
                    at, held, bits = state
                    state = put(out, at, held, bits, spans[k, 2])
                    x = spans[k, 1]
    return state


@kernel
def deflate_page(
    page: NDArray[np.uint8],
    size: int,
    tokens: NDArray[np.int32],
    first: NDArray[np.int32],
    pitch_height: int,
    adler: int,
    out: NDArray[np.uint8],
) -> int:
    """Write the zlib stream of the flat scanlines `page`, `size` bytes each; return its length.

    `tokens` and `first` are those of ``deflate_matches.find_matches``, which hold for filtered rows
    too, if scanlines at the same place of a row of cells have the same filter, and the uppermost
    has none. `adler` is the checksum of `page`. `out` holds twice the page and 1024 bytes.
    """
    step = max(1, (first.size - 1) // SAMPLE_ROWS)
    least = np.empty(pitch_height, np.int64)
    judge_places(page, size, step, least)
    counts = np.empty(SYMBOLS, np.int64)
    count_symbols(page, size, tokens, first, least, step, counts)
    code_sizes = np.empty(SYMBOLS, np.int64)
    entries = np.empty(SYMBOLS, np.uint64)
    for low, high in ((0, LITERALS), (LITERALS, SYMBOLS)):
        code_lengths(counts[low:high], code_sizes[low:high])
        canonical_entries(code_sizes[low:high], entries[low:high])
    state = put_header(code_sizes, out, (U(0), U(0), U(0)))
    state = put_rows(page, size, tokens, first, least, entries, out, state)
    at, held, bits = state
    at, held, bits = put(out, at, held, bits, entries[END_OF_BLOCK])
    stop = signed(at) + (1 if bits > U(0) else 0)
    for i in range(4):
        out[stop + i] = adler >> (24 - 8 * i) & 255
    return stop + 4
