from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from snapcompact.legibility.downscale import FILTERS, blurred, jpeg, scale_matrix, scaled

sides = st.integers(4, 90)
ways = st.sampled_from(sorted(FILTERS))


def noise(height: int, width: int) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
    return np.random.default_rng(height * 100 + width).random((height, width), np.float32)


@settings(deadline=None)
@given(sides, sides, st.floats(0.3, 1), ways)
def test_scaling_is_pillows(height: int, width: int, scale: float, how: str) -> None:
    ink = noise(height, width)
    after = max(1, round(width * scale)), max(1, round(height * scale))
    ours = scaled(ink, scale_matrix(height, after[1], how), scale_matrix(width, after[0], how))
    theirs = Image.fromarray(ink).resize(after, Image.Resampling[FILTERS[how]])
    assert np.abs(ours - np.asarray(theirs)).max() < 1e-5


@given(st.integers(1, 30), st.integers(1, 5))
def test_area_is_the_mean_of_the_pixels_covered(after: int, factor: int) -> None:
    matrix = scale_matrix(after * factor, after, "area")
    expected = np.repeat(np.eye(after), factor, axis=1) / factor
    assert np.allclose(matrix, expected, atol=1e-6)


@given(sides, sides, st.floats(0, 2))
def test_blur_keeps_the_ink_that_stays_on_the_page(
    height: int, width: int, sigma_px: float
) -> None:
    ink = np.zeros((height + 40, width + 40), np.float32)
    ink[20:-20, 20:-20] = noise(height, width)
    seen = blurred(ink, sigma_px)
    assert seen.sum() == pytest.approx(float(ink.sum()), rel=1e-4)
    assert seen.max() <= ink.max() + 1e-5


def test_no_blur_changes_nothing() -> None:
    assert np.array_equal(blurred(noise(9, 7), 0), noise(9, 7))


def test_a_worse_jpeg_is_further_from_the_page() -> None:
    ink = (noise(64, 64) > 0.7).astype(np.float32)
    errors = [float(((jpeg(ink, quality) - ink) ** 2).mean()) for quality in (95, 60, 30, 10)]
    assert errors == sorted(errors)
    assert errors[0] < 0.01 < errors[-1]
