from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from snapcompact.legibility.downscale import FILTERS, blurred, scale_matrix, scaled
from snapcompact.legibility.templates import PHASES, axis, templates, windows


@settings(deadline=None, max_examples=150)
@given(
    st.tuples(st.integers(4, 12), st.integers(6, 18)),
    st.tuples(st.integers(0, 4), st.integers(0, 4)),
    st.floats(0.4, 1),
    st.sampled_from([0.0, 0.65, 1.3]),
    st.sampled_from(sorted(FILTERS)),
    st.integers(0, 99),
)
def test_a_template_is_what_a_lone_glyph_looks_like(
    pitch: tuple[int, int],
    place: tuple[int, int],
    scale: float,
    blur_px: float,
    how: str,
    seed: int,
) -> None:
    width, height = pitch
    glyph = (np.random.default_rng(seed).random((1, height, width)) < 0.4).astype(np.float32)
    page = np.zeros((5 * height, 5 * width), np.float32)
    row, column = place
    page[row * height : (row + 1) * height, column * width : (column + 1) * width] = glyph[0]
    sizes = [(side, max(2, round(side * scale))) for side in page.shape]
    matrices = [scale_matrix(before, after, how) for before, after in sizes]
    down = axis(matrices[0], blur_px, height, 5)
    across = axis(matrices[1], blur_px, width, 5)
    seen = blurred(scaled(page, matrices[0], matrices[1]), blur_px)
    room = ((0, height), (0, width))
    at = tuple(np.array([index]) for index in (0, row, column))
    window = windows(np.pad(seen, room)[None], down, across, (at[0], at[1], at[2]))
    expected = templates(glyph, down.lens(row), across.lens(column))
    assert np.abs(window - expected).max() < 1e-4


@given(st.integers(2, 20), st.integers(2, 60), st.floats(0.3, 1))
def test_windows_hold_their_cells(pitch: int, cells: int, scale: float) -> None:
    before = pitch * cells
    after = max(2, round(before * scale))
    line = axis(scale_matrix(before, after, "area"), 0, pitch, cells)
    edges = np.arange(cells) * pitch * after / before
    assert (np.abs(line.starts - edges) <= 0.5 + 1e-9).all()
    assert (np.abs(line.phases) <= PHASES // 2).all()
    for phase in set(line.phases.tolist()):
        assert line.phases[line.middle(phase)] == phase
