"""Where a page's cells lie on a picture of it: scale and offset, found from its pixels.

The picture is flat and upright; it may be scaled (a little differently along its sides), shifted,
cropped, and have other borders than the page.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from snapcompact.readback.templates import blur, gaussian, glyph_templates

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from snapcompact.fonts.atlas import Atlas
    from snapcompact.pages.shape import Shape

NODES = 160
"""Cells looked at for each offset tried."""
SURE = 0.35
"""A misfit below this is a page in its place; offsets a pixel off give 0.5 and more at 8x16."""
LIKELY = 0.65
"""A misfit below this is a page of other letters than ASCII, if it lies where it was printed."""
MOST_ANISOTROPY = 1.03
SCALES = (0.3, 4.0)
MOST_PAGE_PX = 1 << 25
"""No scale at which the picture would be a larger page is tried: it would take gigabytes."""
PEAKS = 4
BLURS_PX = (0.0, 0.9)
FINE_PX = 0.25


@dataclass(frozen=True, slots=True)
class Grid:
    """Pixel x of a page is ``left + x * scale_x`` of the picture.

    ``misfit`` is how badly glyphs fit there, as a share of the ink: 0 is perfect, 1 no better than
    blank cells.
    """

    left: float
    top: float
    scale_x: float
    scale_y: float
    misfit: float = 1.0

    @property
    def plain(self) -> bool:
        """Whether page pixels are picture pixels."""
        return (
            self.scale_x == self.scale_y == 1 and self.left.is_integer() and self.top.is_integer()
        )


def find_grid(ink: NDArray[np.float32], shape: Shape, atlas: Atlas) -> Grid:
    """The likeliest grid of a page of `shape` on a picture's `ink` (height, width)."""
    best = Grid(0.0, 0.0, 1.0, 1.0)
    if _in_place(ink, shape, atlas):
        return replace(best, misfit=0.0)
    ratio = ink.shape[1] / shape.page_width
    for scale_x, scale_y in _scales(ink, shape):
        size = _all_of(ink, scale_x, scale_y)
        if size[0] * size[1] > MOST_PAGE_PX:
            continue
        page = straighten(ink, Grid(0.0, 0.0, scale_x, scale_y), size)
        x, y, misfit = _find_offset(page, shape, atlas)
        whole = x == y == 0 and scale_x == scale_y == ratio and misfit < LIKELY
        if whole or misfit < best.misfit:
            best = Grid(x * scale_x, y * scale_y, scale_x, scale_y, misfit)
        if whole or best.misfit < SURE:
            break
    return best if best.plain and best.misfit < SURE / 3 else _refined(ink, best, shape, atlas)


def straighten(ink: NDArray[np.float32], grid: Grid, size: tuple[int, int]) -> NDArray[np.float32]:
    """`size` (height, width) page pixels of `ink` from the grid's origin on; paper lies outside."""
    from PIL import Image

    height, width = size
    box = [grid.left, grid.top, grid.left + width * grid.scale_x, grid.top + height * grid.scale_y]
    # Room for the box, and for what the filter reaches beyond it.
    before = [max(0, int(np.ceil(-edge)) + 4) for edge in box[:2]]
    behind = [max(0, int(np.ceil(box[2] - ink.shape[1])) + 4),
              max(0, int(np.ceil(box[3] - ink.shape[0])) + 4)]  # fmt: skip
    padded = np.pad(ink, ((before[1], behind[1]), (before[0], behind[0])))
    shifted = (box[0] + before[0], box[1] + before[1], box[2] + before[0], box[3] + before[1])
    if grid.plain:
        left, top = int(shifted[0]), int(shifted[1])
        return np.ascontiguousarray(padded[top : top + height, left : left + width])
    image = Image.fromarray(padded)
    resized = image.resize((width, height), Image.Resampling.BICUBIC, box=shifted)
    return np.asarray(resized, np.float32)


def _in_place(ink: NDArray[np.float32], shape: Shape, atlas: Atlas) -> bool:
    """Whether the picture has the page's size and its glyphs fit best where they were printed."""
    height, width = shape.pitch_height, shape.pitch_width
    rows, columns = ink.shape[0] // height, shape.grid_columns
    if ink.shape[1] != shape.page_width or ink.shape[0] % height or not rows:
        return False
    nodes = _inky_nodes(ink, rows, columns, height, width)
    templates = glyph_templates(shape, atlas, ascii_only=True).ink.astype(np.float32)
    padded = np.pad(ink, 1)
    view = np.lib.stride_tricks.sliding_window_view(padded, (height, width))
    flat = blur(templates, gaussian(BLURS_PX[1] / 2)).reshape(len(templates), -1)

    def misfit(y: int, x: int) -> float:
        windows = view[nodes[:, 0] * height + 1 + y, nodes[:, 1] * width + 1 + x]
        windows = windows.reshape(len(nodes), -1)
        return float(_misfits(windows, flat).sum() / max((windows**2).sum(), 1e-6))

    here = misfit(0, 0)
    around = min(misfit(y, x) for y, x in ((-1, 0), (1, 0), (0, -1), (0, 1)))
    return (here < SURE and here < around) or (here < LIKELY and 1.1 * here < around)


def _all_of(ink: NDArray[np.float32], scale_x: float, scale_y: float) -> tuple[int, int]:
    return max(1, round(ink.shape[0] / scale_y)), max(1, round(ink.shape[1] / scale_x))


def _scales(ink: NDArray[np.float32], shape: Shape) -> Iterable[tuple[float, float]]:
    """Scales to try, likeliest first: none, the page's width, then what the spectrum shows."""
    yield 1.0, 1.0
    ratio = ink.shape[1] / shape.page_width
    if ratio != 1 and SCALES[0] <= ratio <= SCALES[1]:
        yield ratio, ratio
    across = _periods(ink.mean(axis=0), shape.pitch_width)
    down = _periods(ink.mean(axis=1), shape.pitch_height)
    pairs = [
        (strength_x * strength_y, scale_x, scale_y)
        for scale_x, strength_x in across
        for scale_y, strength_y in down
        if max(scale_x, scale_y) <= MOST_ANISOTROPY * min(scale_x, scale_y)
    ]
    for _, scale_x, scale_y in sorted(pairs, reverse=True)[:PEAKS]:
        yield scale_x, scale_y


def _periods(profile: NDArray[np.float32], pitch_px: int) -> list[tuple[float, float]]:
    """Scales at which `profile` repeats with the pitch, and how strongly; the strongest first."""
    padded = 8 * profile.size
    window = np.hanning(profile.size)
    spectrum = np.abs(np.fft.rfft((profile - profile.mean()) * window, padded))
    low = max(2, int(padded / (SCALES[1] * pitch_px)))
    high = min(spectrum.size - 2, int(padded / (SCALES[0] * pitch_px)))
    if high <= low:
        return []
    inner = spectrum[low:high]
    peaks = low + np.flatnonzero(
        (inner >= spectrum[low - 1 : high - 1]) & (inner > spectrum[low + 1 : high + 1])
    )
    strongest = peaks[np.argsort(spectrum[peaks])[::-1][: 2 * PEAKS]]
    found = []
    for peak in strongest.tolist():
        a, b, c = np.log(spectrum[peak - 1 : peak + 2] + 1e-12)
        bend = a - 2 * b + c
        at = peak + (0.5 * (a - c) / bend if bend else 0.0)
        found.append((float(padded / at / pitch_px), float(spectrum[peak])))
    return found


def _find_offset(
    page: NDArray[np.float32], shape: Shape, atlas: Atlas
) -> tuple[float, float, float]:
    """Whole-pixel x and y of the first cell, within half a pitch of 0, and the misfit there."""
    height, width = shape.pitch_height, shape.pitch_width
    rows, columns = page.shape[0] // height - 1, page.shape[1] // width - 1
    if rows < 1 or columns < 1:
        return 0.0, 0.0, 1.0
    inky = _inky_nodes(page, rows, columns, height, width)
    view = np.lib.stride_tricks.sliding_window_view(page, (2 * height - 1, 2 * width - 1))
    patches = view[inky[:, 0] * height, inky[:, 1] * width]
    windows = np.lib.stride_tricks.sliding_window_view(patches, (height, width), axis=(1, 2))
    best = (0.0, 0.0, 2.0)
    templates = glyph_templates(shape, atlas, ascii_only=True).ink.astype(np.float32)
    for sigma in BLURS_PX:
        flat = blur(templates, gaussian(sigma)).reshape(len(templates), -1)
        for y in range(height):
            cost = _misfits(windows[:, y].reshape(-1, height * width), flat)
            ink = (windows[:, y] ** 2).sum(axis=(2, 3)).sum(axis=0)
            share = cost.reshape(len(patches), width).sum(axis=0) / np.maximum(ink, 1e-6)
            x = int(share.argmin())
            if share[x] < best[2]:
                best = float(x), float(y), float(share[x])
    found_x, found_y, misfit = best
    around_x = found_x - width if found_x > width / 2 else found_x
    around_y = found_y - height if found_y > height / 2 else found_y
    return around_x, around_y, misfit


def _inky_nodes(
    page: NDArray[np.float32], rows: int, columns: int, height: int, width: int
) -> NDArray[np.intp]:
    """(NODES, 2) row and column of cells with ink, the same choice each time."""
    inside = page[: rows * height, : columns * width]
    ink = inside.reshape(rows, height, columns, width).mean(axis=(1, 3))
    nodes = np.argwhere(ink > 0.5 * np.percentile(ink, 90))
    if not len(nodes):
        nodes = np.argwhere(ink >= 0)
    return nodes[np.random.default_rng(0).choice(len(nodes), min(NODES, len(nodes)), replace=False)]


def _misfits(windows: NDArray[np.float32], flat: NDArray[np.float32]) -> NDArray[np.float32]:
    """(windows,) squared distance to the nearest of the templates `flat`."""
    nearest = ((flat**2).sum(axis=1) - 2 * windows @ flat.T).min(axis=1)
    return np.asarray((windows**2).sum(axis=1) + nearest, np.float32)


def _refined(ink: NDArray[np.float32], grid: Grid, shape: Shape, atlas: Atlas) -> Grid:
    """`grid` moved and stretched by fractions of a pixel, so that both ends of the page fit."""
    for _ in range(2):
        page = straighten(ink, grid, _all_of(ink, grid.scale_x, grid.scale_y))
        left, right = _drift(page, shape, atlas, axis=1)
        top, bottom = _drift(page, shape, atlas, axis=0)
        stretch_x = 1 + (right[1] - left[1]) / max(right[0] - left[0], 1)
        stretch_y = 1 + (bottom[1] - top[1]) / max(bottom[0] - top[0], 1)
        grid = replace(
            grid,
            left=grid.left + (left[1] - left[0] * (stretch_x - 1)) * grid.scale_x,
            top=grid.top + (top[1] - top[0] * (stretch_y - 1)) * grid.scale_y,
            scale_x=grid.scale_x * stretch_x,
            scale_y=grid.scale_y * stretch_y,
        )
    return _snapped(grid, ink.shape[1] / shape.page_width)


def _snapped(grid: Grid, width_ratio: float) -> Grid:
    """`grid` with scales and origin that are round within the error of finding them made round."""
    near = 0.1
    for ratio in (1.0, width_ratio):
        if abs(grid.scale_x / ratio - 1) < 2e-4 and abs(grid.scale_y / ratio - 1) < 4e-4:
            grid = replace(grid, scale_x=ratio, scale_y=ratio)
            if ratio == width_ratio:  # the whole page, and nothing around it
                near = 0.35
            break
    whole_x, whole_y = float(round(grid.left)), float(round(grid.top))
    off_x, off_y = abs(grid.left - whole_x), abs(grid.top - whole_y)
    if off_x < near * grid.scale_x and off_y < near * grid.scale_y:
        grid = replace(grid, left=whole_x, top=whole_y)
    return grid


def _drift(
    page: NDArray[np.float32], shape: Shape, atlas: Atlas, *, axis: int
) -> tuple[tuple[float, float], tuple[float, float]]:
    """For the first and the last third of the page along `axis`: where it is and how far off."""
    length = page.shape[axis]
    pitch = (shape.pitch_height, shape.pitch_width)[axis]
    first = np.take(page, range(0, length // 3), axis)
    start = (2 * length // 3) // pitch * pitch
    last = np.take(page, range(start, length), axis)
    here = length / 6, _shift(first, shape, atlas, axis)
    there = start + (length - start) / 2, _shift(last, shape, atlas, axis)
    return here, there


def _shift(part: NDArray[np.float32], shape: Shape, atlas: Atlas, axis: int) -> float:
    """Pixels, a multiple of FINE_PX up to 1, by which the cells of `part` lie behind the grid."""
    height, width = shape.pitch_height, shape.pitch_width
    steps = np.arange(-1, 1 + FINE_PX / 2, FINE_PX)
    rows, columns = part.shape[0] // height, part.shape[1] // width
    if rows < 1 or columns < 1:
        return 0.0
    nodes = _inky_nodes(part, rows, columns, height, width)
    templates = glyph_templates(shape, atlas, ascii_only=True).ink.astype(np.float32)
    flat = blur(templates, gaussian(BLURS_PX[1] / 2)).reshape(len(templates), -1)
    costs = []
    for step in steps.tolist():
        moved = _moved(part, step, axis)[: rows * height, : columns * width]
        cells = moved.reshape(rows, height, columns, width).transpose(0, 2, 1, 3)
        windows = cells[nodes[:, 0], nodes[:, 1]].reshape(len(nodes), -1)
        costs.append(float(_misfits(windows, flat).sum()))
    at = int(np.argmin(costs))
    if not 0 < at < len(costs) - 1:
        return float(steps[at])
    before, here, behind = costs[at - 1 : at + 2]
    bend = before - 2 * here + behind
    return float(steps[at] + (0.5 * (before - behind) / bend if bend else 0) * FINE_PX)


def _moved(part: NDArray[np.float32], step: float, axis: int) -> NDArray[np.float32]:
    """`part` read `step` px further along `axis`, between pixels linearly."""
    whole = int(np.floor(step))
    share = np.float32(step - whole)
    near = np.roll(part, -whole, axis)
    return np.asarray((1 - share) * near + share * np.roll(near, -1, axis), np.float32)
