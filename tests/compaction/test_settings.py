from __future__ import annotations

import pytest

from snapcompact.compaction.policy import preset, preset_names
from snapcompact.compaction.settings import ALIASES, Settings, Source, resolve_settings
from snapcompact.errors import UnknownNameError, UsageError


def resolved(*texts: str) -> Settings:
    return resolve_settings([Source(f"file{n}", text) for n, text in enumerate(texts)])


def test_nothing_given_is_the_default_policy() -> None:
    found = resolved()
    assert found.policy == preset()
    assert found.values["trigger.keep_tokens"].source == "policy default"


def test_later_files_win_and_each_value_names_its_source() -> None:
    found = resolved(
        "[compaction]\nreserveTokens = 1000\nkeepRecentTokens = 5000\n", "reserveTokens = 2000\n"
    )
    assert found.policy.trigger.reserve_tokens == 2000
    assert found.values["trigger.reserve_tokens"].source == "file1"
    assert found.values["trigger.keep_tokens"].source == "file0"
    assert found.value("keepRecentTokens") == 5000


def test_our_own_names_and_a_preset() -> None:
    found = resolved('policy = "pi"\n[trigger]\nkeep_tokens = 7\n[modes]\noffline = true\n')
    assert found.policy.name == "pi"
    assert found.policy.trigger.keep_tokens == 7
    assert found.policy.modes.offline
    assert found.values["cut.landing"].source == "policy pi"


@pytest.mark.parametrize(
    ("text", "order"),
    [
        ('strategy = "context-full"', ("soft",)),
        ('strategy = "snapcompact"', ("snapcompact",)),
        ('methodOrder = ["remote", "nope", "soft", "soft"]', ("remote", "soft")),
    ],
)
def test_strategy_and_order(text: str, order: tuple[str, ...]) -> None:
    assert resolved(text).policy.modes.order == order


def test_off_switches_everything_automatic_off() -> None:
    found = resolved('strategy = "off"')
    assert found.policy.modes.order == ()
    assert not found.policy.trigger.enabled


def test_a_reserve_below_zero_is_unset() -> None:
    assert resolved("reserveTokens = -1").policy.trigger.reserve_tokens is None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("x = [", "no TOML"),
        ("nope = 1", "no setting 'nope'"),
        ("[trigger]\nnope = 1", "no setting 'trigger.nope'|no setting 'nope'"),
        ('keepRecentTokens = "many"', "file0.*'many' is not of type int"),
        ("enabled = 1", "not of type bool"),
        ('strategy = "best"', "no strategy 'best'"),
        ("handoffSaveToDisk = 3", "takes bool"),
    ],
)
def test_what_is_wrong_is_named(text: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        resolved(text)


def test_an_unknown_policy_is_refused() -> None:
    with pytest.raises(UnknownNameError, match="there are: default, kit"):
        resolved('policy = "nope"')


@pytest.mark.parametrize("name", preset_names())
def test_every_alias_names_a_setting(name: str) -> None:
    values = resolved(f'policy = "{name}"').values
    assert set(ALIASES.values()) <= set(values)


@pytest.mark.parametrize(
    "text",
    [
        "trigger.keep_tokens = -5",
        "trigger.keep_tokens = 99999999999999",
        "trigger.lead_share = 1.5",
        "trigger.lead_share = nan",
        "trigger.threshold_percent = -7.0",
        "apply.window = -1",
    ],
)
def test_a_number_that_means_nothing_is_refused_by_its_name(text: str) -> None:
    with pytest.raises(UsageError, match=text.split(" ", maxsplit=1)[0]):
        resolve_settings((Source("t", text),))
