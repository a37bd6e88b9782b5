"""Content blocks of the provider APIs."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from snapcompact.history.blocks import blocks, call_args, messages, result_content
from snapcompact.history.model import (
    Blob,
    Block,
    Message,
    Meta,
    Other,
    Role,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from tests.strategies import calls, results, texts


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (None, []),
        ("", []),
        ([], []),
        ("a", [Text(b"a")]),
        (["a", None, {"type": "text", "text": "b"}], [Text(b"a"), Text(b"b")]),
        ({"type": "text", "text": "c"}, [Text(b"c")]),
        ([{"type": "text"}, {"type": "text", "text": None}], []),
        ([{"type": "text", "text": 5}], [Other("text", b'{"type":"text","text":5}')]),
        ([7], [Other("int", b"7")]),
        ([{"a": 1}], [Other("block", b'{"a":1}')]),
        ([{"type": {"b": 1}}], [Other("block", b'{"type":{"b":1}}')]),
        ([{"type": "thinking", "thinking": "t", "signature": "abc"}], [Thinking(b"t")]),
        ([{"type": "thinking", "thinking": "", "signature": "abc"}], [Thinking(b"", 3)]),
        ([{"type": "redacted_thinking", "data": "abcd"}], [Thinking(b"", 4)]),
        ([{"type": "refusal", "refusal": "no"}], [Text(b"no")]),
        (
            [{"type": "server_tool_use", "id": "s", "name": "web", "input": {"q": "x"}}],
            [ToolCall("s", "web", b'{"q":"x"}')],
        ),
        (
            [
                {
                    "type": "web_search_tool_result",
                    "tool_use_id": "s",
                    "content": {"type": "x_error"},
                }
            ],
            [ToolResult("s", (Text(b'{"type":"x_error"}'),), is_error=True)],
        ),
        (
            [{"type": "tool_result", "tool_use_id": "t", "content": [{"type": "tool_reference"}]}],
            [ToolResult("t", (Other("tool_reference", b'{"type":"tool_reference"}'),))],
        ),
    ],
)
def test_blocks(content: Any, expected: list[Block]) -> None:
    assert blocks(content) == expected


@pytest.mark.parametrize(
    ("block", "ref"),
    [
        (
            {"type": "image", "source": {"type": "url", "url": "https://x.invalid/a"}},
            "https://x.invalid/a",
        ),
        ({"type": "image", "source": {"type": "file", "file_id": "f1"}}, "file f1"),
        ({"type": "image", "mimeType": "image/png"}, "no bytes in the session"),
        ({"type": "image_url", "image_url": "https://x.invalid/b"}, "https://x.invalid/b"),
        ({"type": "input_image", "file_id": "f2"}, "file f2"),
        ({"type": "file", "file": {"file_id": "f3"}}, "file f3"),
        ({"type": "input_file", "file_url": "https://x.invalid/c"}, "https://x.invalid/c"),
    ],
)
def test_pictures_and_files_without_bytes(block: dict[str, Any], ref: str) -> None:
    found = blocks([block])[0]
    assert isinstance(found, Blob)
    assert (found.ref, found.data) == (ref, None)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, b""),
        ("{x", b"{x"),
        ({"b": 1, "a": None}, b'{"b":1,"a":null}'),
        (4, b"4"),
        ([], b"[]"),
    ],
)
def test_call_args(value: Any, expected: bytes) -> None:
    assert call_args(value) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, ()),
        ("", ()),
        ("a", (Text(b"a"),)),
        (42, (Text(b"42"),)),
        ({"x": 1}, (Text(b'{"x":1}'),)),
    ],
)
def test_result_content(value: Any, expected: tuple[Any, ...]) -> None:
    assert result_content(value) == expected


@given(st.lists(st.one_of(texts, calls, results), max_size=6), st.sampled_from(list(Role)[:3]))
def test_messages_keep_every_block_and_results_apart(found: list[Block], role: Role) -> None:
    out = messages(role, found, "label", Meta(line=3))
    told = [block for message in out for block in message.blocks]
    for message in out:
        assert (message.role is Role.TOOL) == isinstance(message.blocks[0], ToolResult)
        assert len(message.blocks) == 1 or message.role is role
        assert (message.label, message.meta.line) == ("label", 3)
    if role is Role.USER:
        found = sorted(found, key=lambda block: not isinstance(block, ToolResult))
    assert told == found


def test_a_users_words_follow_the_results() -> None:
    result = ToolResult("t", ())
    assert messages(Role.USER, [Text(b"and?"), result], "", Meta()) == [
        Message(Role.TOOL, (result,)),
        Message(Role.USER, (Text(b"and?"),)),
    ]
