"""Links read by the kernel are those that the format's reader gives, line by line."""

from __future__ import annotations

import json
from random import Random
from typing import TYPE_CHECKING, Any

import numpy as np
import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from snapcompact.history import links
from snapcompact.history.branch import Tree
from snapcompact.history.formats import claude_code, kit, pi
from snapcompact.history.links import encoded, pays, plant
from snapcompact.history.records import records
from snapcompact.history.report import Report
from snapcompact.history.resume import ID_BYTES, Ids
from snapcompact.history.session import open_session
from snapcompact.history.source import Source
from snapcompact_kernels.json_moves import MOVES
from snapcompact_kernels.links import WORDS, read_links
from snapcompact_kernels.siphash import siphash
from tests.history.mutate import mutate
from tests.history.seen import SAMPLES
from tests.reference.siphash import siphash as siphash_twin

if TYPE_CHECKING:
    from pathlib import Path

FORMATS = [claude_code, pi, kit]


def planted(data: bytes, module: Any) -> tuple[list[int], bytes]:
    """The tree's rows and the ids of the records in `data`, after a look that both ways agree."""
    fast, slow = Tree(), Tree()
    ids, expected_ids = Ids(), Ids()
    plant(fast, ids, Source("test", data=data), module.NAMES, module.link)
    slow.hashed = fast.hashed
    for record, _, _ in records(Source("test", data=data), Report()):
        if (place := module.link(record)) is not None:
            slow.add(*place)
            expected_ids.extend((encoded(place.id),))
    rows: list[int] = fast._rows.tolist()
    assert rows == slow._rows.tolist()
    assert fast.all_side == slow.all_side
    assert ids.data(0, len(ids)) == expected_ids.data(0, len(expected_ids))
    return rows, ids.data(0, len(ids))


def taken(line: bytes, module: Any = claude_code) -> bool:
    """Whether the kernel reads `line` itself."""
    rows, ids = np.empty((1, WORDS), np.uint64), np.empty((1, 2), np.int64)
    data = np.frombuffer(line + b"\n", np.uint8)
    key = np.uint64(1), np.uint64(2)
    _, at = read_links(data, 0, *links._tables(module.NAMES), key, MOVES, rows, ids)
    return at == len(line) + 1


_texts = st.sampled_from(
    ["", "a", "b", "tool_use", "tool_result", "session", "title", "é", "12345678"]
)
_odd: st.SearchStrategy[Any] = st.sampled_from(
    [None, True, False, 0, -1.5, 10**19, 1e300, "\ud800", 'q"\\\n', [], {}, [[]], {"id": "x"}]
)
_text_or_odd = st.one_of(_texts, _texts, _odd)
_names = [
    "uuid",
    "parentUuid",
    "logicalParentUuid",
    "isSidechain",
    "id",
    "parentId",
    "parent_id",
    "type",
    "other",
]


def _object(names: list[str], values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.lists(st.tuples(st.sampled_from(names), values), max_size=6).map(_Pairs)


class _Pairs(list[tuple[str, Any]]):
    """An object whose names may stand in it twice."""


def _written(value: Any, space: str) -> str:
    if isinstance(value, _Pairs):
        inner = (f"{json.dumps(k)}{space}:{space}{_written(v, space)}" for k, v in value)
        return "{" + space + f"{space},{space}".join(inner) + space + "}"
    if isinstance(value, list):
        return "[" + space + ",".join(_written(item, space) for item in value) + space + "]"
    return json.dumps(value, ensure_ascii=not space)


_blocks = st.lists(
    st.one_of(_object(["type", "id", "tool_use_id", "text"], _text_or_odd), _odd), max_size=3
)
_messages = _object(["id", "content", "content", "role"], st.one_of(_text_or_odd, _blocks))
_records = _object([*_names, "message"], st.one_of(_text_or_odd, _messages, _messages))
_lines = st.tuples(_records, st.sampled_from(["", " ", "\t \r"])).map(
    lambda drawn: _written(*drawn).encode("utf-8", "surrogatepass")
)


@settings(deadline=None, max_examples=500)
@given(st.lists(_lines, max_size=6), st.sampled_from(FORMATS), st.booleans())
def test_records_of_any_form_give_the_links_of_their_reader(
    lines: list[bytes], module: Any, closed: bool
) -> None:
    planted(b"\n".join(lines) + b"\n" * closed, module)


@settings(deadline=None, max_examples=500)
@given(_lines, st.data())
def test_what_the_kernel_takes_is_json(line: bytes, data: st.DataObject) -> None:
    body = bytearray(line)
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(body)))
        body[at : at + data.draw(st.integers(0, 2))] = data.draw(
            st.sampled_from(
                [
                    b"",
                    b"{",
                    b"}",
                    b"[",
                    b"]",
                    b",",
                    b":",
                    b'"',
                    b"\\",
                    b"\\u",
                    b"0",
                    b"-",
                    b".",
                    b"e",
                    b" ",
                    b"\0",
                    b"\x1f",
                    b"\xff",
                    b"t",
                    b"null",
                ]
            )
        )
    changed = bytes(body).replace(b"\n", b"")
    planted(changed, claude_code)
    if changed and taken(changed) and changed.isascii():
        assert type(orjson.loads(changed)) is dict


@pytest.mark.parametrize(
    "line",
    [
        b'{"uuid":"a","parentUuid":null,"isSidechain":false,"x":[1,-2.5,"\\n\\u00e9\\/",{"y":[]}]}',
        b'{ "uuid" : "a" , "message" : { "content" : [ { "type" : "text" } , { } ] } } \r',
        '{"uuid":"é","message":{"id":"m","content":"told \\"so\\""}}'.encode(),
        b"{}",
    ],
)
def test_plain_lines_are_taken(line: bytes) -> None:
    assert taken(line)
    planted(line, claude_code)


@pytest.mark.parametrize(
    "line",
    [
        b'{"uuid":"a\\u0062"}',
        b'{"uu\\u0069d":"a"}',
        b'{"uuid":"a","x":"\\ud83d\\ude00"}',
        b'{"uuid":5}',
        b'{"uuid":"a","isSidechain":true,"isSidechain":{}}',
        b'{"uuid":"a","x":1e5}',
        b'{"uuid":"a","x":1234567890123456789012}',
        b'{"uuid":"a","x":[1 234567890123456789012 ]}',
        b'{"uuid":"a","x":' + b"[" * 70 + b"]" * 70 + b"}",
        b'{"uuid":"a"}{"uuid":"b"}',
        b'{"uuid":"a",}',
        b'{"uuid":"a"',
        b'{"uuid":"a","x":"\x01"}',
        b"[]",
        b"null",
        b"words",
    ],
)
def test_other_lines_are_left(line: bytes) -> None:
    assert not taken(line)
    planted(line, claude_code)


def test_a_tool_is_the_first_call_or_result() -> None:
    text, call = {"type": "text", "id": "t"}, {"type": "tool_use", "id": "c"}
    result = {"tool_use_id": "r", "type": "tool_result", "id": "no"}
    for content, tool in (
        ([text, call, result], "c"),
        ([result, call], "r"),
        ([text], ""),
        ("c", ""),
    ):
        record = {"uuid": "a", "message": {"content": content, "id": "m"}, "isSidechain": True}
        rows, ids = planted(json.dumps(record).encode(), claude_code)
        assert len(ids) == ID_BYTES
        assert rows[2] & 1
        assert bool(rows[3]) is bool(tool)


def test_more_rows_than_fit_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(links, "_MOST_ROWS", 3)
    lines = [b'{"uuid":"%d"}' % n if n % 5 else b'{"uuid":"\\u0061%d"}' % n for n in range(50)]
    rows, _ = planted(b"\n".join(lines), claude_code)
    assert len(rows) == 50 * WORDS


@given(st.text(), st.binary(max_size=3), st.integers(1, 9))
def test_utf8_is_told_in_pieces(text: str, behind: bytes, size: int) -> None:
    data = text.encode("utf-8", "surrogatepass") + behind
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(links, "_PIECE_BYTES", size)
        found = links._is_utf8(data)
    try:
        data.decode()
    except UnicodeDecodeError:
        assert not found
    else:
        assert found


def _files() -> list[Path]:
    names = ("claude_code_session", "pi_session", "ohmypi_session", "kit")
    found = [p for name in names for p in sorted((SAMPLES / name).rglob("*.jsonl"))]
    return [path for path in found if path.stat().st_size < 2_000_000]


@pytest.mark.parametrize("path", _files(), ids=lambda path: f"{path.parent.name}/{path.name}")
def test_samples_whole_and_damaged(path: Path) -> None:
    data = path.read_bytes()
    module = claude_code if "claude" in str(path) else pi
    planted(data, module)
    random = Random(path.name)
    for _ in range(20):
        planted(mutate(data, random), module)


def test_a_large_session_is_told_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    parent, lines = None, []
    for n in range(200):
        record = {"uuid": f"u{n}", "parentUuid": parent, "type": "user", "sessionId": "s"}
        lines.append(json.dumps(record | {"message": {"role": "user", "content": f"words {n}"}}))
        parent = f"u{n // 7 * 7 if n % 11 == 0 else n}"
    data = "\n".join(lines).encode()
    small = open_session(data)
    expected = list(small.messages())
    assert not pays(small.source)
    monkeypatch.setattr(links, "LEAST_BYTES", 0)
    large = open_session(data)
    assert pays(large.source)
    assert list(large.messages()) == expected
    assert large.report.branches == small.report.branches
    assert len(expected) < 200
    branch = small.report.branches[0]
    assert list(open_session(data, branch=branch).messages()) != expected


@given(st.binary(max_size=40), st.binary(min_size=16, max_size=16), st.integers(0, 9))
def test_siphash_equals_its_twin(data: bytes, key: bytes, start: int) -> None:
    words = np.frombuffer(key, np.uint64)
    found = siphash(
        np.frombuffer(bytes(start) + data, np.uint8), start, start + len(data), words[0], words[1]
    )
    assert int(found) == siphash_twin(data, key)


def test_the_twin_is_the_papers() -> None:
    key, data = bytes(range(16)), bytes(range(15))
    assert siphash_twin(data, key, rounds=2, last=4) == 0xA129CA6149BE45E5
