from __future__ import annotations

import pytest

from snapcompact.pages.shape import parse_shape
from snapcompact.payload.compose import ImagePart, Payload, TextPart, compose
from snapcompact.payload.guide import guide
from tests.payload.conftest import SHAPE, Build, messages
from tests.payload.test_compose import count, small, texts, with_thinking

COMPLETE = "The text is complete."


@pytest.mark.parametrize("thinking", [True, False])
@pytest.mark.parametrize("gone", [None, (3, 9)])
def test_a_text_is_called_complete_only_where_it_is(
    thinking: bool, gone: tuple[int, int] | None
) -> None:
    words = guide(parse_shape(SHAPE), "exact", thinking=thinking, gone=gone)
    assert (COMPLETE in words) == (thinking and gone is None)
    assert ("¶think" in words) == thinking
    assert ("reasoning" in words.split("¶note")[1]) == (not thinking)
    assert ("Messages 3 to 9 have no picture" in words) == (gone is not None)


def _opening(payload: Payload) -> str:
    assert any(isinstance(p, ImagePart) for p in payload.parts)
    first = payload.parts[0]
    assert isinstance(first, TextPart)
    return first.text


def test_the_guide_names_the_messages_that_the_index_names(build: Build) -> None:
    payload = compose(build(messages(60, words=60)), "a", small(images=40), count, tokens=100_000)
    assert payload.plan is not None
    assert payload.plan.left_out
    range_ = texts(payload)["index"].split("messages ")[1].split(" (")[0]
    assert f"Messages {range_} have no picture" in _opening(payload)
    assert COMPLETE not in _opening(payload)


def test_a_whole_history_is_called_complete_unless_its_reasoning_is_left_out(build: Build) -> None:
    archive = build(with_thinking())
    kept = compose(archive, "a", small(images=400), count, thinking=True)
    assert COMPLETE in _opening(kept)
    left = compose(archive, "a", small(images=400), count, thinking=False)
    assert COMPLETE not in _opening(left)
    assert "reasoning, where there was any, is left out" in _opening(left)
    assert "¶think" not in _opening(left)
