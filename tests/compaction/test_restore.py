from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from snapcompact.compaction.analysis import analyse, suggestions
from snapcompact.compaction.counting import count_text
from snapcompact.compaction.entries import Item
from snapcompact.compaction.facts import (
    Fact,
    FactRules,
    extract_facts,
    serves_as_summary,
    structured_state,
)
from snapcompact.compaction.media import without_media
from snapcompact.compaction.policy import preset
from snapcompact.compaction.restore import (
    Restorable,
    RestoreRules,
    is_protected,
    restoration,
    restoration_message,
)
from snapcompact.compaction.trigger import context_budget
from snapcompact.history.model import Blob, Message, Role, Text, ToolResult
from tests.compaction.generated import entries_of, result, user

POLICY = preset()


def tokens(text: str) -> int:
    return count_text(text, POLICY.tokens)


ITEMS = st.tuples(st.sampled_from("abcdef"), st.integers(0, 400), st.integers(0, 3))


@given(st.lists(ITEMS, max_size=20))
def test_restoration_stays_inside_its_budgets(items: list[tuple[str, int, int]]) -> None:
    rules = RestoreRules(max_total=150, max_item=60, max_items=4)
    wanted = [Restorable(label, "x" * size, priority) for label, size, priority in items]
    found = restoration(wanted, [], tokens, rules)
    assert len(found) <= 4
    assert sum(one.tokens for one in found) <= 150
    assert all(one.tokens <= 60 for one in found)
    assert len({one.label for one in found}) == len(found)
    assert all(tokens(one.content) == one.tokens for one in found)


def test_what_the_tail_names_is_left_out() -> None:
    items = [Restorable("a.py", "x"), Restorable("b.py", "y")]
    found = restoration(items, ["see src/a.py, please"], tokens, RestoreRules())
    assert [one.label for one in found] == ["b.py"]
    message = restoration_message(found)
    assert message is not None
    assert "<restored-file>" in message.text
    assert restoration_message([]) is None


def test_skill_text_is_protected() -> None:
    assert is_protected('<skill name="x">')
    assert is_protected("<skill_content>")
    assert not is_protected("<skillful>")


def test_media_becomes_words_in_results_too() -> None:
    blob = Blob("image", "image/png", "shot.png")
    message = Message(Role.TOOL, (ToolResult("1", (Text(b"see"), blob)), blob))
    words = without_media(message)
    assert not any(isinstance(block, Blob) for block in words.blocks)
    assert isinstance(words.blocks[0], ToolResult)
    assert '"shot.png" removed' in words.blocks[0].text
    assert without_media(words) == words


def test_duplicate_reads_are_named_with_what_they_waste() -> None:
    messages = [user("q"), result("1", "src/a.py x", 4000), result("2", "src/a.py x", 4000)]
    items = [Item(entry, entry.message) for entry in entries_of(messages) if entry.message]
    found = analyse(items, POLICY.tokens)
    assert found.duplicate_reads["src/a.py"].count == 2
    assert 900 < found.duplicate_reads["src/a.py"].tokens < 1100
    assert found.largest[0][1] == "tool"
    budget = context_budget(POLICY.trigger, 10_000, 0.5, 500)
    advice = suggestions(found, budget, 9600)
    assert [one.level for one in advice] == ["error", "warning", "info"]


def test_facts_and_state() -> None:
    facts = extract_facts("My name is Ann. I live in Oslo. My name is Anna")
    assert facts == (Fact("identity", "location", "Oslo"), Fact("identity", "name", "Anna"))
    state = structured_state(facts, tokens, FactRules())
    assert state == "## Session Memory\n### Identity\n- location: Oslo\n- name: Anna"
    assert structured_state(facts, tokens, FactRules(max_tokens=1)) is None
    assert serves_as_summary("x", 299, 1000)
    assert not serves_as_summary(" ", 0, 1000)
    assert not serves_as_summary("x", 300, 1000)
