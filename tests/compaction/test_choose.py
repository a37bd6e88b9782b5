from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from snapcompact.compaction.modes.choose import (
    Code,
    ModeDecision,
    ModeInputs,
    ModeRules,
    PageForecast,
    choose_mode,
)
from snapcompact.compaction.modes.command import MODES
from snapcompact.errors import FocusRefusedError, UsageError

RULES = ModeRules(order=("remote", "snapcompact", "soft"))
CHEAP = PageForecast(pages=3, tokens=9000, text_tokens=40_000, bytes=300_000)


def chosen(inputs: ModeInputs, rules: ModeRules = RULES) -> ModeDecision:
    found = choose_mode(inputs, rules)
    assert found is not None
    return found


def codes(decision: ModeDecision) -> list[tuple[str, Code]]:
    return [(skip.mode, skip.code) for skip in decision.skipped]


def test_the_order_is_walked_and_each_skip_says_why() -> None:
    found = chosen(ModeInputs(reads_images=False))
    assert found.mode == "soft"
    assert codes(found) == [("remote", Code.NO_ENDPOINT), ("snapcompact", Code.TEXT_ONLY)]
    assert len(found.warnings) == 2


def test_snapcompact_runs_where_it_pays() -> None:
    found = chosen(ModeInputs(forecast=CHEAP))
    assert found.mode == "snapcompact"
    assert codes(found) == [("remote", Code.NO_ENDPOINT)]


@pytest.mark.parametrize(
    ("forecast", "code"),
    [
        (replace(CHEAP, unrenderable=0.06), Code.UNRENDERABLE),
        (replace(CHEAP, pages=81), Code.TOO_MANY_PAGES),
        (replace(CHEAP, image_cap=2), Code.TOO_MANY_PAGES),
        (replace(CHEAP, bytes=3_000_001), Code.TOO_MANY_BYTES),
        (replace(CHEAP, tokens=40_000), Code.NO_SAVING),
    ],
)
def test_what_stops_pages(forecast: PageForecast, code: Code) -> None:
    inputs = ModeInputs(asked="snapcompact", forecast=forecast)
    found = chosen(inputs)
    assert (found.mode, codes(found)) == ("soft", [("snapcompact", code)])
    with pytest.raises(UsageError, match="snapcompact cannot run"):
        choose_mode(inputs, replace(RULES, strict=True))


def test_snapcompact_by_name_with_focus_is_the_only_error() -> None:
    for inputs in (ModeInputs(focus="x"), ModeInputs(guidance="x")):
        with pytest.raises(FocusRefusedError):
            choose_mode(replace(inputs, asked="snapcompact"), RULES)
        found = chosen(replace(inputs, forecast=CHEAP))
        assert found.mode == "soft"
        assert ("snapcompact", Code.FOCUS) in codes(found)
        assert not any("snapcompact" in warning for warning in found.warnings)


def test_remote_falls_to_soft_and_offline_forbids_it() -> None:
    assert chosen(ModeInputs(asked="remote", native_remote=True)).mode == "remote"
    assert chosen(ModeInputs(asked="remote", remote_endpoint=True)).mode == "remote"
    found = chosen(ModeInputs(asked="remote"))
    assert (found.mode, codes(found)) == ("soft", [("remote", Code.NO_ENDPOINT)])
    found = chosen(ModeInputs(asked="remote", native_remote=True), replace(RULES, offline=True))
    assert (found.mode, codes(found)) == ("soft", [("remote", Code.OFFLINE)])


def test_soft_without_a_model_is_an_extract() -> None:
    assert chosen(ModeInputs(asked="soft", has_model=False)).extract
    assert not chosen(ModeInputs(asked="soft")).extract


def test_off_runs_nothing_by_itself() -> None:
    off = ModeRules(order=())
    assert choose_mode(ModeInputs(automatic=True), off) is None
    with pytest.raises(UsageError, match="by hand"):
        choose_mode(ModeInputs(), off)
    with pytest.raises(UsageError, match="by hand"):
        choose_mode(ModeInputs(), ModeRules(order=("shake", "handoff")))


def test_a_handoff_needs_room() -> None:
    rules = ModeRules(order=("handoff",))
    for reason, mode in (("overflow", "soft"), ("mid-turn", "soft"), ("incomplete", "handoff")):
        assert chosen(ModeInputs(automatic=True, reason=reason), rules).mode == mode


@given(
    order=st.lists(st.sampled_from(sorted(MODES)), max_size=6).map(tuple),
    reads=st.booleans(),
    native=st.booleans(),
    focus=st.sampled_from([None, "x"]),
    automatic=st.booleans(),
)
def test_every_mode_before_the_chosen_has_its_reason(
    order: tuple[str, ...],
    reads: bool,
    native: bool,
    focus: str | None,
    automatic: bool,
) -> None:
    inputs = ModeInputs(
        focus=focus, reads_images=reads, native_remote=native, automatic=automatic, forecast=CHEAP
    )
    by_hand = [mode for mode in dict.fromkeys(order) if automatic or MODES[mode].by_hand]
    if not by_hand:
        return
    found = chosen(inputs, ModeRules(order=order))
    walked = [skip.mode for skip in found.skipped]
    expected = [*by_hand, "soft"]
    assert walked == expected[: expected.index(found.mode)]
    assert all(skip.reason for skip in found.skipped)


def test_reasons_name_the_price_of_pages_and_what_limits_them() -> None:
    def reason(forecast: PageForecast) -> str:
        found = chosen(ModeInputs(asked="snapcompact", forecast=forecast))
        return found.skipped[0].reason

    dear = replace(CHEAP, tokens=40_000, text_tokens=300)
    assert reason(dear) == "pages would cost 40000 tokens, the text costs 300"
    tight = replace(CHEAP, left_out=2, room=900)
    assert "the window leaves 900 tokens" in reason(tight)
    small = replace(tight, must_shrink=True)
    assert "smaller than what they replace they may take 900 tokens" in reason(small)
    assert "window" not in reason(small)
