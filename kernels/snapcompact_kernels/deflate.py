"""A page's zlib stream, straight from its cells and scanlines.

One block with codes of its own. Matches come from the cells (``deflate_matches``), literals from
the scanlines; places in the cell with hardly any ink are written as runs of paper instead. Plain
integers throughout: the same bytes on every machine.
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
"""Rows of cells that the codes are made from: 24 save 0.2 % of bytes, at 1.1 ns a cell more."""
SPARSE = 10
"""A place with ink in fewer than 1 of so many bytes is written as runs."""
LEAST_RUN = 10
"""Shorter runs of paper are literals, of a bit or two each."""


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
def judge_places(page: NDArray[np.uint8], size: int, step: int, sparse: NDArray[np.bool_]) -> None:
    """Write to ``sparse[s]`` whether scanlines s of rows of cells are written as runs.

    `size` is the bytes of a scanline; every `step`-th row of cells is looked at.
    """
    for place in range(sparse.size):
        inked = 0
        seen = 0
        for row in range(0, page.size // (sparse.size * size), step):
            start = U((row * sparse.size + place) * size)
            inked_here = 0
            for x in range(1, size):
                inked_here += page[start + U(x)] != 0
            inked += inked_here
            seen += size - 1
        sparse[place] = inked * SPARSE < seen


@kernel
def count_symbols(
    page: NDArray[np.uint8],
    size: int,
    tokens: NDArray[np.int32],
    first: NDArray[np.int32],
    sparse: NDArray[np.bool_],
    step: int,
    counts: NDArray[np.int64],
) -> None:
    """Write to `counts` (SYMBOLS) how often each symbol is written in every `step`-th row of cells.

    Every symbol counts once more, so that each has a code.
    """
    counts[:] = 1
    places = sparse.size
    dense = 0
    for place in range(places):
        dense += not sparse[place]
    for row in range(0, first.size - 1, step):
        for place in range(places):
            line = (row * places + place) * size
            if sparse[place]:
                count_runs(page, U(line), U(line + size), counts)
                continue
            x = line
            for token in range(first[row], first[row + 1]):
                for i in range(x, line + 1 + tokens[token, 0]):
                    counts[page[U(i)]] += 1
                x = line + 1 + tokens[token, 0] + tokens[token, 1]
            for i in range(x, line + size):
                counts[page[U(i)]] += 1
        for token in range(first[row], first[row + 1]):
            counts[END_OF_BLOCK + 1 + LENGTH_SYMBOL[tokens[token, 1]]] += dense
            counts[LITERALS + distance_symbol(tokens[token, 2])] += dense


@kernel
def put_header(
    lengths: NDArray[np.int64],
    out: NDArray[np.uint8],
    state: tuple[np.uint64, np.uint64, np.uint64],
) -> tuple[np.uint64, np.uint64, np.uint64]:
    """Write the zlib header and that of one last block with codes of `lengths` (SYMBOLS).

    The code lengths themselves are written in four bits each: their code gives the sixteen numbers
    0 to 15 four bits, and the three repeats none: 158 bytes, 0.2 % of a page.
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
    sparse: NDArray[np.bool_],
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
    matches = np.empty(size, np.uint64)
    places = sparse.size
    for row in range(first.size - 1):
        start = first[row]
        count = first[row + 1] - start
        for k in range(count):
            far = distance_entry(entries, signed(tokens[start + k, 2]))
            matches[k] = join(lengths[tokens[start + k, 1]], far)
        for place in range(places):
            line = (row * places + place) * size
            stop = U(line + size)
            if sparse[place]:
                state = put_runs(page, U(line), stop, entries, runs, out, state)
                continue
            x = U(line)
            for k in range(count):
                begin = line + 1 + tokens[start + k, 0]
                at, held, bits = put_literals(page, x, U(begin), entries, out, state)
                state = put(out, at, held, bits, matches[k])
                x = U(begin + tokens[start + k, 1])
            state = put_literals(page, x, stop, entries, out, state)
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
    sparse = np.empty(pitch_height, np.bool_)
    judge_places(page, size, step, sparse)
    counts = np.empty(SYMBOLS, np.int64)
    count_symbols(page, size, tokens, first, sparse, step, counts)
    code_sizes = np.empty(SYMBOLS, np.int64)
    entries = np.empty(SYMBOLS, np.uint64)
    for low, high in ((0, LITERALS), (LITERALS, SYMBOLS)):
        code_lengths(counts[low:high], code_sizes[low:high])
        canonical_entries(code_sizes[low:high], entries[low:high])
    state = put_header(code_sizes, out, (U(0), U(0), U(0)))
    state = put_rows(page, size, tokens, first, sparse, entries, out, state)
    at, held, bits = state
    at, held, bits = put(out, at, held, bits, entries[END_OF_BLOCK])
    stop = signed(at) + (1 if bits > U(0) else 0)
    for i in range(4):
        out[stop + i] = adler >> (24 - 8 * i) & 255
    return stop + 4
