"""Blur by phase and nearest glyphs against their slow twins."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from snapcompact_kernels import spread
from tests.reference import spread as slow

SEEDS = st.integers(0, 2**32 - 1)


@settings(max_examples=25, deadline=None)
@given(SEEDS, st.integers(1, 6), st.integers(1, 9), st.integers(0, 3), st.sampled_from([1, 3, 5]))
def test_ink_is_spread_as_by_the_twin(
    seed: int, height: int, width: int, border: int, side: int
) -> None:
    rng = np.random.default_rng(seed)
    inks = (rng.random((3, height, width)) < 0.4).astype(np.uint8)
    taps = rng.standard_normal((2, 3, side, side)).astype(np.float32)
    glyphs = rng.integers(0, 3, 4)
    phases_y = rng.integers(0, 2, (4, height + 2 * border))
    phases_x = rng.integers(0, 3, (4, width + 2 * border))
    out = np.zeros((4, height + 2 * border, width + 2 * border), np.float32)
    spread.spread_glyphs(inks, glyphs, taps, phases_y, phases_x, border, out)
    one = np.zeros_like(out[0])
    spread.spread_one(inks[glyphs[0]], taps, phases_y[0], phases_x[0], border, one)
    assert (one == out[0]).all()
    for i, glyph in enumerate(glyphs.tolist()):
        twin = slow.spread_one(inks[glyph], taps, phases_y[i], phases_x[i], border)
        assert out[i] == pytest.approx(twin, abs=1e-5)


@settings(max_examples=25, deadline=None)
@given(SEEDS, st.integers(1, 5), st.integers(1, 4), st.integers(1, 19))
def test_misfits_are_those_of_the_twin(seed: int, cells: int, most: int, pixels: int) -> None:
    rng = np.random.default_rng(seed)
    seen = rng.random((cells, pixels), np.float32)
    shown = (rng.random((cells, pixels)) < 0.7).astype(np.float32)
    table = rng.random((7, pixels), np.float32)
    entries = rng.integers(0, 7, (cells, most))
    out = np.empty((cells, most), np.float32)
    spread.squared_misfits(seen, shown, table, entries, out)
    assert out == pytest.approx(slow.squared_misfits(seen, shown, table, entries), abs=1e-5)


@settings(max_examples=50, deadline=None)
@given(SEEDS, st.integers(1, 30), st.data())
def test_the_lowest_are_those_of_a_stable_sort(seed: int, count: int, data: st.DataObject) -> None:
    some = data.draw(st.integers(1, count))
    costs = np.random.default_rng(seed).integers(0, 6, (3, count)).astype(np.float32)
    out = np.empty((3, some), np.int64)
    spread.lowest(costs, out)
    assert (out == slow.lowest(costs, some)).all()
