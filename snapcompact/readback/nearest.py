"""The most likely glyph of every cell of a straightened page, and by what odds.

First each cell by itself, under a Gaussian blur; then again under the blur that the page itself
shows, with what the neighbours' glyphs bleed into the cell taken off (iterated conditional modes).
Wide glyphs are matched over both their cells.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from snapcompact.readback.fitted import Fitted, Glyphs, Picture, fit
from snapcompact.readback.noise import HEAVIEST, Noise, measure_noise
from snapcompact.readback.optics import Phases
from snapcompact.readback.pairs import Choice, choose
from snapcompact.readback.templates import Templates, blur, gaussian
from snapcompact_kernels.spread import lowest

if TYPE_CHECKING:
    from numpy.typing import NDArray

CANDIDATES = 12
"""Glyphs a place that are looked at closely."""
PASSES = 3
_BLANK = 32
SIGMAS_PX = (0.0, 0.8, 1.2)
CHUNK_CELLS = 2048
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
    page: NDArray[np.float32],
    shown: NDArray[np.bool_],
    templates: Templates,
    phases: Phases | None = None,
    taps: NDArray[np.float32] | None = None,
) -> Nearest:
    """The likeliest template of each cell of `page`, ink whose sides are whole cells.

    Where `shown` (the page's size) is false the picture says nothing, and nothing is compared.
    `phases` are those of the page's pixels on the picture, None where all are alike; `taps` is a
    guess at their blur.
    """
    ink = np.where(shown, page, 0).astype(np.float32)
    picture = Picture(ink, shown, phases or Phases.alike(*page.shape), templates)
    singles = np.flatnonzero(~templates.is_right & (templates.partner < 0))
    lefts = np.flatnonzero(templates.partner >= 0)
    narrow = Glyphs(templates.ink[singles], 1)
    wide = Glyphs(
        np.concatenate([templates.ink[lefts], templates.ink[templates.partner[lefts]]], axis=2), 2
    )
    if taps is None:
        cells = _first_reading(ink, templates).reshape(picture.grid)
    else:
        cells, taps = _first_scaled(picture, taps)
    for number in range(PASSES):
        fitted = fit(picture, cells, taps if number == 0 else None)
        if number < 2:  # the first blur is learnt from common glyphs alone
            near = fitted.candidates(narrow, CANDIDATES)
            near_wide = fitted.candidates(wide, CANDIDATES) if lefts.size else None
        gains = fitted.gains(narrow, near)
        gains_wide = None if near_wide is None else fitted.gains(wide, near_wide)
        ids, ids_wide = singles[near], None if near_wide is None else lefts[near_wide]
        tentative = _chosen(picture, ids, gains, ids_wide, gains_wide)
        weight = _noise(fitted, tentative.cells, ids, gains).weight
        prior = _prior(cells if number else None, templates)
        chosen = _chosen(
            picture, ids, weight * gains + prior[ids], ids_wide,
            None if gains_wide is None else weight * gains_wide + prior[ids_wide],
        )  # fmt: skip
        cells = chosen.cells
    return Nearest(cells, chosen.margin)


def _chosen(
    picture: Picture,
    ids: NDArray[np.intp],
    costs: NDArray[np.float32],
    ids_wide: NDArray[np.intp] | None,
    costs_wide: NDArray[np.float32] | None,
) -> Choice:
    return choose(picture.grid, picture.templates.partner, ids, costs, ids_wide, costs_wide)


def _first_reading(ink: NDArray[np.float32], templates: Templates) -> NDArray[np.intp]:
    """(cells,) the nearest of the common glyphs, enough to learn the page's blur from.

    Among all glyphs, a blur that is a little off turns every ``'`` into a ``¹``, and the blur
    learnt from that keeps it so.
    """
    common = np.flatnonzero(templates.common)
    inks = templates.ink[common].astype(np.float32)
    _, height, width = inks.shape
    cells = ink.reshape(ink.shape[0] // height, height, ink.shape[1] // width, width)
    windows = cells.transpose(0, 2, 1, 3).reshape(-1, height * width)
    flat = blur(inks, _first_kernel(windows, inks)).reshape(len(inks), -1)
    nearest = np.empty((len(windows), 1), np.int64)
    for at in range(0, len(windows), CHUNK_CELLS):
        part = slice(at, at + CHUNK_CELLS)
        lowest((flat**2).sum(axis=1) - 2 * windows[part] @ flat.T, nearest[part])
    return np.asarray(common[nearest[:, 0]])


def _first_scaled(
    picture: Picture, taps: NDArray[np.float32]
) -> tuple[NDArray[np.intp], NDArray[np.float32]]:
    """(rows, columns) the nearest of the common glyphs under the blur `taps`, and those adjusted.

    Ink of a picture made smaller is paler than black, which is where its levels were taken from;
    how much paler is learnt from a first reading.
    """
    common = np.flatnonzero(picture.templates.common)
    glyphs = Glyphs(picture.templates.ink[common], 1)
    blank = np.full(picture.grid, np.flatnonzero(picture.templates.ids == _BLANK)[0])
    cells = common[fit(picture, blank, taps).alone(glyphs, CANDIDATES)].reshape(picture.grid)
    model = picture.ink - fit(picture, cells, taps).residual
    gain = float((model * picture.ink).sum() / max(float((model**2).sum()), 1e-6))
    taps = (gain * taps).astype(np.float32)
    cells = common[fit(picture, blank, taps).alone(glyphs, CANDIDATES)].reshape(picture.grid)
    return cells, taps


def _first_kernel(windows: NDArray[np.float32], inks: NDArray[np.float32]) -> NDArray[np.float32]:
    """The Gaussian blur under which a sample of cells comes nearest to glyphs."""
    inked = np.flatnonzero(windows.mean(axis=1) > 0.05)
    if not inked.size:
        return gaussian(0)
    rng = np.random.default_rng(0)
    sample = windows[rng.choice(inked, min(400, inked.size), replace=False)]
    costs = {}
    for sigma in SIGMAS_PX:
        flat = blur(inks, gaussian(sigma)).reshape(len(inks), -1)
        costs[sigma] = float(((flat**2).sum(axis=1) - 2 * sample @ flat.T).min(axis=1).sum())
    return gaussian(min(costs, key=lambda sigma: costs[sigma]))


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


def _noise(
    fitted: Fitted,
    tentative: NDArray[np.intp],
    ids: NDArray[np.intp],
    gains: NDArray[np.float32],
) -> Noise:
    """The noise that the nearest glyphs leave in cells with ink, where all of it is shown.

    Measured along the differences between the nearest and another.
    """
    best = tentative.reshape(-1)
    rival_gains = np.where(ids == best[:, None], np.inf, gains)
    rivals = ids[np.arange(len(ids)), rival_gains.argmin(axis=1)]
    has_ink = np.asarray(fitted.picture.templates.ink.any(axis=(1, 2)))
    inked = has_ink[best] & fitted.whole()
    inked &= np.isfinite(rival_gains).any(axis=1)
    places = np.flatnonzero(inked)
    if places.size < 2:
        return Noise(HEAVIEST)
    some = np.random.default_rng(0).choice(places, min(NOISE_CELLS, places.size), replace=False)
    halves = Glyphs(fitted.picture.templates.ink, 1)
    present = fitted.cells.reshape(-1)
    left = fitted.residuals(some) + fitted.differences(halves, some, present[some], best[some])
    other = np.random.default_rng(1).permutation(some)
    return measure_noise(left, fitted.differences(halves, other, best[other], rivals[other]))
