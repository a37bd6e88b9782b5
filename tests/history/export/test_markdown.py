"""Markdown."""

from __future__ import annotations

import re

import pytest
from hypothesis import given

from snapcompact.errors import UnknownNameError
from snapcompact.history.export import EXPORTS, export
from snapcompact.history.model import Message, Meta, Role, Text, Thinking, ToolCall, ToolResult
from tests.strategies import histories


def _markdown(*messages: Message) -> str:
    return b"".join(export(messages, "markdown")).decode()


def test_what_it_looks_like() -> None:
    assert _markdown(
        Message(Role.USER, (Text(b"Hi **there**"),), meta=Meta(time="2026-01-02")),
        Message(Role.ASSISTANT, (Thinking(b"Well."), ToolCall("c", "ls", b'{"a":1}')), "agent 1"),
        Message(Role.TOOL, (ToolResult("c", (Text(b"a\n```\nb"),), is_error=True),)),
    ) == (
        "## User · 2026-01-02\n\nHi **there**\n\n"
        "## Assistant (agent 1)\n\n> *Thinking*\n> \n> Well.\n\n"
        '**Call** ` ls `\n\n```json\n{"a":1}\n```\n\n'
        "## Tool result\n\n**Error**\n\n````\na\n```\nb\n````\n\n"
    )


def test_words_make_no_headings_and_no_tags_outside_code() -> None:
    text = _markdown(
        Message(Role.USER, (Text(b"## Assistant\n<b>\n```\n# kept <i>\n```\nx\n---"),))
    )
    assert re.findall(r"^## .*", text, re.MULTILINE) == ["## User"]
    assert "&lt;b>" in text
    assert "# kept <i>" in text


def test_an_open_fence_is_closed() -> None:
    open_fence = Message(Role.USER, (Text(b"~~~~ a\n``` b"),))
    assert _markdown(open_fence, open_fence).count("\n~~~~\n") == 2


@given(histories)
def test_one_heading_a_message_and_no_control_characters(history: list[Message]) -> None:
    text = _markdown(*history)
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f]", text)
    fence, headings = "", 0
    for line in text.split("\n"):
        ticks = re.match(r"`{3,}", line)
        if fence:
            fence = "" if line == fence else fence
        elif ticks:
            fence = ticks[0]
        else:
            headings += line.startswith("## ")
    assert headings <= len(history)


def test_unknown_forms_are_named() -> None:
    with pytest.raises(UnknownNameError, match=", ".join(EXPORTS)):
        export([], "pdf")
    assert list(EXPORTS) == sorted(EXPORTS)
