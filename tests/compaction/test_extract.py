from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings

from snapcompact.compaction.modes.extract import HEAD, extract, open_todos
from snapcompact.compaction.modes.pointer import HEAD_START, pointer_text
from snapcompact.history.model import Message, Role, Text
from tests.compaction.generated import answer, call, result, stretches, user

if TYPE_CHECKING:
    from snapcompact.compaction.entries import Kind

SESSION = [
    Message(Role.USER, (Text(b"Fix the parser. Never touch vendor/. Use tabs only."),)),
    answer("I decided to rewrite lex.py because the table is wrong.",
           call("1", "read", b'{"path":"lex.py"}')),
    result("1", "def lex(): pass"),
    answer("", call("2", "edit", b'{"path":"lex.py"}')),
    result("2", "done"),
    answer("", call("3", "bash", b'{"command":"pytest -q"}')),
    result("3", "E   AssertionError: 3 failed", 1),
    answer("", call("4", "bash", b'{"command":"pytest -q"}')),
    result("4", "12 passed"),
    answer("", call("5", "bash", b'{"command":"deploy now"}')),
    result("5", "permission denied", 1, error=True),
    answer("", call("6", "todowrite", json.dumps({"todos": [
        {"content": "write docs", "status": "pending"},
        {"content": "fix lexer", "status": "completed"},
        {"content": "ship", "status": "in_progress"}]}).encode())),
    result("6"),
    Message(Role.USER, (Text(b"Go on with the docs."),)),
]  # fmt: skip


def section(text: str, title: str) -> str:
    return text.split(f"## {title}\n", 1)[1].split("\n## ", 1)[0]


def test_sections_are_filled_from_the_records() -> None:
    text = extract(SESSION)
    assert text.startswith(HEAD)
    assert "Fix the parser." in section(text, "Goal")
    assert "Go on with the docs." in section(text, "Goal")
    rules = section(text, "Constraints & Preferences")
    assert "Never touch vendor/." in rules
    assert "Use tabs only." in rules
    assert "changed lex.py" in section(text, "Progress")
    assert "rewrite lex.py because" in section(text, "Key Decisions")
    errors = section(text, "Errors")
    assert "bash pytest: E AssertionError: 3 failed — a later try worked" in errors
    assert "bash deploy: permission denied — open" in errors
    assert "write docs (pending)" in section(text, "Next Steps")
    assert "fix lexer" not in section(text, "Next Steps")
    assert "ship (in progress)" in section(text, "Next Steps")
    assert "todowrite" in section(text, "Last Steps")


def test_a_previous_summary_and_a_focus_get_their_place() -> None:
    text = extract(SESSION, previous="EARLIER WORDS", focus="docs please")
    assert "EARLIER WORDS" in section(text, "Earlier Summary")
    assert "write docs" not in section(text, "About: docs please")
    assert "user: Go on with the docs." in section(text, "About: docs please")


def test_unticked_boxes_are_todos() -> None:
    assert open_todos([answer("- [ ] one\n- [x] two\n- [ ] three")])[:1] == ["one"]


@settings(max_examples=80, deadline=None)
@given(stretch=stretches())
def test_any_history_gives_the_same_extract_twice(
    stretch: list[tuple[Kind, Message | None]],
) -> None:
    messages = [message for _, message in stretch if message is not None]
    text = extract(messages)
    assert text == extract(messages)
    assert text.startswith(HEAD)
    assert len(text) < 40_000


def test_an_earlier_extract_is_merged_not_nested() -> None:
    first = extract(SESSION, previous="WRITTEN BY A MODEL")
    more = [user("Also fix the printer."), answer("", call("9", "write", b'{"path":"print.py"}'))]
    second = extract(more, previous=first)
    assert second.count(HEAD) == 1
    assert "Fix the parser." in section(second, "Goal")
    assert "Also fix the printer." in section(second, "Goal")
    assert "Never touch vendor/." in section(second, "Constraints & Preferences")
    assert "changed lex.py" in section(second, "Progress")
    assert "changed print.py" in section(second, "Progress")
    assert "write docs (pending)" in section(second, "Next Steps")
    assert "print.py" in section(second, "Last Steps")
    assert "todowrite" not in section(second, "Last Steps")
    assert section(second, "Earlier Summary") == "WRITTEN BY A MODEL"


def test_repeated_extracts_do_not_grow_without_end() -> None:
    text = ""
    sizes = []
    for number in range(30):
        messages = [user(f"You must do {number}."), answer(f"I decided {number} because of it.")]
        text = extract(messages, previous=text)
        sizes.append(len(text))
    assert "You must do 0." in section(text, "Goal")
    assert sizes[-1] < 6000


PAGES = (
    f"{HEAD_START}; nothing was rephrased. All of it, 31 messages, is in the "
    f"{pointer_text('old.archive', 'a' * 64)}. What follows.\n\n<read-files>\nlex.py\n</read-files>"
)
GUIDE = (
    f"[{pointer_text('old.archive', 'a' * 64)}]\n\nBelow is the earlier part of this conversation. "
    "You must read it.\n- [ ] old box\n# How to read these pages"
)


def _labelled(text: str, label: str = "") -> Message:
    return Message(Role.USER, (Text(text.encode()),), label)


@pytest.mark.parametrize("previous", [PAGES, f"{PAGES}\n{GUIDE}"])
def test_pages_of_ours_are_not_the_users_words(previous: str) -> None:
    text = extract([_labelled(GUIDE), *SESSION[:3]], previous=previous)
    assert (
        section(text, "Goal").strip() == '- "Fix the parser. Never touch vendor/. Use tabs only."'
    )
    for ours in ("Below is", "must read", "old box", "How to read", "read-files"):
        assert ours not in text
    assert "Earlier history: archive old.archive, 31 messages." in section(text, "Earlier Summary")
    again = extract(SESSION[3:5], previous=text)
    assert "Earlier history: archive old.archive, 31 messages." in section(again, "Earlier Summary")
    assert "Fix the parser." in section(again, "Goal")


def test_where_no_words_of_the_user_are_left_it_says_where_they_stand() -> None:
    text = extract([_labelled(GUIDE), *SESSION[1:3]], previous=PAGES)
    for title in ("Goal", "Constraints & Preferences"):
        assert "stands in the earlier history named below" in section(text, title)
    again = extract(SESSION[-1:], previous=text)
    assert section(again, "Goal").strip() == '- "Go on with the docs."'


@pytest.mark.parametrize("label", ["context", "custom", "bash", "branch summary", ""])
def test_what_a_program_put_in_is_no_goal_and_no_constraint(label: str) -> None:
    words = (
        "Caveat: The messages below were generated by the user while running local commands. "
        "DO NOT respond to these messages."
    )
    text = extract([_labelled(words, label), *SESSION])
    assert "Caveat" not in text
    assert "DO NOT" not in text
