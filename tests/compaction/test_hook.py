from __future__ import annotations

import pytest

from snapcompact.compaction.entries import Item
from snapcompact.compaction.facts import CHAT_MEMORY, MemoryRules, memory_due
from snapcompact.compaction.guard import idle_due
from snapcompact.compaction.hook import HandedIn, check_handed_in
from snapcompact.compaction.outcome import Reason
from snapcompact.compaction.overflow import bytes_are_tokens, classify
from snapcompact.compaction.policy import preset
from snapcompact.compaction.request import output_limit, template_for
from snapcompact.compaction.settings import environment_source, resolve_settings
from snapcompact.errors import UsageError
from tests.compaction.generated import answer, call, entries_of, result, user

ENTRIES = entries_of([user("a"), answer("b", call("1")), result("1"), user("c")])
ITEMS = [Item(entry, entry.message) for entry in ENTRIES if entry.message]
RULES = preset().accept


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        (HandedIn("S", "e1"), Reason.DONE),
        (HandedIn("S", ""), Reason.DONE),
        (HandedIn("S", "e2"), Reason.ERROR),
        (HandedIn("S", "nope"), Reason.ERROR),
        (HandedIn("  ", "e1"), Reason.EMPTY),
        (HandedIn("S", "e1", cancel=True), Reason.CANCELLED),
    ],
)
def test_what_an_extension_hands_in_is_checked(given: HandedIn, reason: Reason) -> None:
    found, said = check_handed_in(given, ITEMS, RULES)
    assert found is reason
    assert bool(said) == (reason is not Reason.DONE)


def test_the_environment_is_a_source_like_any_other() -> None:
    found = resolve_settings(
        [environment_source({"DISABLE_AUTO_COMPACT": "1", "CONTEXT_LIMIT_OVERRIDE": "9000"})]
    )
    assert not found.policy.trigger.enabled
    assert found.value("contextLimit") == 9000
    assert found.values["apply.window"].source == "environment"
    assert resolve_settings(
        [environment_source({"DISABLE_AUTO_COMPACT": "0"})]
    ).policy.trigger.enabled
    assert resolve_settings([environment_source({})]).policy == preset()
    with pytest.raises(UsageError, match="many"):
        environment_source({"CONTEXT_LIMIT_OVERRIDE": "many"})


def test_limits_of_a_summarising_model() -> None:
    assert output_limit(0, 5000) == 4096
    assert output_limit(200_000, 10_000) == 4096
    assert output_limit(8000, 7900) == 40
    assert output_limit(8000, 9000) == 1
    assert template_for(4000, "goal") == "small"
    assert template_for(0, "goal") == template_for(8000, "goal") == "goal"


def test_when_memory_idle_and_bytes_matter() -> None:
    assert memory_due(3, 500, CHAT_MEMORY)
    assert not memory_due(3, 500, MemoryRules())
    assert not memory_due(2, 9000, MemoryRules())
    assert idle_due(300, 200_001, enabled=True, after_s=300, above=200_000)
    assert not idle_due(300, 200_001, enabled=False, after_s=300, above=200_000)
    assert not idle_due(299, 200_001, enabled=True, after_s=300, above=200_000)
    large = classify("413 Request Entity Too Large", preset().overflow)
    assert bytes_are_tokens(large, 180_000, 200_000)
    assert not bytes_are_tokens(large, 1000, 200_000)
    assert bytes_are_tokens(large, 1000, 0)
    assert not bytes_are_tokens(classify("prompt is too long", preset().overflow), 10**6, 1)
