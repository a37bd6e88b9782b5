"""Which glyphs stand in a row when some take two cells: the cheapest way to fill it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class Choice:
    """``cells`` (rows, columns) template indices; ``margin`` the same size, lead in cost."""

    cells: NDArray[np.intp]
    margin: NDArray[np.float32]


def choose(
    grid: tuple[int, int],
    partner: NDArray[np.intp],
    ids: NDArray[np.intp],
    costs: NDArray[np.float32],
    ids_wide: NDArray[np.intp] | None,
    costs_wide: NDArray[np.float32] | None,
) -> Choice:
    """The cheapest filling of each row of `grid` (rows, columns).

    `ids` and `costs` (cells, some) are single glyphs and what each costs in its cell; `ids_wide`
    and `costs_wide` (rows × (columns - 1), some) left halves, and what they and their `partner`
    cost. A margin is the lead over the next glyph as wide, and over the other width.
    """
    cells, single, lead = _best(ids, costs, grid)
    if ids_wide is None or costs_wide is None or grid[1] < 2:
        return Choice(cells, lead)
    lefts, double, lead_wide = _best(ids_wide, costs_wide, (grid[0], grid[1] - 1))
    starts = _pair_starts(single, double)
    rows, columns = np.nonzero(starts)
    over = single[:, :-1] + single[:, 1:] - double
    # A single cell gives way to a pair with either neighbour, unless that one is in a pair itself.
    in_pair = np.zeros(grid, np.bool_)
    in_pair[rows, columns] = in_pair[rows, columns + 1] = True
    free = ~in_pair[:, :-1] & ~in_pair[:, 1:]
    under = np.where(free, -over, np.inf).astype(np.float32)
    lead[:, :-1] = np.minimum(lead[:, :-1], under)
    lead[:, 1:] = np.minimum(lead[:, 1:], under)
    cells[rows, columns] = lefts[rows, columns]
    cells[rows, columns + 1] = partner[lefts[rows, columns]]
    ahead = np.minimum(lead_wide, over)[rows, columns]
    lead[rows, columns] = lead[rows, columns + 1] = ahead
    return Choice(cells, lead)


def _best(
    ids: NDArray[np.intp], costs: NDArray[np.float32], grid: tuple[int, int]
) -> tuple[NDArray[np.intp], NDArray[np.float32], NDArray[np.float32]]:
    """The cheapest at each place, its cost, and its lead over the second; all of size `grid`."""
    at = costs.argmin(axis=1)[:, None]
    chosen = np.take_along_axis(ids, at, axis=1).reshape(grid)
    if costs.shape[1] == 1:
        return chosen, costs.reshape(grid), np.full(grid, np.inf, np.float32)
    two = np.partition(costs, 1, axis=1)
    lead = (two[:, 1] - two[:, 0]).astype(np.float32)
    return chosen, two[:, 0].reshape(grid), lead.reshape(grid)


def _pair_starts(single: NDArray[np.float32], double: NDArray[np.float32]) -> NDArray[np.bool_]:
    """(rows, columns - 1) true where a pair begins, by dynamic programming from the row's end."""
    rows, columns = single.shape
    rest = np.zeros((rows, columns + 1))
    pays = np.zeros((rows, columns), np.bool_)
    for x in range(columns - 1, -1, -1):
        rest[:, x] = rest[:, x + 1] + single[:, x]
        if x + 1 < columns:
            paired = rest[:, x + 2] + double[:, x]
            pays[:, x] = paired < rest[:, x]
            rest[:, x] = np.minimum(rest[:, x], paired)
    for x in range(1, columns):
        pays[:, x] &= ~pays[:, x - 1]
    return pays[:, :-1]
