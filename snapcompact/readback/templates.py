"""Glyphs as a damaged page shows them: bitmaps on their pitch, blurred like the page.

*Ink* is 0 for paper and 1 for ink. A *kernel* (odd, odd) float32 is the blur: what a single pixel
of ink looks like on the page, in page pixels.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from snapcompact.fonts.atlas import Atlas
    from snapcompact.pages.shape import Shape

_RIGHT_HALF = -3
KERNEL_SIDE = 7
"""Covers the blur of a page halved and enlarged again (sigma 1 px)."""


@dataclass(frozen=True, slots=True, eq=False)
class Templates:
    """``ids`` (n,) glyph ids; ``ink`` (n, pitch height, pitch width) what each prints.

    ``partner`` (n,) is the index of the right half that must follow a left one, -1 for others;
    ``is_right`` (n,) is true for right halves, which follow nothing else; ``common`` (n,) for
    printable ASCII, tab and line end.
    """

    ids: NDArray[np.uint16]
    ink: NDArray[np.uint8]
    partner: NDArray[np.intp]
    is_right: NDArray[np.bool_]
    common: NDArray[np.bool_]


def glyph_templates(shape: Shape, atlas: Atlas, *, ascii_only: bool = False) -> Templates:
    """The glyphs of `atlas`, each half of a wide one by itself, on the pitch of `shape`."""
    known = atlas.codes != -1
    if ascii_only:
        known = known & (np.arange(known.size) < 127) & (np.arange(known.size) > 31)
    ids = np.flatnonzero(known).astype(np.uint16)
    ink = np.zeros((ids.size, shape.pitch_height, shape.pitch_width), np.uint8)
    top = (shape.pitch_height - atlas.height) // 2
    left = (shape.pitch_width - atlas.width) // 2
    ink[:, top : top + atlas.height, left : left + atlas.width] = atlas.bitmaps[ids]
    partner = np.where(atlas.wide[ids], np.arange(1, ids.size + 1), -1)
    common = np.isin(ids, [9, 10, *range(32, 127)])
    return Templates(ids, ink, partner, atlas.codes[ids] == _RIGHT_HALF, common)


def gaussian(sigma_px: float) -> NDArray[np.float32]:
    """The kernel of a Gaussian blur; a single pixel for 0."""
    steps = np.arange(KERNEL_SIDE) - KERNEL_SIDE // 2
    if sigma_px == 0:
        line = (steps == 0).astype(np.float64)
    else:
        line = np.exp(-0.5 * (steps / sigma_px) ** 2)
    line /= line.sum()
    return np.outer(line, line).astype(np.float32)


def blur(ink: NDArray[np.float32], kernel: NDArray[np.float32]) -> NDArray[np.float32]:
    """`ink` (…, height, width) under `kernel`; paper lies around it."""
    reach = kernel.shape[0] // 2
    pad = [(0, 0)] * (ink.ndim - 2) + [(reach, reach), (reach, reach)]
    padded = np.pad(ink, pad)
    height, width = ink.shape[-2:]
    out = np.zeros_like(ink)
    for y, x in _taps(kernel):
        out += kernel[y, x] * padded[..., y : y + height, x : x + width]
    return out


def draw(cells: NDArray[np.intp], templates: Templates) -> NDArray[np.uint8]:
    """The ink of a page whose `cells` (rows, columns) are indices of `templates`."""
    rows, columns = cells.shape
    _, height, width = templates.ink.shape
    page = templates.ink[cells]
    return page.transpose(0, 2, 1, 3).reshape(rows * height, columns * width)


def _taps(kernel: NDArray[np.float32]) -> Iterator[tuple[int, int]]:
    """Places of the kernel that matter."""
    ys, xs = np.nonzero(np.abs(kernel) > 1e-6)
    yield from zip(ys.tolist(), xs.tolist(), strict=True)
