"""Sessions written back in every format: the summary and exactly the kept tail, pass after pass."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from snapcompact.compaction.counting import rule_estimator
from snapcompact.compaction.entries import is_summary
from snapcompact.compaction.plan import Ask, Plan, decide
from snapcompact.compaction.policy import preset
from snapcompact.compaction.prepare import CutRequest, Partition
from snapcompact.compaction.session import (
    archive_name,
    context_of,
    default_output,
    load_stored,
    write_session,
)
from snapcompact.compaction.undo import fingerprint, undo
from snapcompact.compaction.writers.contract import Change, Stored
from snapcompact.errors import InputError, OutputExistsError, UsageError
from snapcompact.history.session import open_session
from snapcompact.llm.contract import Part, Picture
from tests.compaction.sessions import BUILDERS, Turn, long_turns, pi

if TYPE_CHECKING:
    from snapcompact.compaction.context import Context
    from snapcompact.history.model import Message

POLICY = preset()
ESTIMATE = rule_estimator(POLICY.tokens)
RED_DOT = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de0000000c49444154"
    "789c63f8cfc0000003010100c9fe92ef0000000049454e44ae426082"
)
FORMAT = pytest.mark.parametrize("kind", sorted(BUILDERS))
WHEN = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


def stored_of(kind: str, turns: Sequence[Turn], folder: Path) -> Stored:
    path = folder / f"{kind.replace(' ', '-')}.jsonl"
    path.write_bytes(BUILDERS[kind](turns))
    with open_session(path, format=kind.split(maxsplit=1)[0]) as session:
        return load_stored(session)


def planned(context: Context, keep: int) -> Plan:
    cut = CutRequest(keep_tokens=keep, force=True)
    return decide(context, Ask(window=100_000, cut=cut), ESTIMATE, POLICY)


def change_of(plan: Plan, summary: str, *, pictures: int = 0) -> Change:
    assert plan.preparation is not None
    shown: tuple[Part, ...] = (Picture("image/png", RED_DOT),) * pictures
    pieces = ("How to read:", *shown) if pictures else ()
    return Change(
        plan.partition, plan.preparation.first_kept, summary, pieces,
        tokens_before=plan.tokens_before, time=WHEN,
    )  # fmt: skip


def read_again(path: Path, stored: Stored, kind: str) -> Context:
    name = kind.split(maxsplit=1)[0]
    if name == "gemini_contents":
        name = "openai_chat"
    with open_session(path, format=name) as session:
        return context_of(load_stored(session), POLICY.context)


def keys(messages: Sequence[Message]) -> list[tuple[str, tuple[object, ...]]]:
    return [(message.role.value, message.blocks) for message in messages]


@FORMAT
@pytest.mark.parametrize("pictures", [0, 2])
def test_a_summary_and_the_tail_as_it_was(kind: str, pictures: int, tmp_path: Path) -> None:
    stored = stored_of(kind, long_turns(), tmp_path)
    plan = planned(context_of(stored, POLICY.context), 300)
    out = tmp_path / "out"
    change = change_of(plan, "The summary.\nIn two lines.", pictures=pictures)
    write_session(stored, change, out, POLICY.context)
    items = read_again(out, stored, kind).items
    summaries = [item.message for item in items if is_summary(item.message)]
    kept = [item.message for item in items if not is_summary(item.message)]
    shown = [item.message for item in change.shown]
    assert len(summaries) == 1
    assert "The summary.\nIn two lines." in summaries[0].text
    if kind != "gemini_contents":
        assert keys(kept[len(kept) - len(shown) :]) == keys(shown)
        assert len(kept) - len(shown) == (
            pictures > 0 and kind.split(maxsplit=1)[0] in ("pi", "ohmypi", "kit")
        )
    pixels = sum(b"iVBORw0KGgo" in line for line in out.read_bytes().split(b"\n"))
    assert bool(pixels) == bool(pictures)
    assert plan.partition.kept
    assert len(plan.partition.summarised) > 4


@FORMAT
def test_a_second_and_third_pass_lose_nothing(kind: str, tmp_path: Path) -> None:
    stored = stored_of(kind, long_turns(12), tmp_path)
    kept: list[str] = []
    for number in range(3):
        context = context_of(stored, POLICY.context)
        plan = planned(context, 900 - 250 * number)
        summarised = " ".join(item.message.text for item in plan.partition.summarised)
        assert number == 0 or kept[0] in summarised
        before = plan.preparation.previous_summary if plan.preparation else None
        assert (before or "").startswith(f"pass {number - 1}" if number else "")
        out = tmp_path / f"out{number}"
        write_session(stored, change_of(plan, f"pass {number}"), out, POLICY.context)
        kept = [i.message.text for i in plan.partition.kept if i.message.text]
        name = "openai_chat" if kind == "gemini_contents" else kind.split(maxsplit=1)[0]
        with open_session(out, format=name) as session:
            stored = load_stored(session)


turns_of = st.lists(
    st.builds(
        Turn,
        st.text(min_size=1, max_size=60).filter(str.strip),
        st.text(min_size=1, max_size=60).filter(str.strip),
        st.none() | st.text(min_size=1, max_size=400).filter(str.strip),
    ),
    min_size=2,
    max_size=9,
)


@FORMAT
@settings(deadline=None, max_examples=6, suppress_health_check=list(HealthCheck))
@given(turns=turns_of, keep=st.integers(1, 300), data=st.data())
def test_any_session_any_cut(
    kind: str,
    turns: list[Turn],
    keep: int,
    data: st.DataObject,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    folder = tmp_path_factory.mktemp("any")
    stored = stored_of(kind, turns, folder)
    plan = planned(context_of(stored, POLICY.context), keep)
    if plan.preparation is None:
        return
    pins = data.draw(st.booleans())
    if pins and len(plan.partition.summarised) > 1:
        first = plan.partition.summarised[0].id
        cut = CutRequest(keep_tokens=keep, force=True, pins=(first,))
        ask = Ask(window=100_000, cut=cut)
        again = decide(context_of(stored, POLICY.context), ask, ESTIMATE, POLICY)
        plan = again if again.preparation is not None else plan
    # write_session reads the file again and refuses one that does not hold what was decided.
    write_session(stored, change_of(plan, "S"), folder / "out", POLICY.context)


@FORMAT
def test_a_cut_tail_is_written_as_cut(kind: str, tmp_path: Path) -> None:
    turns = [*long_turns(3), Turn("Last?", "Yes.", "x" * 4000)]
    stored = stored_of(kind, turns, tmp_path)
    context = context_of(stored, POLICY.context)
    cut = CutRequest(keep_tokens=950, force=True)
    ask = Ask(window=600, max_output=100, cut=cut)
    plan = decide(context, ask, ESTIMATE, POLICY)
    assert plan.tail is not None
    assert plan.tail.edits
    whole = {item.id: item.message for item in plan.partition.kept}
    edited = {i.id: i.message for i in plan.tail.items if i.message != whole.get(i.id)}
    assert edited
    change = Change(
        plan.partition, plan.preparation.first_kept if plan.preparation else "", "S",
        edited=edited, time=WHEN,
    )  # fmt: skip
    out = tmp_path / "out"
    write_session(stored, change, out, POLICY.context)
    assert any("characters cut" in str(i.message) for i in read_again(out, stored, kind).items)


def test_what_is_kept_in_front_stays_in_front(tmp_path: Path) -> None:
    stored = stored_of("pi", long_turns(6), tmp_path)
    context = context_of(stored, POLICY.context)
    cut = CutRequest(span=(context.items[4].id, context.items[8].id))
    plan = decide(context, Ask(window=100_000, cut=cut), ESTIMATE, POLICY)
    out = tmp_path / "out"
    write_session(stored, change_of(plan, "THE MIDDLE"), out, POLICY.context)
    texts = [item.message.text for item in read_again(out, stored, "pi").items]
    at = texts.index("THE MIDDLE")
    assert 0 < at < len(texts) - 1
    assert texts[0] == context.items[0].message.text
    assert texts[-1] == context.items[-1].message.text


def test_old_bytes_are_never_changed_where_a_tool_appends(tmp_path: Path) -> None:
    for kind in ("claude_code", "kit", "ohmypi", "pi"):
        stored = stored_of(kind, long_turns(), tmp_path)
        plan = planned(context_of(stored, POLICY.context), 300)
        out = tmp_path / f"{kind}.out"
        write_session(stored, change_of(plan, "S", pictures=1), out, POLICY.context)
        assert out.read_bytes().startswith(BUILDERS[kind](long_turns()))


def test_a_left_branch_is_not_mixed_into_kits_tail(tmp_path: Path) -> None:
    records = [json.loads(line) for line in BUILDERS["kit"](long_turns(6)).splitlines()]
    stray = {**records[-1], "id": "f" * 16, "parent_id": records[2]["id"]}
    path = tmp_path / "k.jsonl"
    rows = [*records[:-1], stray, records[-1]]
    path.write_bytes(b"".join(json.dumps(r).encode() + b"\n" for r in rows))
    with open_session(path, format="kit") as session:
        stored = load_stored(session)
    plan = planned(context_of(stored, POLICY.context), 250)
    write_session(stored, change_of(plan, "S"), tmp_path / "out", POLICY.context)
    mark = next(
        json.loads(line) for line in (tmp_path / "out").read_bytes().splitlines()
        if b'"compaction"' in line
    )  # fmt: skip
    assert mark["first_kept_entry_id"] == ""
    assert "parent_id" not in mark


def test_ids_repeat_for_the_same_input(tmp_path: Path) -> None:
    made = []
    for number in range(2):
        stored = stored_of("claude_code", long_turns(), tmp_path)
        plan = planned(context_of(stored, POLICY.context), 300)
        out = tmp_path / f"out{number}"
        write_session(stored, change_of(plan, "S", pictures=1), out, POLICY.context)
        made.append(out.read_bytes())
    assert made[0] == made[1]


def test_an_existing_output_is_refused(tmp_path: Path) -> None:
    stored = stored_of("pi", long_turns(), tmp_path)
    plan = planned(context_of(stored, POLICY.context), 300)
    out = tmp_path / "out"
    out.write_bytes(b"mine")
    with pytest.raises(OutputExistsError):
        write_session(stored, change_of(plan, "S"), out, POLICY.context)
    assert out.read_bytes() == b"mine"


def test_a_file_that_does_not_read_back_is_not_written(tmp_path: Path) -> None:
    stored = stored_of("pi", long_turns(), tmp_path)
    plan = planned(context_of(stored, POLICY.context), 300)
    good = change_of(plan, "S")
    part = plan.partition
    wrong = Partition(history=part.history, kept=part.kept[1:])
    change = Change(wrong, good.first_kept, "S", time=WHEN)
    with pytest.raises(InputError, match="nothing was written"):
        write_session(stored, change, tmp_path / "out", POLICY.context)
    assert sorted(os.listdir(tmp_path)) == ["pi.jsonl"]


def _in_place(path: Path, keep: int, summary: str) -> None:
    with open_session(path, format="pi") as session:
        stored = load_stored(session)
    plan = planned(context_of(stored, POLICY.context), keep)
    write_session(stored, change_of(plan, summary), path, POLICY.context, in_place=True)


def test_in_place_and_back_step_by_step(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(pi(long_turns(10)))
    first = path.read_bytes()
    _in_place(path, 700, "ONE")
    second = path.read_bytes()
    _in_place(path, 300, "TWO")
    assert b"TWO" in path.read_bytes()
    undo(path)
    assert path.read_bytes() == second
    undo(path)
    assert path.read_bytes() == first
    assert os.listdir(tmp_path) == ["s.jsonl"]
    with pytest.raises(UsageError, match="nothing to undo"):
        undo(path)


def test_undo_of_a_session_that_went_on(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(pi(long_turns(10)))
    first = path.read_bytes()
    _in_place(path, 300, "ONE")
    with open(path, "ab") as file:
        file.write(b'{"type":"label","id":"zz","parentId":null}\n')
    grown = path.read_bytes()
    with pytest.raises(UsageError, match="changed since"):
        undo(path)
    assert path.read_bytes() == grown
    undo(path, force=True)
    assert path.read_bytes() == first
    aside = [p for p in tmp_path.iterdir() if p.name.startswith("s.jsonl.before.")]
    assert [p.read_bytes() for p in aside] == [grown]


def test_undo_does_not_trust_its_notes(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(pi(long_turns(10)))
    _in_place(path, 300, "ONE")
    notes = tmp_path / "s.jsonl.undo.json"
    value = json.loads(notes.read_bytes())
    value["steps"][0]["backup"] = "../elsewhere"
    notes.write_bytes(json.dumps(value).encode())
    with pytest.raises(UsageError, match="gone"):
        undo(path)
    notes.write_bytes(b"[]")
    with pytest.raises(InputError):
        undo(path)


def test_a_damaged_backup_is_not_put_back(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(pi(long_turns(10)))
    _in_place(path, 300, "ONE")
    held = path.read_bytes()
    backup = next(p for p in tmp_path.iterdir() if ".before." in p.name)
    backup.write_bytes(b"other")
    with pytest.raises(InputError, match="not what was backed up"):
        undo(path)
    assert path.read_bytes() == held


def test_a_session_that_changed_meanwhile_is_not_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(pi(long_turns(10)))
    with open_session(path, format="pi") as session:
        stored = load_stored(session)
    plan = planned(context_of(stored, POLICY.context), 300)
    with open(path, "ab") as file:
        file.write(b'{"type":"label","id":"zz","parentId":"00000000"}\n')
    held = fingerprint(path)
    with pytest.raises(InputError):
        write_session(stored, change_of(plan, "S"), path, POLICY.context, in_place=True)
    assert fingerprint(path) == held


def test_a_packed_session_is_read_but_not_replaced(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl.gz"
    path.write_bytes(gzip.compress(pi(long_turns(10))))
    held = path.read_bytes()
    with pytest.raises(UsageError, match="compressed"):
        _in_place(path, 300, "ONE")
    assert path.read_bytes() == held
    with open_session(path) as session:
        stored = load_stored(session)
    plan = planned(context_of(stored, POLICY.context), 300)
    out = tmp_path / "out.jsonl"
    write_session(stored, change_of(plan, "S"), out, POLICY.context)
    assert out.read_bytes().startswith(pi(long_turns(10)))


@pytest.mark.parametrize(
    ("name", "format_name", "wanted"),
    [
        ("a.jsonl", "pi", "a.compacted.jsonl"),
        ("a.b.jsonl.gz", "pi", "a.b.compacted.jsonl"),
        ("a", "pi", "a.compacted.jsonl"),
        ("a.json", "openai_chat", "a.compacted.json"),
        ("a.md", "text", "a.compacted.json"),
    ],
)
def test_default_output(name: str, format_name: str, wanted: str) -> None:
    assert default_output(Path("x") / name, format_name) == Path("x") / wanted


def test_archive_names_are_free(tmp_path: Path) -> None:
    out = tmp_path / "a.compacted.jsonl"
    assert archive_name(out).name == "a.compacted.archive"
    (tmp_path / "a.compacted.archive").mkdir()
    assert archive_name(out).name == "a.compacted.archive-2"
