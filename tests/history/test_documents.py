"""Session files that are one JSON document."""

from __future__ import annotations

import json
from typing import Any

import pytest

from snapcompact.errors import InputError
from snapcompact.history import documents
from snapcompact.history.documents import document
from snapcompact.history.report import Report
from snapcompact.history.source import open_source
from tests.history.sessions import jsonl

VALUE = {"messages": [{"role": "user", "content": str(n)} for n in range(80)]}


def _read(data: bytes) -> Any:
    report = Report()
    found = document(open_source(data), report)
    return found.value if found else None


@pytest.mark.parametrize(
    "data",
    [
        json.dumps(VALUE).encode(),
        json.dumps(VALUE, indent=2).encode(),
        b"\xef\xbb\xbf \n" + json.dumps(VALUE).encode() + b"\r\n",
        b'{"messages":[\n'
        + b",\n".join(json.dumps(m).encode() for m in VALUE["messages"])
        + b"\n]}",
    ],
)
def test_documents(data: bytes) -> None:
    assert _read(data) == VALUE


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"# text",
        jsonl(VALUE["messages"]),
        b'{"torn":\n' + jsonl(VALUE["messages"]),
        b"\0\0\n" + jsonl(VALUE["messages"]),
        b'{"a":1}{"b":2}',
        b'{"a":',
    ],
)
def test_what_is_no_document(data: bytes) -> None:
    assert _read(data) is None


def test_one_line_is_a_document() -> None:
    assert _read(b'{"role":"user"}\n') == {"role": "user"}


def test_a_document_over_the_limit_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "MAX_DOCUMENT_BYTES", 100)
    with pytest.raises(InputError, match="one JSON document of more than 100 bytes"):
        _read(json.dumps(VALUE).encode())
    assert _read(jsonl(VALUE["messages"])) is None
