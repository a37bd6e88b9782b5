"""How much a squared misfit is worth: from the page's own noise to log odds.

For white Gaussian noise of variance v the odds of two glyphs are their squared misfits over 2 v;
for single flipped pixels with chance p they are log((1 - p) / p) a pixel, which is far less. Both
are the weight w at which ``mean(exp(w * (2 * |r| - 1))) = 1`` over the residual r of single pixels
(the adjustment coefficient of Cramér and Lundberg for a step of one unit of ink), which rises
without bound where no residual is above half a step: 1 / (2 v) is its limit. Noise that is not
white, as after JPEG, weighs less by as much as it is stronger along the differences of glyphs than
elsewhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

LIGHTEST, HEAVIEST = 0.05, 1e4


@dataclass(frozen=True, slots=True)
class Noise:
    """``weight``: log odds for each unit of squared misfit (ink is 0 to 1)."""

    weight: float


def measure_noise(residuals: NDArray[np.float32], differences: NDArray[np.float32]) -> Noise:
    """The noise in `residuals` (cells, pixels) along `differences` (cells, pixels) of glyphs.

    Row i of one belongs to other cells than row i of the other.
    """
    power = float((residuals**2).mean())
    length = (differences**2).sum(axis=1)
    along = ((residuals * differences).sum(axis=1) ** 2)[length > 0] / length[length > 0]
    colour = max(1.0, float(along.mean()) / power) if power > 0 and along.size else 1.0
    gaussian = 1 / max(2 * power, 1 / HEAVIEST)
    return Noise(min(gaussian, _adjustment(np.abs(residuals).reshape(-1))) / colour)


def _adjustment(sizes: NDArray[np.float32]) -> float:
    """The weight w > 0 at which the mean of exp(w (2 size - 1)) is 1, by bisection."""
    steps = np.clip(2 * sizes.astype(np.float64) - 1, -1, 1)
    low, high = LIGHTEST, HEAVIEST
    for _ in range(40):
        middle = (low * high) ** 0.5
        powers = middle * steps
        top = powers.max()
        if top + np.log(np.exp(powers - top).mean()) > 0:
            high = middle
        else:
            low = middle
    return low
