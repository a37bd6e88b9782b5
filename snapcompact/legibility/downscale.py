"""What happens to a page on its way to a model: downscale, JPEG, and the blur of the eye.

Scaling is linear and separable: a matrix for each axis, (pixels after, pixels before) float32, made
by Pillow itself from single pixels. *Ink* is float32, 0 for paper and 1 for black.
"""

from __future__ import annotations

import io
from functools import lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

FILTERS: Mapping[str, str] = MappingProxyType({"lanczos": "LANCZOS", "area": "BOX"})
"""Ways providers may scale down, and Pillow's name for them; which one is used nobody says."""
BLUR_REACH = 3
"""Standard deviations of a blur that are looked at; beyond lies 0.3 % of it."""


@lru_cache(maxsize=8)
def scale_matrix(before_px: int, after_px: int, how: str) -> NDArray[np.float32]:
    """One axis of a picture scaled from `before_px` to `after_px`; the identity where equal.

    `how` is a key of FILTERS. Read-only.
    """
    from PIL import Image

    pixels = np.eye(before_px, dtype=np.float32)
    if after_px != before_px:
        resampling = Image.Resampling[FILTERS[how]]
        scaled = Image.fromarray(pixels).resize((after_px, before_px), resampling)
        pixels = np.ascontiguousarray(np.asarray(scaled, np.float32).T)
    pixels.setflags(write=False)
    return pixels


def scaled(
    ink: NDArray[np.float32], down: NDArray[np.float32], across: NDArray[np.float32]
) -> NDArray[np.float32]:
    """`ink` (height, width) under the matrix of each axis, a :func:`scale_matrix` or its part."""
    for matrix in (down, across):
        if matrix.shape[0] != matrix.shape[1]:  # the identity, else
            ink = matrix @ ink
        ink = ink.T
    return np.ascontiguousarray(ink)


def blur_line(sigma_px: float) -> NDArray[np.float32]:
    """A Gaussian's weights, of odd length; a single 1 for a sigma of 0."""
    reach = int(np.ceil(BLUR_REACH * sigma_px))
    steps = np.arange(-reach, reach + 1)
    line = np.exp(-0.5 * (steps / max(sigma_px, 1e-6)) ** 2)
    return np.asarray(line / line.sum(), np.float32)


def blurred(ink: NDArray[np.float32], sigma_px: float) -> NDArray[np.float32]:
    """`ink` (height, width) under a Gaussian, paper around it."""
    line = blur_line(sigma_px)
    reach = line.size // 2
    for _ in range(2):
        padded = np.pad(ink, ((reach, reach), (0, 0)))
        ink = np.zeros_like(ink)
        for offset, weight in enumerate(line):
            ink += weight * padded[offset : offset + ink.shape[0]]
        ink = np.ascontiguousarray(ink.T)
    return ink


def jpeg(ink: NDArray[np.float32], quality: int) -> NDArray[np.float32]:
    """`ink` as it comes back from a grey JPEG file of `quality` (1 to 95)."""
    from PIL import Image

    grey = np.clip(np.rint(255 - 255 * ink), 0, 255).astype(np.uint8)
    file = io.BytesIO()
    Image.fromarray(grey).save(file, "JPEG", quality=quality)
    back = np.asarray(Image.open(file), np.float32)
    return np.asarray(1 - back / 255, np.float32)
