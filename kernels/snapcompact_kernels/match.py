"""Hashes of printed glyphs to glyph ids, exactly."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from snapcompact_kernels._jit import kernel
from snapcompact_kernels.cells import signed

if TYPE_CHECKING:
    from numpy.typing import NDArray

U = np.uint64
MISSING = np.uint16(0xFFFF)
MIX = np.uint32(0x9E3779B1)
"""Odd, 2**32 over the golden ratio: spreads the hash of a left half before the right is added."""


@kernel
def find(table: NDArray[np.uint64], key: np.uint32) -> Any:
    """Id stored for `key` in the open `table`, or MISSING.

    A slot holds key and id, 16 bits, and is taken where its id is not MISSING. The size is a power
    of two of at most 2**31.
    """
    slots = U(table.size)
    slot = U(key) * slots >> U(32)
    entry = table[slot]
    while entry >> U(16) != U(key) and entry & U(MISSING) != U(MISSING):
        slot = (slot + U(1)) & (slots - U(1))
        entry = table[slot]
    return np.uint16(entry & U(0xFFFF))


@kernel
def read_row(hashes: NDArray[np.uint32], pairs: NDArray[np.uint64], out: NDArray[np.uint16]) -> int:
    """Write the ids of one row with wide glyphs to `out`; return how many cells fit no glyph.

    From right to left, the fewest cells without a glyph from each column on; then along that way.
    Undamaged rows have one such way only (``glyphs`` refuses fonts where they would not).
    """
    columns = out.size
    cost = np.zeros(columns + 2, np.int64)
    pair = np.empty(columns + 1, np.uint16)
    pair[columns - 1 :] = MISSING
    for x in range(columns - 1, -1, -1):
        cost[x] = cost[x + 1] + (out[x] == MISSING)
        if x + 1 < columns:
            mixed = np.uint32(hashes[x] * MIX + hashes[x + 1])  # numba widens the product
            pair[x] = find(pairs, mixed)
            if pair[x] != MISSING and cost[x + 2] <= cost[x]:
                cost[x] = cost[x + 2]
            else:
                pair[x] = MISSING
    x = 0
    while x < columns:
        if pair[x] != MISSING:
            out[x] = pair[x]
            out[x + 1] = pair[x] + 1
            x += 1
        x += 1
    return signed(cost[0])


@kernel
def find_row(
    hashes: NDArray[np.uint32],
    singles: NDArray[np.uint64],
    pairs: NDArray[np.uint64],
    out: NDArray[np.uint16],
) -> int:
    """Write the ids of one row of cells to `out`, as :func:`read_cells`."""
    lost = 0
    slots = U(singles.size)
    for x in range(out.size):
        entry = singles[U(hashes[x]) * slots >> U(32)]
        if entry >> U(16) != U(hashes[x]):
            entry = U(find(singles, hashes[x]))
        out[x] = np.uint16(entry & U(MISSING))
        lost += out[x] == MISSING
    return read_row(hashes, pairs, out) if lost else 0


@kernel
def read_cells(
    hashes: NDArray[np.uint32],
    singles: NDArray[np.uint64],
    pairs: NDArray[np.uint64],
    out: NDArray[np.uint16],
) -> int:
    """Write the glyph id of each cell (rows, columns) to `out`, MISSING where none fits.

    Returns the number of MISSING cells. `singles` is the table (see :func:`find`) of single glyphs,
    `pairs` that of wide ones by the mixed hashes of their halves.
    """
    missing = 0
    for row in range(out.shape[0]):
        missing += find_row(hashes[row], singles, pairs, out[row])
    return missing
