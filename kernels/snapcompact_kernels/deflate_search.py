"""All repeats on a page of cells that are worth a look, for the least bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from snapcompact_kernels._jit import kernel
from snapcompact_kernels.cells import signed
from snapcompact_kernels.deflate_repeats import (
    WINDOW,
    bit_period,
    bytes_between_inks,
    cells_in_common,
    hash_row,
    with_slack,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

U = np.uint64
LEAST_CELLS = 4
"""A power of 2. Two save a third of a percent more, and take a fifth more time."""
SLOT_BITS = 12
SPREAD = np.uint32(0x9E3779B1)
MOST_TRIES = 32
"""Earlier places with the same hash that are looked at: 16 cost 0.5 % more bytes."""


@kernel
def search_repeats(
    cells: NDArray[np.uint16],
    width: int,
    pitch_width: int,
    row_bytes: int,
    block: int,
    repeats: NDArray[np.int32],
    first: NDArray[np.int32],
) -> None:
    """Write the repeats on a page of `cells` that reach further right than all before them.

    As ``deflate_repeats.find_repeats``, but they overlap: of those that begin at one cell the
    nearest is written, and each farther one that is longer. `repeats` holds as many as cells.
    """
    rows, columns = cells.shape
    period = bit_period(pitch_width)
    flat = with_slack(cells)
    data = flat.view(np.uint8)
    heads = np.full(1 << SLOT_BITS, -1, np.int32)  # the last place with a hash, and the one
    earlier = np.empty(cells.size, np.int32)  # before each place, by number of the cell
    hashes = np.zeros(columns + LEAST_CELLS, np.uint32)
    count = 0
    for row in range(rows):
        first[row] = count
        hash_row(cells, row, period, LEAST_CELLS, hashes)
        lowest = max(0, (row - 1 - WINDOW // block) * columns)
        reach = 0
        for x in range(columns - LEAST_CELLS + 1):
            here = row * columns + x
            # The first cell is in the hash's low bits alone.
            slot = U(np.uint32(hashes[U(x)] * SPREAD) >> np.uint32(32 - SLOT_BITS))
            place = heads[slot]
            heads[slot] = here
            earlier[U(here)] = place
            length = max(reach - x, LEAST_CELLS - 1)
            for _ in range(MOST_TRIES):
                if place < lowest or x + length >= columns or count == (row + 1) * columns:
                    break
                there, place = place, earlier[U(place)]
                if flat[U(there + length)] != flat[U(here + length)]:
                    continue
                y = there % columns
                if x and y and flat[U(there - 1)] == flat[U(here - 1)]:
                    continue  # begins further left
                distance = (row - there // columns) * block + ((x - y) * pitch_width >> 3)
                if distance < 1 or distance > WINDOW or (x - y) & (period - 1):
                    continue
                most = U(columns - max(x, y))
                longer = signed(cells_in_common(data, U(there), U(here), most))
                if longer <= length:
                    continue
                length = longer
                byte, end = bytes_between_inks(x, x + length, width, pitch_width, row_bytes)
                if end > byte:
                    repeats[count, 0] = byte
                    repeats[count, 1] = end - byte
                    repeats[count, 2] = distance
                    count += 1
            reach = max(reach, x + length if length >= LEAST_CELLS else 0)
    first[rows] = count
