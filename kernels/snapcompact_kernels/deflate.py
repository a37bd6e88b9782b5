"""A page's zlib stream, straight from its cells and scanlines.

One block with codes of its own, made from a sample of its rows. Repeats are found once a row of
cells (``deflate_repeats``), fitted to each of its scanlines (``deflate_matches``), written here.
Plain integers throughout: the same bytes on every machine.
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
from snapcompact_kernels.deflate_matches import (
    BLANK,
    DENSE,
    LONGEST,
    RUN,
    SHORTEST,
    SPARSE,
    fit_matches,
)
from snapcompact_kernels.words import store_little

if TYPE_CHECKING:
    from numpy.typing import NDArray

U = np.uint64
SAMPLE_ROWS = 12
"""Rows of cells that the codes are made from: 16 save 0.2 % of bytes, at 0.4 ns a cell more."""
MOST_INK = 10
"""A place with ink in fewer than 1 of so many bytes is looked through for runs."""
MATCH_BITS = 32
"""What literals must cost for a match to take their place: its own 18 or so, and what it hinders.

Fewer make more matches than pay: 20 costs 1 % more bytes.
"""


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
def judge_places(
    page: NDArray[np.uint8],
    size: int,
    step: int,
    least: NDArray[np.int64],
    kinds: NDArray[np.int64],
) -> None:
    """Write what matches pay at each place s of a scanline in its row of cells (pitch height).

    ``least[s]`` is the fewest bytes a match must have there, ``kinds[s]`` how much ink is there.
    `size` is the bytes of a scanline; every `step`-th row of cells is looked at.
    """
    places = kinds.size
    counts = np.zeros((places, 256), np.int64)
    rows_seen = 0
    for row in range(0, page.size // (places * size), step):
        rows_seen += 1
        for place in range(places):
            start = U((row * places + place) * size)
            for x in range(1, size):
                counts[U(place), page[start + U(x)]] += 1
    total = np.ones(256, np.int64)
    for place in range(places):
        total += counts[place]
    bits = np.ones(256, np.int64)  # of a byte's code, about: the logarithm of how rare it is
    for byte in range(256):
        while total[byte] << bits[byte] < rows_seen * places * size:
            bits[byte] += 1
    for place in range(places):
        cost = 0
        for byte in range(256):
            cost += counts[place, byte] * bits[byte]
        seen = rows_seen * (size - 1)
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
def deflate_page(
    page: NDArray[np.uint8],
    size: int,
    repeats: NDArray[np.int32],
    first: NDArray[np.int32],
    pitch_height: int,
    adler: int,
    matches: NDArray[np.int32],
    out: NDArray[np.uint8],
) -> int:
    """Write the zlib stream of the flat scanlines `page`, `size` bytes each; return its length.

    `repeats` and `first` are those of ``deflate_repeats.find_repeats``. `adler` is the checksum of
    the scanlines, behind which `page` goes on for 8 bytes or more. `matches` (a third of the page,
    3) is scratch; `out` holds twice the page and 1024 bytes.
    """
    rows = first.size - 1
    step = max(1, rows // SAMPLE_ROWS)
    least = np.empty(pitch_height, np.int64)
    kinds = np.empty(pitch_height, np.int64)
    lines = page[: rows * pitch_height * size]
    judge_places(lines, size, 6 * step, least, kinds)
    line_first = np.empty(rows * pitch_height + 1, np.int32)
    repeats = repeats[: first[rows]]
    fit_matches(page, size, repeats, first, least, kinds, matches, line_first)
    counted = np.empty((4, SYMBOLS), np.int64)
    count_symbols(page, size, repeats, matches, line_first, pitch_height, step, counted)
    counts = counted[0]
    code_sizes = np.empty(SYMBOLS, np.int64)
    entries = np.empty(SYMBOLS, np.uint64)
    for low, high in ((0, LITERALS), (LITERALS, SYMBOLS)):
        code_lengths(counts[low:high], code_sizes[low:high])
        canonical_entries(code_sizes[low:high], entries[low:high])
    state = put_header(code_sizes, out, (U(0), U(0), U(0)))
    state = put_lines(page, size, repeats, matches, line_first, entries, out, state)
    at, held, bits = state
    at, held, bits = put(out, at, held, bits, entries[END_OF_BLOCK])
    stop = signed(at) + (1 if bits > U(0) else 0)
    for i in range(4):
        out[stop + i] = adler >> (24 - 8 * i) & 255
    return stop + 4
