"""Ink under a blur that depends on the place, and which glyphs come nearest to what is seen."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from snapcompact_kernels._jit import kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray


@kernel
def spread_one(
    ink: NDArray[np.uint8],
    taps: NDArray[np.float32],
    phase_y: NDArray[np.int64],
    phase_x: NDArray[np.int64],
    border: int,
    out: NDArray[np.float32],
) -> None:
    """Add to `out` what `ink` (height, width; 0 or 1) shows, `border` px of `out` lying around it.

    `taps` (phases down, phases across, side, side) say what a pixel of `out` takes from those
    around it, by its phases `phase_y` and `phase_x`; `side` is odd.
    """
    height, width = ink.shape
    rows, columns = out.shape
    side = taps.shape[2]
    reach = side // 2
    for y in range(height):
        for x in range(width):
            if ink[y, x] == 0:
                continue
            for ky in range(side):
                to_y = y + border + reach - ky
                if to_y < 0 or to_y >= rows:
                    continue
                for kx in range(side):
                    to_x = x + border + reach - kx
                    if 0 <= to_x < columns:
                        out[to_y, to_x] += taps[phase_y[to_y], phase_x[to_x], ky, kx]


@kernel
def spread_glyphs(
    inks: NDArray[np.uint8],
    glyphs: NDArray[np.int64],
    taps: NDArray[np.float32],
    phases_y: NDArray[np.int64],
    phases_x: NDArray[np.int64],
    border: int,
    out: NDArray[np.float32],
) -> None:
    """Add to ``out[i]`` what glyph ``glyphs[i]`` of `inks` shows where its phases are those given.

    Row i of `phases_y` and `phases_x` are the phases of the rows and columns of ``out[i]``; the
    rest as in :func:`spread_one`.
    """
    for i in range(glyphs.size):
        spread_one(inks[glyphs[i]], taps, phases_y[i], phases_x[i], border, out[i])


@kernel
def squared_misfits(
    seen: NDArray[np.float32],
    shown: NDArray[np.float32],
    table: NDArray[np.float32],
    entries: NDArray[np.int64],
    out: NDArray[np.float32],
) -> None:
    """Write to `out` (cells, candidates) the squared distance of each cell to each candidate.

    `seen` (cells, pixels) is compared where `shown` (the same size) is 1 and not where it is 0;
    `entries` (cells, candidates) are rows of `table` (any, pixels).
    """
    cells, candidates = entries.shape
    pixels = seen.shape[1]
    whole = pixels // 8 * 8
    sums = np.empty(8, np.float32)
    for cell in range(cells):
        for candidate in range(candidates):
            entry = entries[cell, candidate]
            sums[:] = 0
            for i in range(0, whole, 8):
                for j in range(8):  # sums of their own, so that they are made side by side
                    off = (seen[cell, i + j] - table[entry, i + j]) * shown[cell, i + j]
                    sums[j] += off * off
            for i in range(whole, pixels):
                off = (seen[cell, i] - table[entry, i]) * shown[cell, i]
                sums[0] += off * off
            out[cell, candidate] = sums.sum()


@kernel
def lowest(costs: NDArray[np.float32], out: NDArray[np.int64]) -> None:
    """Write to `out` (cells, some) which of `costs` (cells, all) are lowest, the lowest first.

    Of equal ones the first; `some` is at most `all`.
    """
    cells, some = out.shape
    kept = np.empty(some, np.float32)
    for cell in range(cells):
        count = 0
        for i in range(costs.shape[1]):
            cost = costs[cell, i]
            if count == some:
                if cost >= kept[some - 1]:
                    continue
            else:
                count += 1
            at = count - 1
            while at > 0 and kept[at - 1] > cost:
                kept[at] = kept[at - 1]
                out[cell, at] = out[cell, at - 1]
                at -= 1
            kept[at] = cost
            out[cell, at] = i
