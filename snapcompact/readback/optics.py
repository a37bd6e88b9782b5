"""How a picture shows a page: the blur of its pixels, which a scaled picture has by phase.

The blur is found from the picture itself. On a picture smaller than the page, a page pixel's blur
depends on where it falls between the picture's pixels, its *phase*: at half size the even and the
odd ones are made of other pixels. One blur for all leaves twice the error (root mean square 0.07 of
ink and 0.03 with phases, 6x12 at half size), and it is an error that small glyphs are mistaken by.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from snapcompact.readback.grid import Grid, straighten
from snapcompact.readback.templates import blur

if TYPE_CHECKING:
    from numpy.typing import NDArray

SIDE = 9
"""Pixels across that a pixel's blur is looked for in."""
PATCH_PX = 256
PHASES = 4
"""Told apart along each side: exact at half size and at 0.75."""
PIXELS = 20_000
"""Looked at to find the blur, at most."""
LEAST_PIXELS = 3_000
"""For each pair of phases, if there are as many."""
RIDGE = 5e-5
"""Keeps taps that few pixels tell apart near 0."""


@dataclass(frozen=True, slots=True, eq=False)
class Phases:
    """The phase of each row ``y`` (height,) and column ``x`` (width,) of a page, 0 up to PHASES."""

    y: NDArray[np.int64]
    x: NDArray[np.int64]

    @classmethod
    def alike(cls, height: int, width: int) -> Phases:
        """Of a page whose pixels are all seen alike."""
        return cls(np.zeros(height, np.int64), np.zeros(width, np.int64))


def phases_along(origin: float, scale: float, length: int) -> NDArray[np.int64]:
    """The phases of `length` page pixels from `origin` on, a page pixel being `scale` of one."""
    if scale >= 1:
        return np.zeros(length, np.int64)
    middles = origin + (np.arange(length) + 0.5) * scale
    return np.asarray(np.floor((middles - np.floor(middles)) * PHASES), np.int64)


def phases_of(grid: Grid, size: tuple[int, int]) -> Phases:
    """Of the `size` (height, width) page pixels from the origin of `grid` on."""
    return Phases(
        phases_along(grid.top, grid.scale_y, size[0]),
        phases_along(grid.left, grid.scale_x, size[1]),
    )


def scaled_taps(grid: Grid) -> NDArray[np.float32]:
    """The blur (as of :func:`fit_taps`) of a page made smaller to `grid` by Lanczos' filter.

    Learnt from a random picture scaled so.
    """
    from PIL import Image

    size = (PATCH_PX, PATCH_PX)
    dots = (np.random.default_rng(0).random((3 * PATCH_PX, 3 * PATCH_PX)) < 0.3).astype(np.uint8)
    left, top = grid.left % 1, grid.top % 1
    width, height = int(PATCH_PX * grid.scale_x) + 2, int(PATCH_PX * grid.scale_y) + 2
    # The picture's own corner lies left and top of the patch's, which is the middle of the dots.
    corner = PATCH_PX - left / grid.scale_x, PATCH_PX - top / grid.scale_y
    box = (*corner, corner[0] + width / grid.scale_x, corner[1] + height / grid.scale_y)
    image = Image.fromarray(dots.astype(np.float32))
    small = image.resize((width, height), Image.Resampling.LANCZOS, box=box)
    near = Grid(left, top, grid.scale_x, grid.scale_y)
    seen = straighten(np.asarray(small, np.float32).clip(0, 1), near, size)
    shown = np.zeros(size, np.bool_)
    shown[SIDE:-SIDE, SIDE:-SIDE] = True
    clean = np.ascontiguousarray(dots[PATCH_PX:-PATCH_PX, PATCH_PX:-PATCH_PX])
    return fit_taps(clean, seen, shown, phases_of(near, size))


def fit_taps(
    clean: NDArray[np.uint8],
    seen: NDArray[np.float32],
    shown: NDArray[np.bool_],
    phases: Phases,
) -> NDArray[np.float32]:
    """The blur (PHASES, PHASES, side, side) under which `clean` comes nearest to `seen`.

    By least squares over pixels in or beside ink that are `shown`, the same ones each time; the
    sides are phases down and across, then the pixels around.
    """
    reach = SIDE // 2
    padded = np.pad(clean, reach)
    near = (blur(clean.astype(np.float32), np.ones((3, 3), np.float32)) > 0) & shown
    ys, xs = np.nonzero(near)
    pairs = phases.y[ys] * PHASES + phases.x[xs]
    used = np.unique(pairs)
    most = max(LEAST_PIXELS, PIXELS // max(used.size, 1))
    rng = np.random.default_rng(0)
    out = np.zeros((PHASES * PHASES, SIDE, SIDE), np.float32)
    out[:, reach, reach] = 1
    for pair in used.tolist():
        places = np.flatnonzero(pairs == pair)
        if places.size > most:
            places = rng.choice(places, most, replace=False)
        out[pair] = _fitted(padded, seen, ys[places], xs[places])
    return out.reshape(PHASES, PHASES, SIDE, SIDE)


def _fitted(
    padded: NDArray[np.uint8],
    seen: NDArray[np.float32],
    ys: NDArray[np.intp],
    xs: NDArray[np.intp],
) -> NDArray[np.float32]:
    """(side, side) the blur at the places given."""
    view = np.lib.stride_tricks.sliding_window_view(padded, (SIDE, SIDE))
    matrix = view[ys, xs].reshape(len(ys), -1).astype(np.float64)
    square = matrix.T @ matrix + RIDGE * len(ys) * np.eye(matrix.shape[1])
    taps = np.linalg.solve(square, matrix.T @ seen[ys, xs].astype(np.float64))
    return taps.reshape(SIDE, SIDE).astype(np.float32)
