"""A page as read so far beside what the picture shows: how well other glyphs would fit each place.

A *place* is one cell, or two side by side for wide glyphs, of which only those of a row that can
hold one are places: (rows, columns - span + 1), flat in reading order.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from snapcompact.readback.optics import Phases, fit_taps
from snapcompact.readback.templates import draw
from snapcompact_kernels.spread import lowest, spread_glyphs, spread_one, squared_misfits

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from snapcompact.readback.templates import Templates

REACH = 2
"""Pixels around a cell where its blurred ink still shows."""
CHUNK_CELLS = 2048
CHUNK_FLOATS = 1 << 23
"""Distances held at once."""


@dataclass(frozen=True, slots=True, eq=False)
class Picture:
    """What is seen: ``ink`` (height, width), 0 where ``shown`` (the same size) is false."""

    ink: NDArray[np.float32]
    shown: NDArray[np.bool_]
    phases: Phases
    templates: Templates

    @property
    def grid(self) -> tuple[int, int]:
        """Rows and columns of cells."""
        _, height, width = self.templates.ink.shape
        return self.ink.shape[0] // height, self.ink.shape[1] // width


@dataclass(frozen=True, slots=True, eq=False)
class Fitted:
    """``cells`` (rows, columns) of templates as read so far; ``residual`` is ink minus theirs."""

    picture: Picture
    cells: NDArray[np.intp]
    taps: NDArray[np.float32]
    residual: NDArray[np.float32]

    def candidates(self, glyphs: Glyphs, most: int) -> NDArray[np.int64]:
        """(places, up to `most`) which of `glyphs` come nearest, the nearest first.

        Inside the place, what the neighbours bleed in taken off, and one blur for all phases.
        """
        phases = self.picture.phases
        used = self.taps[np.ix_(np.unique(phases.y), np.unique(phases.x))]
        mean = np.ascontiguousarray(used.mean(axis=(0, 1), keepdims=True), np.float32)
        all_of = np.arange(len(glyphs.inks))
        nothing = np.zeros((len(all_of), 1), np.int64)
        inner = np.flatnonzero(self._inner(glyphs.span))
        flat = _spread(glyphs.inks, all_of, mean, nothing, nothing)[:, inner]
        squares = flat**2
        flat = np.ascontiguousarray(-2 * flat.T)
        out = np.empty((self._places(glyphs.span), min(most, len(squares))), np.int64)
        for part, own, shown in self._own(glyphs.span, max(64, CHUNK_FLOATS // len(squares))):
            costs = own[:, inner] @ flat
            costs += squares.sum(axis=1) if shown.all() else shown[:, inner] @ squares.T
            lowest(costs, out[part])
        return out

    def gains(self, glyphs: Glyphs, candidates: NDArray[np.int64]) -> NDArray[np.float32]:
        """(places, candidates) by how much the squared misfit falls (negative) or rises.

        When a candidate is put for what is read at its place now, the neighbours staying.
        """
        out = np.empty(candidates.shape, np.float32)
        at_present = self._windows(self.residual, glyphs.span)
        for part, own, shown in self._own(glyphs.span, CHUNK_CELLS):
            table, entries = self._shown_as(glyphs, part, candidates[part])
            squared_misfits(own, shown, table, entries, out[part])
            out[part] -= ((at_present[part] * shown) ** 2).sum(axis=1)[:, None]
        return out

    def alone(self, glyphs: Glyphs, most: int) -> NDArray[np.int64]:
        """(cells,) which of `glyphs` each single cell is likest, whatever its neighbours are."""
        near = self.candidates(glyphs, most)
        inner = self._inner(1).astype(np.float32)
        misfits = np.empty(near.shape, np.float32)
        for part, own, shown in self._own(1, CHUNK_CELLS):
            table, entries = self._shown_as(glyphs, part, near[part])
            squared_misfits(own, shown * inner, table, entries, misfits[part])
        return np.take_along_axis(near, misfits.argmin(axis=1)[:, None], axis=1)[:, 0]

    def differences(
        self, glyphs: Glyphs, places: NDArray[np.intp], one: NDArray[np.intp], two: NDArray[np.intp]
    ) -> NDArray[np.float32]:
        """(places, pixels) what glyph `one` shows at each of the single cells less glyph `two`."""
        table, entries = self._shown_as(glyphs, places, np.stack([one, two], axis=1))
        return np.asarray(table[entries[:, 0]] - table[entries[:, 1]])

    def residuals(self, places: NDArray[np.intp]) -> NDArray[np.float32]:
        """(places, pixels) the residual in and around single cells."""
        return self._windows(self.residual, 1)[places]

    def whole(self) -> NDArray[np.bool_]:
        """(cells,) which single cells are shown with all around them."""
        shown = self.picture.shown
        if shown.all():
            inside = np.zeros(self.picture.grid, np.bool_)
            inside[1:-1, 1:-1] = True
            return inside.reshape(-1)
        return np.asarray(self._windows(shown.astype(np.float32), 1).all(axis=1))

    def _inner(self, span: int) -> NDArray[np.bool_]:
        """(pixels,) which of those around a place lie in it."""
        _, height, width = self.picture.templates.ink.shape
        inner = np.ones((height, width * span), np.bool_)
        return np.pad(inner, REACH).reshape(-1)

    def _places(self, span: int) -> int:
        rows, columns = self.picture.grid
        return rows * max(columns - span + 1, 0)

    def _own(
        self, span: int, chunk: int
    ) -> Iterator[tuple[slice, NDArray[np.float32], NDArray[np.float32]]]:
        """Pieces of the places: what is seen of each without its neighbours, and what is shown."""
        residual = self._windows(self.residual, span)
        all_shown = bool(self.picture.shown.all())
        masks = None if all_shown else self._windows(self.picture.shown.astype(np.float32), span)
        present = self._present(span)
        for at in range(0, len(residual), chunk):
            part = slice(at, min(at + chunk, len(residual)))
            glyphs, which = present
            table, entries = self._shown_as(glyphs, part, which[part][:, None])
            mask = np.ones_like(residual[part]) if masks is None else masks[part]
            yield part, (residual[part] + table[entries[:, 0]]) * mask, mask

    def _present(self, span: int) -> tuple[Glyphs, NDArray[np.int64]]:
        """What is read at each place now, as glyphs of `span` cells and which of them it is."""
        ink = self.picture.templates.ink
        if span == 1:
            return Glyphs(ink, 1), self.cells.reshape(-1)
        pairs = np.stack([self.cells[:, :-1].reshape(-1), self.cells[:, 1:].reshape(-1)], axis=1)
        kinds, which = np.unique(pairs, axis=0, return_inverse=True)
        return Glyphs(np.concatenate([ink[kinds[:, 0]], ink[kinds[:, 1]]], axis=2), 2), which

    def _shown_as(
        self, glyphs: Glyphs, part: slice | NDArray[np.intp], which: NDArray[np.int64]
    ) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
        """A table of how glyphs look, and the row of it for each of `which` (places of `part`, n).

        A glyph stands in it once for each set of phases it is met at.
        """
        _, height, width = self.picture.templates.ink.shape
        rows, columns = self.picture.grid
        kinds_y, kind_y = _kinds(self.picture.phases.y, rows, height, height)
        kinds_x, kind_x = _kinds(
            self.picture.phases.x, columns - glyphs.span + 1, width, width * glyphs.span
        )
        kind = (kind_y[:, None] * len(kinds_x) + kind_x).reshape(-1)[part]
        keys = kind[:, None] * len(glyphs.inks) + which
        used, entries = np.unique(keys, return_inverse=True)
        kind_of, glyph = np.divmod(used, len(glyphs.inks))
        table = _spread(
            glyphs.inks, glyph, self.taps,
            kinds_y[kind_of // len(kinds_x)], kinds_x[kind_of % len(kinds_x)],
        )  # fmt: skip
        return table, entries.reshape(which.shape)

    def _windows(self, page: NDArray[np.float32], span: int) -> NDArray[np.float32]:
        """(places, pixels) the part of `page` in each place and REACH px around it."""
        _, height, width = self.picture.templates.ink.shape
        size = height + 2 * REACH, width * span + 2 * REACH
        view = np.lib.stride_tricks.sliding_window_view(np.pad(page, REACH), size)
        part = view[::height, ::width][:, : self.picture.grid[1] - span + 1]
        return np.ascontiguousarray(part).reshape(-1, size[0] * size[1])


@dataclass(frozen=True, slots=True, eq=False)
class Glyphs:
    """Bitmaps ``inks`` (n, height, width of ``span`` cells) uint8."""

    inks: NDArray[np.uint8]
    span: int


def fit(
    picture: Picture, cells: NDArray[np.intp], taps: NDArray[np.float32] | None = None
) -> Fitted:
    """`cells` (rows, columns), indices of the picture's templates, fitted to the picture.

    By the blur `taps`; None finds it.
    """
    clean = draw(cells, picture.templates)
    if taps is None:
        taps = fit_taps(clean, picture.ink, picture.shown, picture.phases)
    model = np.zeros_like(picture.ink)
    spread_one(clean, taps, picture.phases.y, picture.phases.x, 0, model)
    residual = np.where(picture.shown, picture.ink - model, np.float32(0))
    return Fitted(picture, cells, taps, residual)


def _kinds(
    phases: NDArray[np.int64], count: int, step: int, length: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The sets of phases (kinds, pixels) that places have along one side, and which each has."""
    padded = np.pad(phases, REACH, mode="edge")
    view = np.lib.stride_tricks.sliding_window_view(padded, length + 2 * REACH)[::step][:count]
    kinds, which = np.unique(view, axis=0, return_inverse=True)
    return kinds, which.reshape(-1)


def _spread(
    inks: NDArray[np.uint8],
    glyphs: NDArray[np.int64],
    taps: NDArray[np.float32],
    phases_y: NDArray[np.int64],
    phases_x: NDArray[np.int64],
) -> NDArray[np.float32]:
    """(glyphs, pixels) each with REACH px around it, flat."""
    height, width = inks.shape[1] + 2 * REACH, inks.shape[2] + 2 * REACH
    out = np.zeros((len(glyphs), height, width), np.float32)
    spread_glyphs(
        inks, glyphs, taps,
        np.ascontiguousarray(np.broadcast_to(phases_y, (len(glyphs), height))),
        np.ascontiguousarray(np.broadcast_to(phases_x, (len(glyphs), width))),
        REACH, out,
    )  # fmt: skip
    return out.reshape(len(glyphs), height * width)
