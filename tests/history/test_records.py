"""JSON Lines as they really are."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from snapcompact.errors import DamageError
from snapcompact.history import records as module
from snapcompact.history.records import contains, line_blocks, records
from snapcompact.history.report import DamageReport, Report
from snapcompact.history.source import Source

DAMAGED = [b"", b"\0\0", b"{", b"42", b'"text"', b"[1]", b"null", b"\xff", b'{"a":"\xff"}', b"\r"]
objects = st.dictionaries(st.text(max_size=3), st.integers(), max_size=3)
lines = st.lists(
    st.one_of(objects.map(lambda value: json.dumps(value).encode()), st.sampled_from(DAMAGED)),
    max_size=12,
)


def _read(data: bytes, **options: Any) -> tuple[list[tuple[dict[str, Any], int, int]], Report]:
    report = Report()
    return list(records(Source("test", data=data), report, **options)), report


@given(lines, st.sampled_from([b"", b"\n"]), st.integers(1, 40))
def test_every_record_is_found_at_its_line_and_offset(
    found: list[bytes], end: bytes, block: int
) -> None:
    data = b"\n".join(found) + end
    whole, report = _read(data)
    for value, line, offset in whole:
        text = data.split(b"\n")[line - 1]
        assert data[offset : offset + len(text)] == text
        if b"\xff" not in text:
            assert json.loads(text) == value
    expected = sum(line.startswith(b'{"') or line == b"{}" for line in found)
    assert len(whole) == expected
    assert report.damage.total >= sum(line in (b"{", b"42", b"[1]") for line in found)


@given(lines, st.integers(1, 40))
def test_blocks_of_any_size_give_the_same_lines(found: list[bytes], size: int) -> None:
    data = b"\n".join(found)
    pieces = [data[at : at + size] for at in range(0, len(data), size)]
    blocks = list(line_blocks(_Pieces("test", data=data, pieces=pieces), DamageReport()))
    got = [line for block in blocks for line in block.data.split(b"\n")]
    assert got == (
        data.split(b"\n") if data and not data.endswith(b"\n") else data.split(b"\n")[:-1]
    )
    for block in blocks:
        assert data[: block.offset].count(b"\n") == block.number - 1


class _Pieces(Source):
    """A source whose blocks are cut where the test says."""

    __slots__ = ("pieces",)

    def __init__(self, name: str, data: bytes, pieces: list[bytes]) -> None:
        super().__init__(name, data=data)
        self.pieces = pieces

    def blocks(self, tap: Any = None, damaged: Any = None) -> Any:
        yield from self.pieces


def test_lines_end_at_lf_only() -> None:
    data = '{"a":"x\u2028y\u2029z\u0085\x0c"}\n{"b":1}'.encode()
    whole, report = _read(data.replace(b"\x0c", b""))
    assert [value for value, _, _ in whole] == [{"a": "x\u2028y\u2029z\u0085"}, {"b": 1}]
    assert report.damage.total == 0


def test_crlf_and_bom_are_no_damage() -> None:
    whole, report = _read(b'\xef\xbb\xbf{"a":1}\r\n\r\n{"b":2}\r\n')
    assert [(value, line) for value, line, _ in whole] == [({"a": 1}, 1), ({"b": 2}, 3)]
    assert report.damage.total == 0


def test_torn_tail_is_told_from_a_bad_line() -> None:
    _, report = _read(b'{"a":1\n{"b":2}\n{"c":"to')
    assert report.damage.counts == {"bad-line": 1, "torn-tail": 1}
    assert report.damage.lines == {"bad-line": [1], "torn-tail": [3]}


def test_a_last_line_without_lf_is_a_record() -> None:
    assert [value for value, _, _ in _read(b'{"a":1}\n{"b":2}')[0]] == [{"a": 1}, {"b": 2}]


def test_only_the_first_lines_of_a_damage_are_kept() -> None:
    _, report = _read(b"42\n" * 100)
    assert report.damage.counts["not-an-object"] == 100
    assert report.damage.lines["not-an-object"] == [1, 2, 3, 4, 5]


def test_strict_names_file_line_and_damage() -> None:
    report = Report(DamageReport("a.jsonl", strict=True))
    with pytest.raises(DamageError, match=r"a\.jsonl, line 2: a line that is no JSON"):
        list(records(Source("a.jsonl", data=b'{"a":1}\n{\n{"b":2}\n'), report))


def test_whole_numbers_of_any_size_are_exact() -> None:
    data = b'{"a":18446744073709551616,"b":-99999999999999999999999}\n'
    whole, report = _read(data)
    assert whole[0][0] == {"a": 18446744073709551616, "b": -99999999999999999999999}
    assert report.damage.total == 0


def test_skipped_lines_are_counted_and_not_parsed() -> None:
    data = b'{"t":"a",bad}\n{"t":"b"}\n{"t":"a"\n'
    whole, report = _read(data, skip={b'{"t":"a"': "kind a"})
    assert [value for value, _, _ in whole] == [{"t": "b"}]
    assert report.skipped == {"kind a": 1}
    assert report.damage.counts == {"bad-line": 1}  # the cut line is not taken for a whole one


def test_a_line_over_the_limit_is_dropped_and_the_rest_is_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "MAX_LINE_BYTES", 3 << 20)
    long = b'{"a":"' + b"x" * (5 << 20) + b'"}'
    data = b'{"n":1}\n' + long + b'\n{"n":2}\n{"n":3}\n' + long
    whole, report = _read(data)
    assert [value for value, _, _ in whole] == [{"n": 1}, {"n": 2}, {"n": 3}]
    assert [line for _, line, _ in whole] == [1, 3, 4]
    for _, line, offset in whole:
        assert data[offset:].startswith(b'{"n":%d' % (1 if line == 1 else line - 1))
    assert report.damage.counts == {"line-too-long": 2}
    assert report.damage.lines["line-too-long"] == [2, 5]


def test_a_line_of_many_blocks_is_read() -> None:
    text = "x" * (9 << 20)
    whole, _ = _read(b'{"n":1}\n' + json.dumps({"a": text}).encode() + b'\n{"n":2}')
    assert [list(value) for value, _, _ in whole] == [["n"], ["a"], ["n"]]
    assert whole[1][0]["a"] == text


def test_contains() -> None:
    source = Source("test", data=b"one\ntwo three\n")
    assert contains(source, b"two t")
    assert not contains(source, b"one two")
