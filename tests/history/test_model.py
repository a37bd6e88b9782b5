"""Text as bytes, and back."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from snapcompact.history.model import Message, Meta, Role, Text, unwtf8, wtf8
from tests.strategies import any_bytes

SURROGATE_BYTES = st.lists(
    st.sampled_from([0xED, 0xAE, 0x80, 0xB2, 0xB3, 0xA0, 0xBD, 0x41, 0xFF, 0xC3, 0xA9]), max_size=12
).map(bytes)


@given(st.one_of(any_bytes, st.binary(), SURROGATE_BYTES))
def test_any_bytes_survive_as_text(data: bytes) -> None:
    assert wtf8(unwtf8(data)) == data


@given(st.text())
def test_text_is_utf8(text: str) -> None:
    assert wtf8(text) == text.encode()
    assert unwtf8(text.encode()) == text


@given(st.integers(0x80, 0xFF))
def test_a_marked_byte_is_itself(byte: int) -> None:
    assert wtf8("a\udb80" + chr(0xDC00 + byte) + "b") == b"a" + bytes((byte,)) + b"b"


@given(st.integers(0xD800, 0xDFFF))
def test_a_lone_surrogate_is_three_bytes(code: int) -> None:
    assert wtf8(chr(code)) == chr(code).encode("utf-8", "surrogatepass")


@given(st.integers(0xD800, 0xDBFF), st.integers(0xDC00, 0xDFFF))
def test_no_json_gives_a_marked_byte(high: int, low: int) -> None:
    read = json.loads(f'"\\u{high:04x}\\u{low:04x}"')
    assert len(read) == 1
    assert wtf8(read) == read.encode()


def test_where_a_message_came_from_is_not_compared() -> None:
    one = Message(Role.USER, (Text(b"a"),), meta=Meta(line=1))
    assert one == Message(Role.USER, (Text(b"a"),), meta=Meta(line=2))
    assert one != Message(Role.USER, (Text(b"a"),), label="context")
