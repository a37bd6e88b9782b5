from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from hypothesis import given, settings

from snapcompact.compaction.collapse import collapse
from snapcompact.compaction.counting import rule_estimator
from snapcompact.compaction.edits import apply_edits, saved_tokens
from snapcompact.compaction.entries import Item, Kind, results_of
from snapcompact.compaction.micro import MicroRules, ShakeRules, shake_regions, shorten_answers
from snapcompact.compaction.policy import preset
from snapcompact.compaction.progressive import prune_levels
from snapcompact.compaction.prune import PruneRules, prune_input, prune_old, prune_stale
from tests.compaction.generated import answer, appended, call, entries_of, result, stretches, user

if TYPE_CHECKING:
    from snapcompact.history.model import Message

POLICY = preset()
ESTIMATE = rule_estimator(POLICY.tokens)
EAGER = PruneRules(protect_tokens=0, min_savings=0, min_result=0)


def items_of(messages: list[Message]) -> tuple[Item, ...]:
    return tuple(Item(entry, entry.message) for entry in entries_of(messages) if entry.message)


def read(call_id: str, path: str, size: int = 2000) -> list[Message]:
    args = f'{{"path":"{path}"}}'.encode()
    return [answer("", call(call_id, args=args)), result(call_id, path, size)]


@settings(max_examples=80, deadline=None)
@given(stretch=stretches())
def test_pruning_saves_what_it_says_and_keeps_every_pair(
    stretch: list[tuple[Kind, Message | None]],
) -> None:
    items = tuple(Item(e, e.message) for e in appended((), stretch) if e.message)
    seen = prune_input(items, ESTIMATE)
    stale = prune_stale(seen, ESTIMATE, EAGER)
    edits = (*stale, *prune_old(seen, ESTIMATE, EAGER, done=stale))
    after = apply_edits(items, edits)
    assert len({(edit.index, edit.block) for edit in edits}) == len(edits)
    before = sum(ESTIMATE(item.message) for item in items)
    assert before - sum(ESTIMATE(item.message) for item in after) == saved_tokens(edits)
    ids = [r.call_id for item in items for r in results_of(item.message)]
    assert ids == [r.call_id for item in after for r in results_of(item.message)]


def test_errors_skills_and_plans_stay() -> None:
    messages = [
        *read("1", "a.py"), *read("2", "skill://x"), *read("3", "PLAN.md"),
        answer("", call("4", "bash", b'{"command":"make"}')),
        result("4", "error", 2000, error=True),
    ]  # fmt: skip
    seen = prune_input(items_of(messages), ESTIMATE)
    edits = prune_old(seen, ESTIMATE, EAGER, plans=("PLAN.md",))
    assert [edit.index for edit in edits] == [1]
    free = prune_old(seen, ESTIMATE, replace(EAGER, protect_errors=False))
    assert [edit.index for edit in free] == [1, 5, 7]


def test_a_failed_newer_read_supersedes_nothing() -> None:
    messages = [*read("1", "a.py"), answer("", call("2", args=b'{"path":"a.py"}'))]
    broken = items_of([*messages, result("2", "no such file", error=True)])
    assert not prune_stale(prune_input(broken, ESTIMATE), ESTIMATE, EAGER)
    whole = items_of([*messages, result("2", "a.py", 2000)])
    assert [e.why for e in prune_stale(prune_input(whole, ESTIMATE), ESTIMATE, EAGER)] == [
        "superseded"
    ]


def test_what_a_prompt_cache_holds_stays_until_idle() -> None:
    messages = [*read("1", "a.py"), user("x", 40_000), *read("2", "a.py")]
    items = items_of(messages)
    warm = prune_input(items, ESTIMATE, now_ms=items[-1].entry.time_ms + 1000)
    assert not prune_stale(warm, ESTIMATE, EAGER)
    idle = prune_input(items, ESTIMATE, now_ms=items[-1].entry.time_ms + 1_800_000)
    assert len(prune_stale(idle, ESTIMATE, EAGER)) == 1


def test_a_run_that_would_grow_is_not_folded() -> None:
    """What plugsuits rewrites all the same."""
    messages = [
        answer("", call("1", "read_file", b'{"path":"a"}')), result("1", "x"),
        answer("", call("2", "read_file", b'{"path":"b"}')), result("2", "y"),
    ]  # fmt: skip
    messages = [replace(m, blocks=m.blocks[1:]) if i % 2 == 0 else m
                for i, m in enumerate(messages)]  # fmt: skip
    rules = replace(POLICY.collapse, protect_messages=0)
    assert not collapse(items_of(messages), rules, POLICY.planning_tokens)
    grown = [m if i % 2 == 0 else result(str(i // 2 + 1), "x", 4000)
             for i, m in enumerate(messages)]  # fmt: skip
    groups = collapse(items_of(grown), rules, POLICY.planning_tokens)
    assert [group.label for group in groups] == ["[Collapsed: 2 file reads — a, b]"]
    assert groups[0].after < groups[0].before


@settings(max_examples=60, deadline=None)
@given(stretch=stretches())
def test_levels_prune_more_as_the_target_falls(
    stretch: list[tuple[Kind, Message | None]],
) -> None:
    items = tuple(Item(e, e.message) for e in appended((), stretch) if e.message)
    rules = replace(POLICY.levels, level_protect_tokens=0)
    total = sum(ESTIMATE(item.message) for item in items)
    found = [prune_levels(items, target, ESTIMATE, rules) for target in (total, total // 2, 0)]
    assert [one.level for one in found] == sorted(one.level for one in found)
    assert all(one.before == total for one in found)
    assert found[0].edits == ()


def test_long_answers_are_cut_and_users_words_are_not() -> None:
    items = items_of([user("u", 8000), answer("a", size=8000), user("now")])
    rules = MicroRules(enabled=True, protect_tokens=1)
    edits = shorten_answers(items, ESTIMATE, rules)
    assert [edit.index for edit in edits] == [1]
    assert edits[0].saved > 1000
    assert ESTIMATE(apply_edits(items, edits)[1].message) < 300


def test_blocks_are_found_by_their_lines() -> None:
    fence = "```py\n" + "x = 1\n" * 300 + "```"
    text = f"see\n{fence}\nand\n<log>\n" + "l\n" * 900 + "</log>\n<open>\n" + "z\n" * 900
    items = items_of([user(text, 1)])
    rules = ShakeRules(protect_tokens=0, min_savings=0)
    found = shake_regions(items, ESTIMATE, rules)
    assert [region.kind for region in found] == ["fence", "xml"]
    assert text[found[0].start : found[0].end] == fence
    assert text[found[1].start : found[1].end].startswith("<log>")
    assert text[found[1].start : found[1].end].endswith("</log>")
    many = "<a>\n" * 50_000 + "```\n" * 50_001
    shake_regions(items_of([user(many, 1)]), ESTIMATE, rules)
