from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from snapcompact.compaction.policy import preset
from snapcompact.compaction.trigger import (
    Pressure,
    TriggerRules,
    context_budget,
    keep_budget,
    pressure,
    resolve_reserve,
    resolve_threshold,
    should_compact,
)

RULES = preset().trigger
WINDOWS = st.integers(1, 2_000_000)


@given(window=WINDOWS, tokens=st.integers(0, 3_000_000), output=st.integers(0, 100_000))
def test_a_threshold_leaves_room_and_is_strict(window: int, tokens: int, output: int) -> None:
    threshold = resolve_threshold(RULES, window, output)
    assert 0 <= threshold.tokens < window
    assert 1 <= threshold.budget_reserve <= window
    assert should_compact(RULES, tokens, window, output) == (tokens > threshold.tokens)


@given(tokens=st.integers(0, 3_000_000), window=st.integers(-5, 0))
def test_an_unknown_window_never_compacts_by_itself(tokens: int, window: int) -> None:
    assert not should_compact(RULES, tokens, window)


@given(tokens=st.integers(), window=st.integers())
def test_the_off_switch_holds(tokens: int, window: int) -> None:
    assert not should_compact(replace(RULES, enabled=False), tokens, window)


@given(window=WINDOWS, given_reserve=st.integers(1, 2_000_000))
def test_an_explicit_reserve_is_honoured_where_it_is_possible(
    window: int, given_reserve: int
) -> None:
    used = resolve_reserve(replace(RULES, reserve_tokens=given_reserve), window)[1]
    assert used == given_reserve if given_reserve < window else used == max(1, window * 15 // 100)


def test_unset_is_not_the_default_given_explicitly() -> None:
    assert resolve_threshold(RULES, 18000).tokens == 15300
    assert resolve_threshold(replace(RULES, reserve_tokens=16384), 18000).tokens == 1616


def test_a_small_model_answer_lowers_an_unset_reserve() -> None:
    assert resolve_reserve(RULES, 200_000, 4096)[0] == 4096
    assert resolve_reserve(replace(RULES, reserve_tokens=20_000), 200_000, 4096)[0] == 20_000


@pytest.mark.parametrize(
    ("rules", "threshold"),
    [
        (TriggerRules(threshold_tokens=50_000, threshold_percent=10), 50_000),
        (TriggerRules(threshold_percent=80, threshold_ratio=0.5), 160_000),
        (TriggerRules(threshold_ratio=0.5), 90_000),
        (TriggerRules(threshold_ratio=0.5, max_tokens=8000), 8000),
        (TriggerRules(), 170_000),
    ],
)
def test_tokens_beat_percent_beats_ratio_beats_reserve(rules: TriggerRules, threshold: int) -> None:
    assert resolve_threshold(rules, 200_000).tokens == threshold


@given(window=WINDOWS, tokens=st.integers(0, 3_000_000))
def test_pressure_never_falls_as_tokens_grow(window: int, tokens: int) -> None:
    budget = context_budget(RULES, window, 0.5, 2000)
    levels = list(Pressure)
    assert levels.index(pressure(tokens, budget)) <= levels.index(pressure(tokens + 1, budget))


@given(window=WINDOWS)
def test_the_default_keep_budget_fits_the_window(window: int) -> None:
    keep = keep_budget(RULES, window)
    assert keep <= max(RULES.keep_min, window // 4)
    assert keep <= RULES.keep_tokens


@pytest.mark.parametrize("name", ["default", "pi", "pi-old", "oh-my-pi"])
def test_no_policy_walks_into_the_traps_of_small_windows(name: str) -> None:
    """Recorded of pi: a window of 0, or one smaller than the reserve, compacts even nothing."""
    rules = replace(preset(name).trigger, reserve_tokens=16384)
    assert not should_compact(rules, 1, 0)
    assert not should_compact(rules, 0, 8192)
    assert should_compact(rules, 8192, 8192)
