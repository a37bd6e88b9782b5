from __future__ import annotations

import re

import pytest

from snapcompact.compaction.policy import Policy, build, preset, preset_names
from snapcompact.errors import UnknownNameError, UsageError


def test_there_is_one_preset_a_system_and_the_default() -> None:
    assert preset_names() == ("default", "kit", "pi", "pi-old", "plugsuits", "oh-my-pi")
    with pytest.raises(UnknownNameError, match="oh-my-pi"):
        preset("nope")


@pytest.mark.parametrize("name", preset_names())
def test_patterns_compile_and_orders_name_known_parts(name: str) -> None:
    policy = preset(name)
    rules = policy.overflow
    for pattern in (*rules.patterns, *rules.veto, *rules.payload):
        re.compile(pattern)
    known = {"conversation", "state", "task", "previous", "instructions", "update", "focus"}
    assert set(policy.prompt.order) <= known
    assert {"conversation", "instructions"} <= set(policy.prompt.order)


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ({"nope": 1}, "no setting 'nope'"),
        ({"cut": {"nope": 1}}, "here.cut: no setting 'nope'"),
        ({"cut": {"slack": "wide"}}, "here.cut.slack: 'wide' is not of type float"),
        ({"trigger": {"enabled": 1}}, "not of type bool"),
        ({"trigger": {"keep_tokens": True}}, "not of type int"),
        ({"cut": 3}, "here.cut"),
    ],
)
def test_a_wrong_table_is_refused(table: dict[str, object], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        build(Policy, table, "here")


def test_whole_numbers_are_taken_for_fractions() -> None:
    policy = build(Policy, {"cut": {"slack": 2}, "trigger": {"reserve_tokens": 5}}, "here")
    assert policy.cut.slack == 2
    assert policy.trigger.reserve_tokens == 5
