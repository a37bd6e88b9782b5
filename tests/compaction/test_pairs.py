from __future__ import annotations

from hypothesis import given, settings

from snapcompact.compaction.entries import Kind, results_of
from snapcompact.compaction.pairs import call_links, drop_broken, reach, repair, whole_split
from snapcompact.history.model import Message, Role, ToolResult
from tests.compaction.generated import answer, call, result, stretches, user

Stretch = list[tuple[Kind, Message | None]]


def said(stretch: Stretch) -> list[Message]:
    return [message for _, message in stretch if message is not None]


@settings(max_examples=100, deadline=None)
@given(stretch=stretches())
def test_a_whole_split_parts_no_pair(stretch: Stretch) -> None:
    messages = said(stretch)
    links = call_links(messages)
    for split in range(len(messages) + 1):
        at = whole_split(messages, split)
        assert at <= split
        if 0 < split < len(messages):
            assert all(link >= at for found in links[at:] for link in found)


@settings(max_examples=100, deadline=None)
@given(stretch=stretches())
def test_reach_is_the_earliest_needed(stretch: Stretch) -> None:
    messages = said(stretch)
    links = call_links(messages)
    for index, needed in enumerate(reach(messages)):
        later = [link for found in links[index:] for link in found]
        assert needed == min([index, *later])


@settings(max_examples=100, deadline=None)
@given(stretch=stretches())
def test_repair_leaves_no_half_pair_and_every_word(stretch: Stretch) -> None:
    messages = said(stretch)
    fixed = repair(messages).messages
    links = call_links(fixed)
    assert all(links[i] for i, message in enumerate(fixed) if results_of(message))
    before = " ".join(message.text for message in messages)
    after = " ".join(m.text for m in fixed if m.role is not Role.TOOL)
    assert all(word in after for word in before.split())
    again = repair(fixed)
    assert (again.orphans, again.unanswered) == (0, 0)


def test_repeated_ids_belong_to_the_nearest_call() -> None:
    """Case 09: a counter that restarts each turn, an aborted result, two parallel calls."""
    messages = [
        user("read"), answer("", call("0")), result("0", "aborted"), result("0", "whole"),
        user("other"), answer("", call("0")), result("0"), answer("", call("7"), call("7")),
        result("7", "one"), result("7", "two"),
    ]  # fmt: skip
    assert call_links(messages) == ((), (), (1,), (1,), (), (), (5,), (), (7,), (7,))
    assert repair(messages).messages == tuple(messages)


def test_parallel_results_in_a_row_are_all_kept() -> None:
    """What plugsuits drops (a quirk of its ensure_valid_tool_sequence)."""
    messages = [user("a"), answer("", call("1"), call("2")), result("1"), result("2")]
    assert drop_broken(messages) == tuple(messages)


def test_an_orphan_becomes_labelled_user_text() -> None:
    fixed = repair([result("gone", "17 files changed"), user("only 3 should")])
    assert fixed.orphans == 1
    assert fixed.messages[0].role is Role.USER
    assert "gone" in fixed.messages[0].text
    assert "17 files changed" in fixed.messages[0].text


def test_an_open_call_at_the_end_waits_for_its_result() -> None:
    messages = [user("a"), answer("", call("1"))]
    assert repair(messages).messages == tuple(messages)
    fixed = repair([*messages, user("b")])
    assert fixed.unanswered == 1
    assert isinstance(fixed.messages[2].blocks[0], ToolResult)
    assert fixed.messages[2].blocks[0].is_error
