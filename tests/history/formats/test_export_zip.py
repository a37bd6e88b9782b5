"""Account exports in their ZIP."""

from __future__ import annotations

import io
import json
import stat
import zipfile

import pytest

from snapcompact.errors import FormatError, InputError
from snapcompact.history.formats import export_zip
from snapcompact.history.model import Blob
from snapcompact.history.session import open_session
from tests.history.formats.test_chatgpt_export import conversation as gpt
from tests.history.formats.test_claude_ai_export import QUESTION
from tests.history.formats.test_claude_ai_export import conversation as claude
from tests.history.seen import seen

PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x08\0\0\0\x08"


def _zip(**members: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return file.getvalue()


def _json(*values: object) -> bytes:
    return json.dumps(values).encode()


def test_conversations_of_all_files_in_order() -> None:
    packed = _zip(
        **{
            "chat.html": b"<p>",
            "user.json": b"{}",
            "conversations-001.json": _json(claude(QUESTION, name="last")),
            "conversations-000.json": _json(gpt("c1"), gpt("c2")),
        }
    )
    got = seen(packed)
    assert got.format == "export_zip"
    notes = [m.text for m in got.messages if m.label == "conversation"]
    assert notes == ["c1: Dot", "c2: Dot", "last: Dot"]
    assert got.report.skipped == {"other JSON file of the account": 1}
    with open_session(packed) as session:
        assert [about.id for about in session.conversations] == ["c1", "c2", "last"]
    assert seen(packed, select="last").texts[-1] == "What is it?"


def test_pictures_come_from_the_zip() -> None:
    packed = _zip(
        **{"conversations.json": _json(gpt()), "user/file_1-dot.png": PNG, "file_2-x.png": b"x"}
    )
    pictures = [b for m in seen(packed).messages for b in m.blocks if isinstance(b, Blob)]
    assert [(p.mime, p.data) for p in pictures] == [("image/png", PNG)]


@pytest.mark.parametrize(
    "name", ["../conversations.json", "/conversations.json", "a\\..\\conversations.json"]
)
def test_members_that_lead_outside_are_not_read(name: str) -> None:
    with pytest.raises(FormatError, match="no conversations"):
        seen(_zip(**{name: _json(gpt())}))


def test_a_link_is_not_read() -> None:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        info = zipfile.ZipInfo("conversations.json")
        info.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(info, "/etc/passwd")
    with pytest.raises(FormatError):
        seen(file.getvalue())


def test_sizes_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(export_zip, "MAX_DOCUMENT_BYTES", 10)
    with pytest.raises(InputError, match="larger"):
        seen(_zip(**{"conversations.json": _json(gpt())}))


@pytest.mark.parametrize("cut", [30, 200, -30])
def test_broken_and_foreign_zips(cut: int) -> None:
    with pytest.raises(FormatError):
        seen(_zip(**{"conversations.json": _json(gpt())})[:cut])
    with pytest.raises(FormatError, match="snapcompact archive"):
        seen(_zip(**{"manifest.json": b"{}"}))


def test_changed_bytes_are_our_errors() -> None:
    packed = _zip(**{"conversations.json": _json(gpt()), "file_1-dot.png": PNG})
    for at in range(0, len(packed), 7):
        broken = bytearray(packed)
        broken[at] ^= 0xFF
        if broken[:2] != b"PK":
            continue
        try:
            seen(bytes(broken))
        except InputError:
            continue
