from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from snapcompact.pages.count import PageCount
from snapcompact.pages.shape import parse_shape
from snapcompact.payload.worth import judge
from snapcompact.providers.catalog import load_catalog, match

if TYPE_CHECKING:
    from snapcompact.providers.rows import Model

SHAPE = parse_shape("8x16@11x16-1568x784")


@cache
def row(model_id: str) -> Model:
    return match(load_catalog(), model_id).model


def count(pages: int) -> PageCount:
    full = SHAPE.grid_rows * SHAPE.pitch_height
    return PageCount(
        pages, pages * SHAPE.page_cells, ((full, pages),) if pages else (), 9_000 * pages
    )


@given(st.integers(1, 200), st.integers(1, 10**6), st.integers(1, 5_000))
def test_the_break_even_is_where_both_cost_the_same(
    pages: int, text_tokens: int, guide_tokens: int
) -> None:
    chars = pages * SHAPE.page_cells
    worth = judge(
        row("claude-sonnet-4-5"),
        SHAPE,
        count(pages),
        chars=chars,
        text_tokens=text_tokens,
        guide_tokens=guide_tokens,
    )
    assert (worth.verdict == "pays") == (worth.factor > 1)
    if worth.break_even_chars is None:
        assert worth.high_tokens >= text_tokens
        assert worth.verdict != "pays"
    else:
        at = worth.break_even_chars / chars
        assert at * text_tokens >= at * worth.high_tokens + guide_tokens - 1e-6
        assert (worth.verdict == "pays") == (worth.high_tokens + guide_tokens < text_tokens)


def test_what_sources_disagree_on_may_pay() -> None:
    gpt = row("gpt-5.5")
    shape = parse_shape("8x16@8x22-1568x1568")
    pages = PageCount(10, 10 * shape.page_cells, ((1562, 10),), 500_000)
    said = [
        judge(gpt, shape, pages, chars=139_160, text_tokens=n, guide_tokens=500).verdict
        for n in (20_000, 27_000, 40_000)
    ]
    assert said == ["costs more", "may pay", "pays"]


@pytest.mark.parametrize(("pages", "faults"), [(90, 0), (91, 1), (5_000, 2)])
def test_caps_that_all_pages_would_break_are_named(pages: int, faults: int) -> None:
    worth = judge(
        row("claude-opus-4-7"), SHAPE, count(pages), chars=1, text_tokens=1, guide_tokens=1
    )
    assert len(worth.faults) == faults


def test_a_shape_that_is_scaled_down_says_so() -> None:
    shape = parse_shape("8x16@11x16-1568x1568")
    pages = PageCount(1, shape.page_cells, ((1568, 1),), 9_000)
    kinds = [
        judge(row(m), shape, pages, chars=1, text_tokens=1, guide_tokens=1).whole
        for m in ("claude-sonnet-4-5", "claude-opus-4-7")
    ]
    assert kinds == [False, True]


def test_a_text_only_model_never_pays() -> None:
    worth = judge(row("deepseek-v3"), SHAPE, count(3), chars=9, text_tokens=10**9, guide_tokens=1)
    assert worth.verdict == "takes no images"
    assert worth.break_even_chars is None


def test_no_text_makes_no_pages_and_no_claim() -> None:
    worth = judge(row("claude-opus-4-7"), SHAPE, count(0), chars=0, text_tokens=0, guide_tokens=400)
    assert worth.pages == worth.high_tokens == 0
    assert worth.verdict == "costs more"


def test_a_models_own_price_decides() -> None:
    model = row("claude-opus-4-7")
    dear = replace(model, image=replace(model.image, patch_px=14) if model.image else None)
    words = {"chars": 100_000, "text_tokens": 40_000, "guide_tokens": 500}
    cheap = judge(model, SHAPE, count(14), **words)
    assert judge(dear, SHAPE, count(14), **words).high_tokens > 3 * cheap.high_tokens
