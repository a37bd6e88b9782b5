from __future__ import annotations

import json

import pytest

from snapcompact.compaction.context import build_context
from snapcompact.compaction.entries import Kind, is_summary
from snapcompact.compaction.gather import entries_from
from snapcompact.compaction.policy import preset
from snapcompact.history.session import open_session


def pi_session(*entries: dict[str, object]) -> bytes:
    rows: list[dict[str, object]] = [
        {"type": "session", "version": 3, "id": "s", "timestamp": "2031-01-01T00:00:00Z"}
    ]
    parent = None
    for number, entry in enumerate(entries):
        made = {"id": f"x{number}", "parentId": parent, "timestamp": "2031-01-01T00:00:01Z"}
        rows.append({**made, **entry})
        parent = f"x{number}"
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def said(role: str, text: str) -> dict[str, object]:
    return {"type": "message", "message": {"role": role, "content": text, "timestamp": 1}}


@pytest.mark.parametrize("first_kept", ["x2", "nope"])
def test_a_pi_session_becomes_its_effective_context(first_kept: str) -> None:
    data = pi_session(
        said("user", "one"), said("assistant", "two"), said("user", "three"),
        {"type": "compaction", "summary": "S1", "firstKeptEntryId": first_kept,
         "tokensBefore": 9, "details": {"readFiles": ["r.py"], "modifiedFiles": ["m.py"]}},
        said("user", "four"),
    )  # fmt: skip
    entries = entries_from(open_session(data, format="pi").messages())
    mark = next(entry.mark for entry in entries if entry.kind is Kind.COMPACTION)
    assert mark is not None
    assert (mark.files.read, mark.files.modified) == (("r.py",), ("m.py",))
    context = build_context(entries, preset().context)
    texts = [item.message.text for item in context.items]
    kept = ["three"] if first_kept == "x2" else ["one", "two", "three"]
    assert texts == ["S1", *kept, "four"]
    assert is_summary(context.items[0].message)
    assert bool(context.warnings) == (first_kept == "nope")


def test_messages_of_one_record_have_ids_of_their_own() -> None:
    rows = [
        {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "t", "content": "17 files"},
            {"type": "text", "text": "only 3"}]},
        {"role": "assistant", "content": "ok"},
    ]  # fmt: skip
    data = "".join(json.dumps(row) + "\n" for row in rows).encode()
    entries = entries_from(open_session(data).messages())
    assert len({entry.id for entry in entries}) == len(entries) == 3
    assert [entry.parent for entry in entries] == [None, *(e.id for e in entries[:-1])]
