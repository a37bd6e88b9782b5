"""What a damaged line still gives."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from snapcompact.history.model import wtf8
from snapcompact.history.report import DAMAGE
from snapcompact.history.salvage import salvage
from tests.strategies import json_values

RECORD = b'{"timestamp":"2026-01-02","type":"message","payload":{"type":"text","text":"whole"}}'
VALUE = json.loads(RECORD)


@pytest.mark.parametrize(
    ("line", "values", "damage"),
    [
        (b"", [], []),
        (b" \t\r", [], []),
        (b"\0" * 50, [], ["nul-bytes"]),
        (b'{"a":1}\0\0', [{"a": 1}], ["nul-bytes"]),
        (b'\0\0 {"a":1}\r', [{"a": 1}], ["nul-bytes"]),
        (b'\xef\xbb\xbf{"a":1}', [{"a": 1}], []),
        (b'{"a":1', [], ["bad-line"]),
        (b"not json", [], ["bad-line"]),
        (b'{"a":"\x01\t"}', [{"a": "\x01\t"}], ["control-character"]),
        (b'{"a":"\\ud83d"}', [{"a": "\ud83d"}], ["lone-surrogate"]),
        (b'{"a":"\\ud83d\\ude00"}', [{"a": "\U0001f600"}], []),
        (b'{"a":123456789012345678901234567890}', [{"a": 123456789012345678901234567890}], []),
        (b'{"a":' + b"9" * 5000 + b"}", [{"a": "9" * 5000}], ["huge-number"]),
        (RECORD + RECORD, [VALUE, VALUE], ["joined-records"]),
        (RECORD + b" \0 " + RECORD[:30], [VALUE], ["joined-records"]),
        (b"[" * 100_000, [], ["deep-nesting"]),
    ],
)
def test_salvage(line: bytes, values: list[Any], damage: list[str]) -> None:
    found = salvage(line)
    assert found.values == values
    assert found.damage == damage


def test_not_finite_numbers_are_kept() -> None:
    found = salvage(b'{"a":NaN,"b":-Infinity,"c":1e999}')
    assert found.damage == ["not-finite", "not-finite", "huge-number"]
    assert [str(value) for value in found.values[0].values()] == ["nan", "-inf", "inf"]


@given(st.integers(0, len(RECORD) - 1))
def test_a_torn_record_before_a_whole_one_loses_only_itself(cut: int) -> None:
    """Wherever the first record was cut, the second one is read."""
    found = salvage(RECORD[:cut] + RECORD)
    assert VALUE in found.values


@given(
    st.binary(min_size=1, max_size=6).filter(lambda data: b'"' not in data and b"\\" not in data)
)
def test_bytes_outside_utf8_survive_in_strings(data: bytes) -> None:
    found = salvage(b'{"a":"x' + data.translate(None, bytes(range(32))) + b'y"}')
    assert wtf8(found.values[0]["a"]) == b"x" + data.translate(None, bytes(range(32))) + b"y"


@given(json_values)
def test_good_json_is_no_damage(value: Any) -> None:
    found = salvage(json.dumps(value).encode())
    assert found.values == [value]
    assert found.damage == []


@given(st.binary(max_size=60))
def test_any_line_is_survived(line: bytes) -> None:
    assert set(salvage(line).damage) <= set(DAMAGE)


def test_work_on_one_line_is_bounded() -> None:
    """A hostile line full of restarts ends soon: each restart is tried at most eight times."""
    found = salvage(b'{"type":' * 200_000)
    assert found.values == []
