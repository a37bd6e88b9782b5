"""Messages as JSON Lines."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given

from snapcompact.errors import FormatError
from snapcompact.history.blobs import blob
from snapcompact.history.export.json import (
    export,
    message_from_json,
    message_line,
    message_to_json,
)
from snapcompact.history.model import Blob, Message, Meta, Other, Role, Text, Thinking, Usage
from tests.history.seen import seen
from tests.strategies import histories

FULL = Message(
    Role.ASSISTANT,
    (
        Text(b"caf\xe9 \xed\xa0\xbd \xc3\xa9"),
        Thinking(b"", 9),
        blob("image", "", b"x\0"),
        Other("k", b"{}"),
    ),
    "agent 1",
    Meta("id", "2026", "m", "stop", Usage(1, 2, 3, 4), 5, 6),
)


@given(histories)
def test_round_trip(history: list[Message]) -> None:
    lines = b"".join(export(history)).splitlines()
    back = [message_from_json(json.loads(line)) for line in lines]
    assert back == history
    assert [m.meta for m in back] == [m.meta for m in history]


def test_text_that_is_no_utf8_is_readable_and_exact() -> None:
    value = message_to_json(FULL)
    assert value["blocks"][0]["text"] == "caf� ��� é"
    assert value["blocks"][0]["text_base64"] == "Y2Fm6SDtoL0gw6k="
    back = message_from_json(json.loads(message_line(FULL)))
    assert (back, back.meta) == (FULL, FULL.meta)
    picture = back.blocks[2]
    assert isinstance(picture, Blob)
    assert picture.data == b"x\0"


def test_it_is_a_session_like_any_other() -> None:
    got = seen(message_line(FULL) + b'{"role":"user","blocks":[{"type":"new"}]}\n')
    assert got.format == "snapcompact_messages"
    assert got.messages[0] == FULL
    assert got.messages[1].label == "unknown record"


@pytest.mark.parametrize(
    "value",
    [
        None,
        {},
        {"role": "user"},
        {"role": "robot", "blocks": []},
        {"role": "user", "blocks": [3]},
        {"role": "user", "blocks": [{"type": "text", "text": 3}]},
        {"role": "user", "blocks": [{"type": "text", "text_base64": "?"}]},
        {"role": "user", "blocks": [{"type": "blob", "size": "big"}]},
        {"role": "user", "blocks": [], "meta": {"usage": {"input": None}}},
        {"role": "user", "blocks": [], "meta": 3},
    ],
)
def test_other_values_are_refused(value: Any) -> None:
    with pytest.raises(FormatError):
        message_from_json(value)
