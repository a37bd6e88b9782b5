"""A page's zlib stream, straight from its cells and scanlines.

One block with codes of its own, made from a sample of its rows. Repeats are found once a row of
cells (``deflate_repeats``), fitted to each of its scanlines (``deflate_matches``), written here.
Plain integers throughout: the same bytes on every machine.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from snapcompact_kernels._jit import inlined, kernel
from snapcompact_kernels.cells import signed
from snapcompact_kernels.deflate_codes import (
    DISTANCES,
    END_OF_BLOCK,
    LITERALS,
    SYMBOLS,
    distance_entry,
    join,
    length_entry,
)
from snapcompact_kernels.deflate_counts import (
    count_bytes,
    count_symbols,
    judge_places,
    make_entries,
    make_lengths,
    rough_lengths,
)
from snapcompact_kernels.deflate_matches import LONGEST, SHORTEST, fit_matches
from snapcompact_kernels.deflate_parse import choose_matches
from snapcompact_kernels.words import store_little

if TYPE_CHECKING:
    from numpy.typing import NDArray

U = np.uint64
SAMPLE_ROWS = 16
"""Rows of cells that the codes are made from: 12 take 2 % less time and 0.2 % more bytes."""


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


@inlined
def put_literals(
    page: NDArray[np.uint8],
    x: np.uint64,
    stop: np.uint64,
    entries: NDArray[np.uint64],
    out: NDArray[np.uint8],
    state: tuple[np.uint64, np.uint64, np.uint64],
) -> tuple[np.uint64, np.uint64, np.uint64]:
    """Write ``page[x:stop]``, four bytes at a time; up to three more are looked at, not written."""
    at, held, bits = state
    while x < stop:
        a = entries[page[x]]
        b = entries[page[x + U(1)]]
        c = entries[page[x + U(2)]]
        d = entries[page[x + U(3)]]
        left = stop - x
        b = b if left > U(1) else U(0)
        c = c if left > U(2) else U(0)
        d = d if left > U(3) else U(0)
        ab = a + b
        abc = ab + c
        code = a >> U(6) | (b >> U(6)) << (a & U(63))
        code |= (c >> U(6)) << (ab & U(63)) | (d >> U(6)) << (abc & U(63))
        at, held, bits = put(out, at, held, bits, code << U(6) | (abc + d & U(63)))
        x += U(4)
    return at, held, bits


@kernel
def put_header(
    lengths: NDArray[np.int64],
    out: NDArray[np.uint8],
    state: tuple[np.uint64, np.uint64, np.uint64],
) -> tuple[np.uint64, np.uint64, np.uint64]:
    """Write the zlib header and that of one last block with codes of `lengths` (SYMBOLS).

    The code lengths themselves are written in four bits each: their code gives four bits to the
    numbers 0 to 14 and to 16, which repeats the last one three to six times, and none to others.
    """
    at, held, bits = state
    at, held, bits = put(out, at, held, bits, U(0x0178 << 6 | 16))
    at, held, bits = put(out, at, held, bits, U(5 << 6 | 3))
    at, held, bits = put(out, at, held, bits, U((LITERALS - 257) << 6 | 5))
    at, held, bits = put(out, at, held, bits, U((DISTANCES - 1) << 6 | 5))
    at, held, bits = put(out, at, held, bits, U(15 << 6 | 4))
    for i in range(19):  # 16, 17, 18, 0, 8, 7, … 14, 1, 15: RFC 1951, section 3.2.7
        at, held, bits = put(out, at, held, bits, U((0 if i in (1, 2, 18) else 4) << 6 | 3))
    i = 0
    while i < lengths.size:
        length = lengths[i]
        turned = (length & 1) << 3 | (length & 2) << 1 | (length & 4) >> 1 | (length & 8) >> 3
        at, held, bits = put(out, at, held, bits, U(turned << 6 | 4))
        i += 1
        same = 0
        while i + same < lengths.size and lengths[i + same] == length:
            same += 1
        while same >= 3:
            size = min(same, 6)
            at, held, bits = put(out, at, held, bits, U((15 | (size - 3) << 4) << 6 | 6))
            i += size
            same -= size
    return at, held, bits


@kernel
def put_lines(
    page: NDArray[np.uint8],
    size: int,
    repeats: NDArray[np.int32],
    matches: NDArray[np.int32],
    line_first: NDArray[np.int32],
    entries: NDArray[np.uint64],
    out: NDArray[np.uint8],
    state: tuple[np.uint64, np.uint64, np.uint64],
) -> tuple[np.uint64, np.uint64, np.uint64]:
    """Write the scanlines of `page`, `size` bytes each."""
    lengths = np.zeros(LONGEST + 1, np.uint64)
    for length in range(SHORTEST, LONGEST + 1):
        lengths[length] = length_entry(entries, length)
    fars = np.empty(1 + repeats.shape[0], np.uint64)
    fars[0] = entries[LITERALS]  # of a run
    for repeat in range(repeats.shape[0]):
        fars[1 + repeat] = distance_entry(entries, signed(repeats[repeat, 2]))
    x = U(0)
    for k in range(line_first[line_first.size - 1]):
        at, held, bits = put_literals(page, x, U(matches[k, 0]), entries, out, state)
        match = join(lengths[U(matches[k, 1])], fars[U(1 + matches[k, 2])])
        state = put(out, at, held, bits, match)
        x = U(matches[k, 0] + matches[k, 1])
    return put_literals(page, x, U(size * (line_first.size - 1)), entries, out, state)


@kernel
def put_stream(
    page: NDArray[np.uint8],
    size: int,
    repeats: NDArray[np.int32],
    matches: NDArray[np.int32],
    line_first: NDArray[np.int32],
    counts: NDArray[np.int64],
    out: NDArray[np.uint8],
) -> int:
    """Write the zlib stream of `page` with codes for symbols that occur `counts` times.

    Returns its length, of which the last 4 bytes are left for the checksum.
    """
    code_sizes = np.empty(SYMBOLS, np.int64)
    entries = np.empty(SYMBOLS, np.uint64)
    make_lengths(counts, code_sizes)
    make_entries(code_sizes, entries)
    state = put_header(code_sizes, out, (U(0), U(0), U(0)))
    state = put_lines(page, size, repeats, matches, line_first, entries, out, state)
    at, held, bits = state
    at, held, bits = put(out, at, held, bits, entries[END_OF_BLOCK])
    return signed(at) + (1 if bits > U(0) else 0) + 4


@kernel
def deflate_page(
    page: NDArray[np.uint8],
    size: int,
    repeats: NDArray[np.int32],
    first: NDArray[np.int32],
    places: int,
    matches: NDArray[np.int32],
    out: NDArray[np.uint8],
) -> int:
    """Write the zlib stream of the flat scanlines `page`, `size` bytes each; return its length.

    The last 4 bytes are left for the checksum, which others make faster. `places` scanlines are a
    row of cells. `repeats` and `first` are those of ``deflate_repeats.find_repeats``. Behind its
    scanlines `page` goes on for 8 bytes or more. `matches` (a third of the page, 3) is scratch;
    `out` holds twice the page and 1024 bytes.
    """
    rows = first.size - 1
    step = max(1, rows // SAMPLE_ROWS)
    least = np.empty(places, np.int64)
    kinds = np.empty(places, np.int64)
    judge_places(page[: rows * places * size], size, 6 * step, least, kinds)
    line_first = np.empty(rows * places + 1, np.int32)
    repeats = repeats[: first[rows]]
    fit_matches(page, size, repeats, first, least, kinds, matches, line_first)
    counts = np.empty((4, SYMBOLS), np.int64)
    stop = 0
    for every in (step, 1):
        count_symbols(page, size, repeats, matches, line_first, places, every, counts)
        stop = put_stream(page, size, repeats, matches, line_first, counts[0], out)
        if stop <= rows * places * size:  # else the sample is nothing like the page
            break
    return stop


@kernel
def deflate_thoroughly(
    page: NDArray[np.uint8],
    size: int,
    repeats: NDArray[np.int32],
    first: NDArray[np.int32],
    places: int,
    matches: NDArray[np.int32],
    out: NDArray[np.uint8],
) -> int:
    """As :func:`deflate_page`, a tenth shorter, from the repeats of ``deflate_search``.

    Codes roughly guessed choose the matches of some rows, whose codes choose those of all. Behind
    its scanlines `page` goes on for the bytes of ``deflate_parse.STRETCH`` words.
    """
    rows = first.size - 1
    step = max(1, rows // SAMPLE_ROWS)
    bytes_seen = np.empty((places, 256), np.int64)
    count_bytes(page[: rows * places * size], size, 6 * step, bytes_seen)
    lengths = np.empty(SYMBOLS, np.int64)
    rough_lengths(bytes_seen, lengths)
    line_first = np.empty(rows * places + 1, np.int32)
    repeats = repeats[: first[rows]]
    counts = np.empty((4, SYMBOLS), np.int64)
    for every in (step, 1):
        choose_matches(page, size, repeats, first, places, every, lengths, matches, line_first)
        count_symbols(page, size, repeats, matches, line_first, places, every, counts)
        make_lengths(counts[0], lengths)
    return put_stream(page, size, repeats, matches, line_first, counts[0], out)
