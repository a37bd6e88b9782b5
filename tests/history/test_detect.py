"""Formats told by content."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from snapcompact.errors import FormatError, UnknownNameError
from snapcompact.history import formats
from snapcompact.history.detect import HEAD_BYTES, closed, detect, head_of
from snapcompact.history.formats import FORMATS, TEXT, by_name, table
from snapcompact.history.source import open_source
from tests.history.seen import SAMPLES
from tests.history.sessions import jsonl
from tests.strategies import json_values

FOLDERS = {
    "aider_history": {"aider"},
    "claude_code_session": {"claude_code"},
    "claude_code_stream_json": {"claude_stream"},
    "codex_exec_json": {"codex_exec"},
    "markdown_transcript": {"specstory"},
    "ohmypi_session": {"ohmypi"},
    "openai_chat_completions": {"openai_chat"},
    "opencode_storage": {"opencode_storage", "opencode_db"},
    "pi_session": {"pi"},
}
"""Folders of samples that are not called as their format is."""


def _samples() -> list[Path]:
    found = [path for path in sorted(SAMPLES.rglob("*")) if path.is_file()]
    return [path for path in found if path.parent.name != "blobs" and path.name != "migration"]


@pytest.mark.skipif(not SAMPLES.is_dir(), reason="the shared samples are not here")
@pytest.mark.parametrize("path", _samples(), ids=lambda path: path.name[:40])
def test_every_sample_is_told_rightly(path: Path) -> None:
    folder = path.relative_to(SAMPLES).parts[0]
    assert detect(open_source(path)).name in FOLDERS.get(folder, {folder})


@given(json_values, st.integers(0, 60))
def test_a_cut_document_is_closed(value: Any, cut: int) -> None:
    """Wherever it is cut, what is left parses, and is the value's beginning where objects end."""
    text = json.dumps([value, {"a": value}])
    part = closed(text[: max(1, min(cut, len(text)))])
    assert isinstance(json.loads(part), list)
    assert json.loads(closed(text)) == json.loads(text)


def test_a_document_larger_than_the_head_is_seen_cut() -> None:
    long = [{"role": "user", "content": "x" * 1000}] * 2000
    head = head_of(open_source(json.dumps({"model": "m", "messages": long}).encode()))
    assert len(head.data) == HEAD_BYTES
    assert head.document["model"] == "m"
    assert 900 < len(head.document["messages"]) < 1100
    assert head.records == (head.document,)


def test_a_first_line_larger_than_the_head_is_told() -> None:
    record = {"parentUuid": None, "uuid": "u", "sessionId": "s", "type": "user"}
    data = jsonl([{**record, "message": {"role": "user", "content": "x" * (HEAD_BYTES + 9)}}] * 2)
    assert detect(open_source(data)).name == "claude_code"


def test_lines_are_no_document() -> None:
    assert head_of(open_source(b'{"a":1}\n{"b":2}\n')).document is None
    assert head_of(open_source(b'{"a":1}\n')).document == {"a": 1}
    assert head_of(open_source(b'{\n"a":1}\n')).document == {"a": 1}
    assert head_of(open_source(b"\0\0")).document is None


def test_only_so_many_records_are_looked_at() -> None:
    many = [{"type": "summary", "summary": "x"}] * 190
    told = {"type": "user", "parentUuid": None, "uuid": "u"}
    assert detect(open_source(jsonl([*many, told]))).name == "claude_code"
    assert len(head_of(open_source(jsonl(many * 3))).records) == 200


def test_the_table_ends_with_text_and_names_are_one_each() -> None:
    rows = table()
    assert rows[-1] is TEXT
    assert len({row.name for row in rows}) == len(rows)
    for row in rows:
        assert by_name(row.name) is row
        module = row.load()
        assert callable(module.sniff)
        assert callable(module.read)
    with pytest.raises(UnknownNameError, match=r"unknown format 'x'; known: .*text"):
        by_name("x")


class _Entry:
    """An installed package's entry point, as the standard library gives it."""

    def __init__(self, name: str, value: str) -> None:
        self.name, self.value = name, value

    def __lt__(self, other: _Entry) -> bool:
        return self.name < other.name


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[_Entry]]:
    entries: list[_Entry] = []
    monkeypatch.setattr(formats, "entry_points", lambda group: entries)
    table.cache_clear()
    yield entries
    table.cache_clear()


def test_other_packages_add_formats_before_text(installed: list[_Entry]) -> None:
    installed.append(_Entry("theirs", "snapcompact.history.formats.kit"))
    assert [row.name for row in table()][-2:] == ["theirs", "text"]
    assert len(table()) == len(FORMATS) + 2


def test_a_name_in_use_is_refused(installed: list[_Entry]) -> None:
    installed.append(_Entry("pi", "snapcompact.history.formats.kit"))
    with pytest.raises(FormatError, match=r"pi .* already in use"):
        table()
