"""The most likely glyph of every cell of a straightened page, and by what odds.

First each cell by itself, under a Gaussian blur; then again under the blur that the page itself
shows, with what the neighbours' glyphs bleed into the cell taken off (iterated conditional modes).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from snapcompact.readback.noise import HEAVIEST, Noise, measure_noise
from snapcompact.readback.templates import Templates, blur, draw, fit_kernel, gaussian

if TYPE_CHECKING:
    from numpy.typing import NDArray

CANDIDATES = 12
"""Glyphs a cell that are looked at again."""
PASSES = 3
REACH = 2
"""Pixels around a cell where its blurred ink still shows."""
SIGMAS_PX = (0.0, 0.8, 1.2)
CHUNK_CELLS = 2048
"""Cells at once: with 5,000 glyphs their distances take 40 MB."""
NOISE_CELLS = 1500
"""Cells that the noise is measured on."""
RARE_SHARE = 0.02
"""Share of cells beyond ASCII that a page is taken to have before it is looked at; transcripts of
the corpus have 1 %."""
GUESS_CELLS = 100
"""Cells that the guess is worth against those read on the page."""


@dataclass(frozen=True, slots=True, eq=False)
class Nearest:
    """Per cell (rows, columns) the best template and its lead.

    ``cells`` are indices of the templates; ``margin`` the log odds against the second best.
    """

    cells: NDArray[np.intp]
    margin: NDArray[np.float32]


def nearest_glyphs(
    page: NDArray[np.float32], shown: NDArray[np.bool_], templates: Templates
) -> Nearest:
    """The likeliest template of each cell of `page`, ink whose sides are whole cells.

    Where `shown` (the page's size) is false the picture says nothing, and nothing is compared.
    """
    ink = np.where(shown, page, 0).astype(np.float32)
    grid = page.shape[0] // templates.ink.shape[1], page.shape[1] // templates.ink.shape[2]
    cells = _first_reading(ink, shown, templates).reshape(grid)
    best, costs = np.empty((0, 0), np.intp), np.empty(0, np.float32)
    for number in range(PASSES):
        clean = draw(cells, templates)
        kernel = fit_kernel(clean, ink, shown)
        residual = np.where(shown, ink - blur(clean, kernel), 0).astype(np.float32)
        fitted = _Fitted(templates, kernel, residual, shown)
        if number < 2:  # the first kernel is learnt from common glyphs alone
            best = _candidates(ink, shown, blur(templates.ink, kernel), templates)
        energies = fitted.energies(cells.reshape(-1), best)
        noise = fitted.noise(cells.reshape(-1), best, energies)
        costs = noise.weight * energies + _prior(cells if number else None, templates)[best]
        cells = np.take_along_axis(best, costs.argmin(axis=1)[:, None], axis=1).reshape(grid)
    if templates.is_right.any():
        _mend_halves(cells, best, costs, templates)
    ordered = np.partition(costs, 1, axis=1)
    return Nearest(cells, (ordered[:, 1] - ordered[:, 0]).reshape(grid).astype(np.float32))


def _first_reading(
    ink: NDArray[np.float32], shown: NDArray[np.bool_], templates: Templates
) -> NDArray[np.intp]:
    """(cells,) the nearest of the common glyphs, enough to learn the page's blur from.

    Among all glyphs, a blur that is a little off turns every ``'`` into a ``¹``, and the blur
    learnt from that keeps it so.
    """
    common = np.flatnonzero(templates.common)
    few = templates.of(common)
    kernel = _first_kernel(ink, few)
    return np.asarray(common[_candidates(ink, shown, blur(few.ink, kernel), few)[:, 0]])


def _first_kernel(page: NDArray[np.float32], templates: Templates) -> NDArray[np.float32]:
    """The Gaussian blur under which a sample of cells comes nearest to glyphs."""
    windows = _windows(page, templates, 0)
    inked = np.flatnonzero(windows.mean(axis=1) > 0.05)
    if not inked.size:
        return gaussian(0)
    rng = np.random.default_rng(0)
    sample = windows[rng.choice(inked, min(400, inked.size), replace=False)]
    costs = {}
    for sigma in SIGMAS_PX:
        flat = blur(templates.ink, gaussian(sigma)).reshape(len(templates.ids), -1)
        costs[sigma] = float(_distances(sample, None, flat).min(axis=1).sum())
    return gaussian(min(costs, key=lambda sigma: costs[sigma]))


def _distances(
    windows: NDArray[np.float32], masks: NDArray[np.float32] | None, flat: NDArray[np.float32]
) -> NDArray[np.float32]:
    """(windows, templates) squared distance over what `masks` (1 or 0) leave; all for None."""
    squares = (flat**2).sum(axis=1) if masks is None else masks @ (flat**2).T
    own = (windows**2).sum(axis=1)[:, None]
    return np.asarray(own + squares - 2 * windows @ flat.T, np.float32)


def _candidates(
    page: NDArray[np.float32],
    shown: NDArray[np.bool_],
    ink: NDArray[np.float32],
    templates: Templates,
) -> NDArray[np.intp]:
    """(cells, CANDIDATES) indices of the templates that come nearest to each cell by itself.

    The nearest stands first; `ink` are the templates as blurred.
    """
    windows, masks = _windows(page, templates, 0), _masks(shown, templates, 0)
    flat = ink.reshape(len(ink), -1)
    most = min(CANDIDATES, len(ink))
    found = np.empty((len(windows), most), np.intp)
    for at in range(0, len(windows), CHUNK_CELLS):
        part = slice(at, at + CHUNK_CELLS)
        mask = None if masks[part].all() else masks[part]
        distance = _distances(windows[part], mask, flat)
        some = np.argpartition(distance, most - 1, axis=1)[:, :most]
        order = np.take_along_axis(distance, some, axis=1).argsort(axis=1, kind="stable")
        found[part] = np.take_along_axis(some, order, axis=1)
    return found


def _prior(cells: NDArray[np.intp] | None, templates: Templates) -> NDArray[np.float32]:
    """(templates,) minus the log of how often each is printed.

    By a rough guess, and by the page's reading so far.
    """
    common = templates.common
    share = RARE_SHARE if cells is None else float((~common[cells]).mean())
    share = min(max(share, RARE_SHARE / 10), 1 - RARE_SHARE)
    each = np.array([share / max((~common).sum(), 1), (1 - share) / max(common.sum(), 1)])
    counts = GUESS_CELLS * each[common.astype(np.intp)]
    if cells is not None:
        counts = counts + np.bincount(cells.reshape(-1), minlength=len(templates.ids))
    return np.asarray(-np.log(counts / counts.sum()), np.float32)


def _windows(page: NDArray[np.float32], templates: Templates, reach: int) -> NDArray[np.float32]:
    """(cells, pixels) the ink of each cell and of `reach` px around it."""
    _, height, width = templates.ink.shape
    padded = np.pad(page, reach)
    rows, columns = page.shape[0] // height, page.shape[1] // width
    view = np.lib.stride_tricks.sliding_window_view(
        padded, (height + 2 * reach, width + 2 * reach)
    )[::height, ::width]
    return np.ascontiguousarray(view).reshape(rows * columns, -1)


def _masks(shown: NDArray[np.bool_], templates: Templates, reach: int) -> NDArray[np.float32]:
    """:func:`_windows` of what is shown, as 1 and 0."""
    return _windows(shown.astype(np.float32), templates, reach)


@dataclass(frozen=True, slots=True, eq=False)
class _Fitted:
    """A page with its reading so far: ``residual`` is its ink minus the model's."""

    templates: Templates
    kernel: NDArray[np.float32]
    residual: NDArray[np.float32]
    shown: NDArray[np.bool_]

    def _flat(self) -> NDArray[np.float32]:
        """(templates, pixels) each as blurred, with REACH px around it."""
        sides = ((0, 0), (REACH, REACH), (REACH, REACH))
        return blur(np.pad(self.templates.ink, sides), self.kernel).reshape(
            len(self.templates.ids), -1
        )

    def energies(
        self, present: NDArray[np.intp], candidates: NDArray[np.intp]
    ) -> NDArray[np.float32]:
        """(cells, candidates) squared misfit of each in its cell, the neighbours as they are.

        Putting a candidate for the present glyph changes the residual by their difference.
        """
        flat = self._flat()
        windows = _windows(self.residual, self.templates, REACH)
        masks = _masks(self.shown, self.templates, REACH)
        out = np.empty(candidates.shape, np.float32)
        for at in range(0, len(windows), CHUNK_CELLS):
            part = slice(at, at + CHUNK_CELLS)
            mask = masks[part]
            own = (windows[part] + flat[present[part]]) * mask
            shown = flat[candidates[part]]
            cross = np.einsum("cp,ckp->ck", own, shown)
            squares = np.einsum("cp,ckp->ck", mask, shown**2)
            out[part] = (own**2).sum(axis=1)[:, None] - 2 * cross + squares
        return out

    def noise(
        self,
        present: NDArray[np.intp],
        candidates: NDArray[np.intp],
        energies: NDArray[np.float32],
    ) -> Noise:
        """The noise that the nearest candidates leave in cells with ink, where all of it is shown.

        Measured along the differences between the nearest two.
        """
        if candidates.shape[1] < 2:
            return Noise(HEAVIEST)
        flat = self._flat()
        two = np.take_along_axis(candidates, np.argpartition(energies, 1, axis=1)[:, :2], axis=1)
        whole = _masks(self.shown, self.templates, REACH).all(axis=1)
        inked = np.flatnonzero(self.templates.ink[two[:, 0]].any(axis=(1, 2)) & whole)
        if inked.size < 2:
            return Noise(HEAVIEST)
        some = np.random.default_rng(0).choice(inked, min(NOISE_CELLS, inked.size), replace=False)
        left = _windows(self.residual, self.templates, REACH)[some]
        left = left + flat[present[some]] - flat[two[some, 0]]
        other = np.random.default_rng(1).permutation(some)
        return measure_noise(left, flat[two[other, 0]] - flat[two[other, 1]])


def _mend_halves(
    cells: NDArray[np.intp],
    candidates: NDArray[np.intp],
    costs: NDArray[np.float32],
    templates: Templates,
) -> None:
    """Give each half of a wide glyph that stands alone in `cells` the cheapest pair that may stand.

    Writes to `cells`; the neighbours further off stay as they are.
    """
    columns = cells.shape[1]
    partner, is_right = templates.partner, templates.is_right
    left, right = cells[:, :-1], cells[:, 1:]
    alone = (partner[left] != right) & ((partner[left] >= 0) | is_right[right])
    for row, column in np.argwhere(alone).tolist():
        first = row * columns + column
        a, b = candidates[first], candidates[first + 1]
        pairs = partner[a][:, None] == b
        stand = pairs | ((partner[a][:, None] < 0) & ~is_right[b])
        cost = np.where(stand, costs[first][:, None] + costs[first + 1], np.inf)
        i, j = np.unravel_index(int(cost.argmin()), cost.shape)
        if np.isfinite(cost[i, j]):
            cells[row, column], cells[row, column + 1] = a[i], b[j]
