"""A page photographed a little turned, set upright by the rows it shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOST_DEGREES = 2.5
STEP_DEGREES = 0.02
STRIP_PX = 48
"""Across which a row may rise by 2 px at the most turned."""


def set_upright(ink: NDArray[np.float32]) -> NDArray[np.float32]:
    """`ink` (height, width) turned so that its rows are level, paper in the corners."""
    from PIL import Image

    turned = Image.fromarray(ink).rotate(
        skew_degrees(ink), Image.Resampling.BICUBIC, expand=True, fillcolor=0
    )
    return np.asarray(turned, np.float32).clip(0, 1)


def skew_degrees(ink: NDArray[np.float32]) -> float:
    """By how much the rows of `ink` fall to the right, within MOST_DEGREES.

    The angle at which the profiles of upright strips, each moved by its place, add up to the
    profile with the greatest variance.
    """
    height, width = ink.shape
    count = max(width // STRIP_PX, 1)
    profiles = ink[:, : count * (width // count)].reshape(height, count, -1).sum(axis=2).T
    middles = (np.arange(count) + 0.5 - count / 2) * (width // count)
    spectra = np.fft.rfft(profiles, axis=1)
    waves = np.arange(spectra.shape[1]) / height
    # Rows repeat every 4 px or more; what is finer is the noise.
    spectra, waves = spectra[:, waves < 0.25], waves[waves < 0.25]
    angles = np.arange(-MOST_DEGREES, MOST_DEGREES + STEP_DEGREES / 2, STEP_DEGREES)

    def sharpness(degrees: float) -> float:
        falls = middles * np.tan(np.radians(degrees))
        moved = spectra * np.exp(2j * np.pi * falls[:, None] * waves)
        return float((np.abs(moved.sum(axis=0)[1:]) ** 2).sum())

    found = [sharpness(angle) for angle in angles.tolist()]
    at = int(np.argmax(found))
    if not 0 < at < len(found) - 1:
        return float(angles[at])
    before, here, behind = found[at - 1 : at + 2]
    bend = before - 2 * here + behind
    return float(angles[at] + (0.5 * (before - behind) / bend if bend else 0.0) * STEP_DEGREES)
