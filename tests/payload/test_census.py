from __future__ import annotations

import itertools
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from snapcompact.history.model import (
    Blob,
    Message,
    Other,
    Role,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from snapcompact.history.session import open_session
from snapcompact.payload.census import MESSAGE_TOKENS, Census, CensusTaker
from snapcompact.providers.catalog import load_catalog, match
from snapcompact.providers.price import image_price

if TYPE_CHECKING:
    from snapcompact.providers.rows import Model

CASES = Path(__file__).parents[1] / "cases"


@cache
def row(model_id: str) -> Model:
    return match(load_catalog(), model_id).model


def by_bytes(_data: bytes, cuts: Sequence[int]) -> list[float]:
    return [float(end - start) for start, end in itertools.pairwise(cuts)]


def census(messages: Sequence[Message], model: str = "claude-opus-4-7") -> Census:
    taker = CensusTaker(by_bytes, row(model))
    for message in messages:
        taker.add(message)
    return taker.result()


words = st.binary(max_size=300)
blocks = st.one_of(
    st.builds(Text, words),
    st.builds(Thinking, words, st.integers(0, 1000)),
    st.builds(ToolCall, st.sampled_from("abc"), st.sampled_from(["Read", "Bash"]), words),
    st.builds(
        ToolResult,
        st.sampled_from("abcd"),
        st.lists(st.builds(Text, words), max_size=2).map(tuple),
    ),
    st.builds(
        Blob, st.just("image"), width_px=st.integers(0, 3000), height_px=st.integers(0, 3000)
    ),
    st.builds(Blob, st.just("file"), st.just("application/pdf"), size=st.integers(0, 10**6)),
    st.builds(Other, st.just("odd"), words),
)
histories = st.lists(
    st.builds(Message, st.sampled_from(Role), st.lists(blocks, max_size=4).map(tuple)), max_size=30
)


@given(histories)
def test_sums_agree(messages: list[Message]) -> None:
    taken = census(messages)
    assert taken.total.items == len(messages)
    assert sum(t.items for t in taken.roles.values()) == len(messages)
    in_roles = sum(t.tokens for t in taken.roles.values())
    in_kinds = sum(t.tokens for t in taken.kinds.values())
    assert in_roles == pytest.approx(taken.total.tokens, abs=len(taken.roles) + 1)
    assert in_kinds + MESSAGE_TOKENS * len(messages) == pytest.approx(
        taken.total.tokens, abs=len(taken.kinds) + 1
    )
    assert list(taken.kinds.values()) == sorted(taken.kinds.values(), key=lambda t: -t.tokens)


@given(histories)
def test_the_largest_are_the_largest(messages: list[Message]) -> None:
    taken = census(messages)
    alone = sorted((census([m]).total.tokens for m in messages), reverse=True)
    assert [large.tokens for large in taken.largest] == pytest.approx(alone[:10], abs=1)
    numbers = [large.message for large in taken.largest]
    assert len(set(numbers)) == len(numbers)


def test_results_count_for_the_tool_that_was_called() -> None:
    taken = census(
        [
            Message(Role.ASSISTANT, (ToolCall("1", "Read", b"{}"), ToolCall("2", "Bash", b"{}"))),
            Message(Role.TOOL, (ToolResult("2", (Text(b"x" * 100),)),)),
            Message(Role.TOOL, (ToolResult("1", (Text(b"y" * 10),)),)),
            Message(Role.TOOL, (ToolResult("zz", (Text(b"z" * 5),)),)),
            # Ids start again every turn in some tools: the newest call is meant.
            Message(Role.ASSISTANT, (ToolCall("1", "Grep", b"{}"),)),
            Message(Role.TOOL, (ToolResult("1", (Text(b"g" * 7),)),)),
        ]
    )
    assert {name: t.bytes for name, t in taken.tools.items()} == {
        "Bash": 107, "Read": 17, "?": 5, "Grep": 14,
    }  # fmt: skip


def test_what_is_said_twice_is_counted_once_it_is_long() -> None:
    twice = Text(b"long enough " * 40)
    taken = census(
        [Message(Role.TOOL, (ToolResult(str(n), (twice, Text(b"ok"))),)) for n in range(3)]
    )
    assert (taken.duplicates.items, taken.duplicates.bytes) == (2, 2 * len(twice.data))


def test_images_cost_by_their_size_and_never_nothing() -> None:
    image = Blob("image", "image/png", width_px=1000, height_px=1000, size=10**6)
    unknown = Blob("image", ref="https://example.org/x.png")
    for model in ("claude-opus-4-7", "gpt-5.5", "gemini-3-pro"):
        taken = census([Message(Role.USER, (image, unknown))], model)
        prices = [image_price(row(model), *size).high_tokens for size in ((1000, 1000), (0, 0))]
        assert taken.kinds["image"].tokens == sum(prices)
        assert taken.images == 2
    text_only = census([Message(Role.USER, (image,))], "deepseek-v3")
    assert 0 < text_only.kinds["image"].tokens < 100
    assert text_only.refused_images == 1


def test_case_32_base64_is_never_counted_as_text() -> None:
    path = CASES / "32_base64_image_tool_result.jsonl"
    with open_session(path) as session:
        messages = list(session.messages())
    taken = census(messages)
    images = [
        b
        for m in messages
        for block in m.blocks
        for b in (block.content if isinstance(block, ToolResult) else (block,))
        if isinstance(b, Blob) and b.kind == "image"
    ]
    assert len(images) >= 20
    assert taken.kinds["image"].tokens >= len(images)
    # 9000x2500 is over the 8000 px that Claude takes; the census says that some are refused.
    assert taken.refused_images >= 1
    assert taken.kinds["image"].bytes == 0


def test_case_38_every_message_has_its_overhead() -> None:
    with open_session(CASES / "38_many_tiny_messages.jsonl") as session:
        taken = census(list(session.messages()))
        empty = session.report.skipped["empty message"]
    said = taken.total.items
    assert said + empty == 6_000
    assert taken.total.tokens == taken.total.bytes + said * MESSAGE_TOKENS
