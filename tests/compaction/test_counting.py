from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from snapcompact.compaction.counting import (
    TokenRules,
    count_message,
    count_text,
    joined_text,
    leaf_text,
    utf16_units,
)
from snapcompact.compaction.policy import preset, preset_names
from snapcompact.history.model import (
    Blob,
    Message,
    Other,
    Role,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    wtf8,
)

RULES = preset().tokens


@given(text=st.text(max_size=100))
def test_units(text: str) -> None:
    size = len(text.encode("utf-8", "surrogatepass"))
    assert count_text(text, TokenRules(unit="bytes")) == math.ceil(size / 4)
    assert count_text(text, TokenRules(unit="bytes", rounding="floor")) == size // 4
    assert count_text(text, TokenRules(unit="utf16")) == math.ceil(utf16_units(text) / 4)
    assert utf16_units(text) == len(text.encode("utf-16-le", "surrogatepass")) // 2


@given(texts=st.lists(st.text(max_size=40), max_size=5))
def test_a_message_counts_at_least_as_much_by_fragment(texts: list[str]) -> None:
    message = Message(Role.USER, tuple(Text(wtf8(text)) for text in texts))
    by_fragment = count_message(message, RULES)
    by_message = count_message(message, replace(RULES, per="message"))
    assert by_message <= by_fragment <= by_message + len(texts)


@pytest.mark.parametrize("role", list(Role))
def test_the_default_counts_pictures_and_reasoning_of_every_role(role: Role) -> None:
    picture = Message(role, (Blob("image"),))
    assert count_message(picture, RULES) == 1200
    sized = Message(role, (Blob("image", width_px=750, height_px=100),))
    assert count_message(sized, RULES) == 100
    thought = Message(role, (Thinking(b"x" * 40, sealed_bytes=40),))
    assert count_message(thought, RULES) == 20


def test_cjk_counts_in_tool_output_too() -> None:
    text = Text(wtf8("日本語テキスト"))
    assert count_message(Message(Role.TOOL, (ToolResult("1", (text,)),)), RULES) == 5


def test_base64_is_never_counted_as_words() -> None:
    blob = Blob("image", size=9_000_000, data=b"x" * 1000)
    assert count_message(Message(Role.TOOL, (ToolResult("1", (blob,)),)), RULES) == 1200


@pytest.mark.parametrize("name", preset_names())
def test_lone_surrogates_are_counted(name: str) -> None:
    message = Message(Role.USER, (Text(wtf8("a\ud800b")),))
    assert count_message(message, preset(name).tokens) >= 0


@pytest.mark.parametrize(
    ("data", "leaves"),
    [
        (b'{"a":"xy","b":[1,"z",{"c":"w"}]}', "xyzw"),
        (b'{"value":"v","a":"hidden"}', "v"),
        (b'{"text":"t","a":"hidden"}', "t"),
        (b"no json", "no json"),
        (b"12", ""),
        (b'{"a":{"a":{"a":{"a":{"a":{"a":"deep"}}}}}}', ""),
    ],
)
def test_leaves(data: bytes, leaves: str) -> None:
    assert leaf_text(data) == leaves


def test_joined_text_names_the_tools() -> None:
    message = Message(
        Role.ASSISTANT,
        (Text(b"hi"), ToolCall("1", "grep", b'{"p":1}'), ToolResult("ls:1", (Text(b"r"),)),
         ToolResult("2", (Other("json", b"[1]"),))),
    )  # fmt: skip
    assert joined_text(message, {"2": "cat"}) == (
        'hi grep {"p":1} ls {"type":"text","value":"r"} cat [1]'
    )
