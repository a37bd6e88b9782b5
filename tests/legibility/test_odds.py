from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from snapcompact.legibility.odds import no_odds, odds


def drawn(
    windows: np.ndarray, truth: np.ndarray, known: np.ndarray, prior: np.ndarray, noise: float
) -> np.ndarray:
    """The slow, obvious twin: add noise many times, and take the likeliest template each time."""
    random = np.random.default_rng(1)
    wrong = np.zeros(truth.size)
    tries = 3000
    for _ in range(tries):
        seen = windows + random.normal(0, noise, windows.shape)
        apart = ((seen[:, None] - known[None]) ** 2).sum(axis=2)
        wrong += (apart - 2 * noise**2 * np.log(prior)).argmin(axis=1) != truth
    return wrong / tries


@pytest.mark.parametrize("noise", [0.3, 0.5, 0.8])
def test_rates_are_those_of_decoding_many_times(noise: float) -> None:
    random = np.random.default_rng(0)
    known = (random.random((12, 30)) < 0.4).astype(np.float32)
    known[1] = known[0]
    known[1, :3] = 1 - known[1, :3]  # a near twin
    truth = np.arange(12).repeat(2)
    windows = known[truth] + random.normal(0, 0.05, (24, 30)).astype(np.float32)
    prior = np.linspace(1, 0.2, 12).astype(np.float32)
    found = odds(windows, truth, known, prior, np.full(24, noise, np.float32)).rates
    expected = drawn(windows, truth, known, prior, noise)
    # Chances are taken as independent, which errs towards more errors where they are many.
    assert (found >= expected - 0.03).all()
    assert (found <= 1.45 * expected + 0.03).all()


@settings(deadline=None, max_examples=50)
@given(st.integers(0, 999))
def test_without_noise_the_nearest_is_taken(seed: int) -> None:
    random = np.random.default_rng(seed)
    known = random.random((9, 20)).astype(np.float32)
    truth = random.integers(9, size=40)
    windows = known[truth] + random.normal(0, 0.4, (40, 20)).astype(np.float32)
    apart = ((windows[:, None] - known[None]) ** 2).sum(axis=2)
    prior = random.random(9).astype(np.float32) + 0.01
    found = odds(windows, truth, known, prior, np.zeros(40, np.float32))
    assert np.allclose(found.rates, apart.argmin(axis=1) != truth, atol=1e-3)


def test_rates_far_below_what_can_be_drawn_are_told_apart() -> None:
    known = np.zeros((2, 16), np.float32)
    known[1] = 1
    rates = [
        float(odds(known[:1], np.array([0]), known, np.ones(2, np.float32), noise).rates[0])
        for noise in (np.array([level], np.float32) for level in (0.15, 0.2, 0.3))
    ]
    # Half the distance, 2, is 2 / noise standard deviations away.
    expected = [7.3e-41, 7.6e-24, 1.3e-11]
    assert rates[1:] == pytest.approx(expected[1:], abs=1e-11)
    assert rates[0] <= rates[1] <= rates[2]


def test_no_cells_have_no_odds() -> None:
    known = np.eye(3, dtype=np.float32)
    nothing = np.empty((0, 3), np.float32)
    prior = np.ones(3, np.float32)
    found = odds(nothing, np.empty(0, np.intp), known, prior, np.empty(0, np.float32))
    assert found.rates.shape == no_odds(0, 3).rates.shape == (0,)
