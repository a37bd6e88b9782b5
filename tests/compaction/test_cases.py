"""The hostile cases of tests/cases that concern cutting, pairing, counting and modes, by number."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from snapcompact.compaction.context import Context, build_context
from snapcompact.compaction.counting import rule_estimator
from snapcompact.compaction.gather import entries_from
from snapcompact.compaction.modes.choose import Code, ModeInputs, PageForecast, choose_mode
from snapcompact.compaction.modes.extract import extract
from snapcompact.compaction.outcome import Status
from snapcompact.compaction.pairs import call_links, repair
from snapcompact.compaction.plan import Ask, Plan, decide
from snapcompact.compaction.policy import preset
from snapcompact.compaction.prepare import CutRequest
from snapcompact.compaction.serialise import serialise
from snapcompact.history.session import open_session
from tests.compaction.test_partition import check_partition

if TYPE_CHECKING:
    from snapcompact.history.model import Message

FOLDER = Path(__file__).parents[1] / "cases"
POLICY = preset()
ESTIMATE = rule_estimator(POLICY.tokens)
CONCERNED = ["01", "02", "03", "04", "05", "06", "07", "09", "11", "14", "15", "16", "19", "21",
             "23", "25", "26", "32", "34", "36", "38"]  # fmt: skip


def case(number: str) -> Context:
    path = next(FOLDER.glob(f"{number}_*"))
    with open_session(path) as session:
        return build_context(entries_from(session.messages()), POLICY.context)


def messages_of(context: Context) -> list[Message]:
    return [item.message for item in context.items]


def planned(context: Context, window: int = 16000, **asked: int | bool) -> Plan:
    return decide(context, Ask(window=window, cut=CutRequest(**asked)), ESTIMATE, POLICY)  # type: ignore[arg-type]


@pytest.mark.parametrize("number", CONCERNED)
@pytest.mark.parametrize("keep", [1, 50, 500, 5000])
def test_every_case_is_divided_whole(number: str, keep: int) -> None:
    context = case(number)
    plan = planned(context, keep_tokens=keep, force=True)
    if plan.preparation:
        check_partition(context, plan.partition)
        assert extract(messages_of(context))
    sent = repair(messages_of(context))
    assert all(call_links(sent.messages)[i] for i, m in enumerate(sent.messages)
               if any(type(b).__name__ == "ToolResult" for b in m.blocks))  # fmt: skip


@pytest.mark.parametrize("number", ["01", "02"])
def test_01_02_empty_is_nothing_to_compact(number: str) -> None:
    plan = planned(case(number))
    assert plan.tokens_before == 0
    assert plan.outcome is not None
    assert plan.outcome.status is Status.NOTHING
    assert plan.outcome.detail == "Nothing to compact"


def test_03_one_message_is_never_cut_away() -> None:
    plan = planned(case("03"), force=True)
    assert plan.outcome is not None
    dear = PageForecast(pages=1, tokens=1500, text_tokens=plan.tokens_before)
    decision = choose_mode(ModeInputs(asked="snapcompact", forecast=dear), POLICY.modes)
    assert decision is not None
    assert decision.skipped[0].code is Code.NO_SAVING


def test_04_the_last_message_is_kept_and_its_overrun_reported() -> None:
    context = case("04")
    plan = planned(context, 200_000)
    assert plan.preparation is not None
    assert [item.id for item in plan.partition.kept] == [context.items[-1].id]
    assert plan.kept_tokens(ESTIMATE) > plan.keep_tokens
    small = planned(context)
    assert small.tail is not None
    assert small.tail.fits
    assert "archive, entry" in small.tail.items[-1].message.text


def test_05_results_alone_have_no_cut_and_no_crash() -> None:
    plan = planned(case("05"), keep_tokens=10)
    assert plan.outcome is not None
    assert repair(messages_of(case("05"))).orphans == 8


def test_06_trailing_results_stay_with_their_calls() -> None:
    context = case("06")
    plan = planned(context, 200_000)
    assert plan.preparation is not None
    texts = [item.message.text for item in plan.partition.summarised]
    assert texts[-4:] == ["Old question one.", "Old answer one.", "Old question two.",
                          "Old answer two."]  # fmt: skip
    assert len(plan.partition.kept) == 4
    assert [i.message.text for i in plan.partition.pinned] == [
        "Run the full suite and read both logs."
    ]


def test_07_the_users_sentence_beside_an_orphan_survives() -> None:
    fixed = repair(messages_of(case("07")))
    texts = [message.text for message in fixed.messages]
    assert any("only 3 files should change" in text for text in texts)
    assert any("17 files changed" in text for text in texts)
    assert fixed.orphans == 1


def test_09_the_whole_result_and_both_parallel_ones_survive() -> None:
    messages = messages_of(case("09"))
    text = serialise(messages, POLICY.serial)
    for words in ("[aborted]", "workers = 4", "pool = 12", "one done", "two done"):
        assert words in text
    assert repair(messages).orphans == 0


def test_11_one_long_turn_has_a_cut_and_keeps_the_instruction() -> None:
    context = case("11")
    plan = planned(context)
    assert plan.preparation is not None
    assert plan.preparation.is_split
    assert "vendor" in plan.partition.pinned[0].message.text
    assert len(plan.partition.summarised) > 40


def test_14_15_odd_contents_keep_their_words() -> None:
    text = serialise(messages_of(case("14")), POLICY.serial)
    for words in ("list body", "unexpected", "42", "object where list or string expected",
                  "plain string in list"):  # fmt: skip
        assert words in text
    text = serialise(messages_of(case("15")), POLICY.serial)
    for words in ("temperature rising", "legacy result", "What is this?", "A sound clip."):
        assert words in text


def test_21_lone_surrogates_are_no_error() -> None:
    context = case("21")
    plan = planned(context, keep_tokens=5, force=True)
    assert plan.tokens_before > 0
    serialise(messages_of(context), POLICY.serial).encode("utf-8", "surrogatepass")
    extract(messages_of(context)).encode("utf-8", "surrogatepass")


def test_26_cjk_counts_more_than_a_quarter_of_its_characters() -> None:
    messages = messages_of(case("26"))
    characters = sum(len(message.text) for message in messages)
    assert sum(map(ESTIMATE, messages)) > characters / 2


def test_32_pictures_cost_by_their_size() -> None:
    context = case("32")
    costs = {item.id: ESTIMATE(item.message) for item in context.items}
    assert all(cost < 40_000 for cost in costs.values())
    assert sum(costs.values()) > 128 * 128 / 750 + 9000 * 2500 / 750


def test_38_many_tiny_messages_keep_by_tokens_and_by_turns() -> None:
    context = case("38")
    by_turns = planned(context, keep_turns=10)
    kept = by_turns.partition.kept
    assert sum(item.message.role.value == "user" for item in kept) == 10
    by_tokens = planned(context, keep_tokens=300)
    assert 300 <= by_tokens.kept_tokens(ESTIMATE) <= 310
