"""Token counts at memory speed, within a stated error.

A count is learned, not tokenized: see machine.py for how and bench/tokens.py for how well. Text is
bytes; any bytes are counted, and what looks like a special token is plain text. ``fast`` counts by
bytes alone, without the table of words: about twice as fast, about twice the error.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from snapcompact.tokens.machine import machine
from snapcompact.tokens.table import Errors, load_table

Data: TypeAlias = bytes | bytearray | memoryview | NDArray[np.uint8]

DEFAULT_FAMILY = "o200k"
UNIT = 256
"""Parts of a token that costs are counted in."""
_LINE_END = 10
"""What is taken to follow the last byte of a text."""
BATCH_BYTES = 1 << 18
"""Small parts are counted together: a call of a kernel costs as much as 2 KB of text."""
_NO_CUTS = np.zeros(0, np.int64)


def estimate_tokens(data: Data, family: str = DEFAULT_FAMILY, *, fast: bool = False) -> int:
    """Tokens in `data`, rounded. Raises UnknownNameError for a family without a table."""
    flat = _bytes_of(data)
    whole = np.array([len(flat)])
    return round(float(prefix_tokens(flat, whole, family, fast=fast)[0]))


def estimate_stream(
    chunks: Iterable[Data], family: str = DEFAULT_FAMILY, *, fast: bool = False
) -> int:
    """Tokens in the text that `chunks` join to, however it is cut; memory stays flat."""
    counter = TokenCounter(family, fast=fast)
    for chunk in chunks:
        counter.feed(chunk)
    return round(counter.total)


def prefix_tokens(
    data: Data, cuts: ArrayLike, family: str = DEFAULT_FAMILY, *, fast: bool = False
) -> NDArray[np.float64]:
    """Tokens in ``data[:cut]`` for each of `cuts` (ascending offsets), counted in one pass.

    A cut inside a word gets the word's share. The count at ``len(data)`` is the whole's.
    Raises ValueError for cuts that do not ascend or lie outside of the data.
    """
    flat = _bytes_of(data)
    offsets = _offsets(cuts, len(flat))
    counts = np.zeros(len(offsets), np.int64)
    counter = TokenCounter(family, fast=fast)
    counter._run(flat, _LINE_END, offsets, counts, last=True)
    return counts / UNIT


def tokens_of_parts(
    data: Data, cuts: ArrayLike, family: str = DEFAULT_FAMILY, *, fast: bool = False
) -> NDArray[np.float64]:
    """Tokens of each ``data[cuts[k]:cuts[k + 1]]``, counted as a text of its own.

    For messages that lie one after another in a buffer: a count per message, `cuts` being their
    offsets (ascending) and the end of the last. Raises ValueError as :func:`prefix_tokens` does.
    """
    from snapcompact_kernels import features

    flat = _bytes_of(data)
    offsets = _offsets(cuts, len(flat))
    counts = np.zeros(max(len(offsets) - 1, 0), np.int64)
    table = load_table(family)
    costs = table.costs if fast else table.rare_costs
    features.count_parts(flat, offsets, *machine(table.style), costs, table.words, fast, counts)
    return counts / UNIT


def stated_errors(family: str = DEFAULT_FAMILY, *, fast: bool = False) -> Errors:
    """Errors of the family's table on text it was not fitted on."""
    table = load_table(family)
    return table.errors_fast if fast else table.errors


class TokenCounter:
    """Counts a text given in parts; the count does not depend on where it is cut."""

    def __init__(self, family: str = DEFAULT_FAMILY, *, fast: bool = False) -> None:
        from snapcompact_kernels import features

        self._table = load_table(family)
        self._fast = fast
        self._carry = features.new_carry()
        self._scratch = features.new_scratch()
        self._offset = 0
        self._waiting = bytearray()

    def feed(self, data: Data) -> None:
        """Count `data` after what was fed before."""
        flat = _bytes_of(data).data
        for start in range(0, len(flat), BATCH_BYTES):
            self._waiting += flat[start : start + BATCH_BYTES]
            if len(self._waiting) >= BATCH_BYTES:
                # The last byte waits on: what it costs depends on the one after it.
                batch = np.frombuffer(bytes(self._waiting), np.uint8)
                self._run(batch[:-1], int(batch[-1]), _NO_CUTS, _NO_CUTS)
                del self._waiting[:-1]

    @property
    def total(self) -> float:
        """Tokens of all that was fed, if the text ended here."""
        saved = self._carry.copy(), self._offset
        rest = np.frombuffer(bytes(self._waiting), np.uint8)
        self._run(rest, _LINE_END, _NO_CUTS, _NO_CUTS, last=True)
        total = int(self._carry[5])
        self._carry, self._offset = saved
        return total / UNIT

    def _run(
        self,
        flat: NDArray[np.uint8],
        after: int,
        cuts: NDArray[np.int64],
        counts: NDArray[np.int64],
        *,
        last: bool = False,
    ) -> None:
        """Count `flat`, which the byte `after` follows; if it is the last, close the text."""
        from snapcompact_kernels import features

        table = self._table
        end = self._offset + len(flat)
        text = (flat, 0, len(flat), after, self._offset, *machine(table.style))
        if self._fast:
            cut = features.count_by_bytes(*text, table.costs, self._carry, cuts, 0, counts)
            counts[cut:] = self._carry[5]
        else:
            costs = (table.rare_costs, table.words, self._carry, self._scratch)
            cut = features.count_by_words(*text, *costs, cuts, 0, counts)
            if last:
                features.finish_words(
                    end, table.words, self._carry, self._scratch, cuts, cut, counts
                )
        self._offset = end


def _bytes_of(data: Data) -> NDArray[np.uint8]:
    """`data` as a flat array over the same memory."""
    if isinstance(data, np.ndarray):
        return np.ascontiguousarray(data, np.uint8).reshape(-1)
    return np.frombuffer(data, np.uint8)


def _offsets(cuts: ArrayLike, size: int) -> NDArray[np.int64]:
    """`cuts` as offsets into `size` bytes; ValueError where they are none."""
    offsets = np.ascontiguousarray(cuts, np.int64)
    if len(offsets) and (offsets[0] < 0 or offsets[-1] > size or (np.diff(offsets) < 0).any()):
        raise ValueError(f"cuts must ascend within 0 to {size}")
    return offsets
