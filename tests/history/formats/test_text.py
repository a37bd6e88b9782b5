"""Markdown and plain text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from snapcompact.history.formats import text as module
from snapcompact.history.model import Message, Role, Text
from snapcompact.history.session import open_session
from tests.history.seen import Seen, seen


def _bytes(got: Seen) -> bytes:
    return b"".join(b.data for m in got.messages for b in m.blocks if isinstance(b, Text))


@given(st.one_of(st.binary(max_size=200), st.text(max_size=200).map(str.encode)))
def test_every_byte_is_kept(data: bytes) -> None:
    if not data.startswith((b"\xff\xfe", b"\xfe\xff", b"\x1f\x8b")):
        with open_session(data, format="text") as session:
            got = list(session.messages())
        assert b"".join(m.blocks[0].data for m in got if isinstance(m.blocks[0], Text)) == data
        assert session.report.damage.total == (0 if _is_utf8(data) else 1)


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError as error:
        return error.end == len(data) and error.reason == "unexpected end of data"
    return True


def test_a_document_is_one_message_of_the_users() -> None:
    got = seen(b"# Title\r\n\r\nSome words.\n")
    assert got.format == "text"
    assert got.messages == [
        Message(Role.USER, (Text(b"# Title\r\n\r\nSome words.\n"),), "document")
    ]


def test_long_documents_are_cut_at_line_ends_and_may_grow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "CHUNK_BYTES", 100)
    data = "".join(f"línea {n} {'x' * (n % 37)}\n" for n in range(200)).encode()
    whole = seen(data).messages
    assert _bytes(seen(data)) == data
    assert all(m.text.endswith("\n") for m in whole)
    for size in range(0, len(data), 333):
        part = seen(data[:size]).messages
        assert part[:-1] == whole[: max(0, len(part) - 1)]
    lines = data.split(b"\n")
    for message in whole:
        assert message.text.startswith(lines[message.meta.line - 1].decode())
        assert data[message.meta.offset :].startswith(message.text.encode())


def test_a_line_without_end_is_cut_anywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "CHUNK_BYTES", 100)
    data = "é".encode() * 333
    got = seen(data)
    assert _bytes(got) == data
    assert got.report.damage.total == 0


@pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be"])
def test_utf16_becomes_utf8(codec: str) -> None:
    got = seen(("\ufeff" + "naïve 😀\n").encode(codec))
    assert [m.text for m in got.messages] == ["naïve 😀\n"]
    assert got.report.notes == ["decoded from UTF-16"]
