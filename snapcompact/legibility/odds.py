"""How likely each cell is taken for another glyph: nearest-template decoding under white noise.

A decoder takes the template nearest to what it sees, rare ones only where they are clearly nearer.
Noise of standard deviation s a pixel moves the
difference of two squared distances by a normal of known width, so that the chance of each rival is
a tail of the normal distribution: no noise need be drawn, and rates far below one in a million come
out as smoothly as large ones.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

RIVALS = 6
"""Glyphs that a cell may be taken for; the seventh adds under 2 % to any rate on real text."""
CHUNK_CELLS = 4096
"""Cells at once: with 600 templates their distances take 10 MB."""
_LEAST = 1e-6
_erfc = np.frompyfunc(math.erfc, 1, 1)


@dataclass(frozen=True, slots=True, eq=False)
class Odds:
    """What each cell is likely taken for.

    ``rates`` (cells,) is the chance to be misread; ``rivals`` (cells, up to RIVALS) are the
    likeliest wrong templates, ``chances`` that each is nearer than the right one.
    """

    rates: NDArray[np.float64]
    rivals: NDArray[np.intp]
    chances: NDArray[np.float64]

    def of(self, some: NDArray[np.bool_]) -> Odds:
        """Those of `some` cells."""
        return Odds(self.rates[some], self.rivals[some], self.chances[some])

    def put(self, some: NDArray[np.intp], odds: Odds) -> None:
        """Write `odds` in the places of `some` cells."""
        self.rates[some], self.rivals[some], self.chances[some] = (
            odds.rates,
            odds.rivals,
            odds.chances,
        )


def no_odds(cells: int, glyphs: int) -> Odds:
    """Room for the odds of `cells` among `glyphs`, all 0."""
    rivals = min(RIVALS, glyphs - 1)
    return Odds(np.zeros(cells), np.zeros((cells, rivals), np.intp), np.zeros((cells, rivals)))


def odds(
    windows: NDArray[np.float32],
    truth: NDArray[np.intp],
    templates: NDArray[np.float32],
    prior: NDArray[np.float32],
    noise: NDArray[np.float32],
) -> Odds:
    """The odds of cells seen as `windows` (cells, pixels), printed with the template `truth`.

    `templates` are (glyphs, pixels), two or more; `prior` (glyphs,) how often each is printed, in
    any unit; `noise` (cells,) is the standard deviation in each cell, 0 for a decoder that errs
    only where another template is nearer.
    """
    found = no_odds(truth.size, len(templates))
    for at in range(0, truth.size, CHUNK_CELLS):
        part = np.arange(at, min(at + CHUNK_CELLS, truth.size))
        found.put(part, _odds(windows[part], truth[part], templates, prior, noise[part]))
    return found


def _odds(
    windows: NDArray[np.float32],
    truth: NDArray[np.intp],
    templates: NDArray[np.float32],
    prior: NDArray[np.float32],
    noise: NDArray[np.float32],
) -> Odds:
    spread = np.maximum(noise, _LEAST)[:, None]
    squares = (templates**2).sum(axis=1)
    apart = squares[:, None] + squares - 2 * templates @ templates.T
    apart = np.sqrt(np.maximum(apart, _LEAST**2))
    distances = squares - 2 * windows @ templates.T
    each = np.arange(truth.size)
    lead = distances - distances[each, truth][:, None]
    favour = np.log(prior)
    lead += 2 * spread**2 * (favour[truth][:, None] - favour)
    lead /= 2 * spread * apart[truth]
    lead[each, truth] = np.inf
    most = min(RIVALS, len(templates) - 1)
    rivals = np.argpartition(lead, most - 1, axis=1)[:, :most]
    near = np.take_along_axis(lead, rivals, axis=1).astype(np.float64)
    chances = 0.5 * np.asarray(_erfc(near / math.sqrt(2)), np.float64)
    return Odds(1 - np.prod(1 - chances, axis=1), rivals, chances)
