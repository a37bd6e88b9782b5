"""Slow twins of ``snapcompact_kernels.spread``."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def spread_one(
    ink: NDArray[np.uint8],
    taps: NDArray[np.float32],
    phase_y: NDArray[np.int64],
    phase_x: NDArray[np.int64],
    border: int,
) -> NDArray[np.float32]:
    """What `ink` shows, pixel by pixel of the result (with `border` px around)."""
    reach = taps.shape[2] // 2
    padded = np.pad(ink.astype(np.float64), border + reach)
    out = np.zeros((len(phase_y), len(phase_x)))
    for y in range(len(phase_y)):
        for x in range(len(phase_x)):
            around = padded[y : y + 2 * reach + 1, x : x + 2 * reach + 1]
            out[y, x] = (around * taps[phase_y[y], phase_x[x]]).sum()
    return out.astype(np.float32)


def squared_misfits(
    seen: NDArray[np.float32],
    shown: NDArray[np.float32],
    table: NDArray[np.float32],
    entries: NDArray[np.int64],
) -> NDArray[np.float64]:
    """(cells, candidates)."""
    off = (seen[:, None, :].astype(np.float64) - table[entries]) * shown[:, None, :]
    return np.asarray((off**2).sum(axis=2))


def lowest(costs: NDArray[np.float32], some: int) -> NDArray[np.int64]:
    """(cells, some), stable."""
    return costs.argsort(axis=1, kind="stable")[:, :some].astype(np.int64)
