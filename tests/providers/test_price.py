from __future__ import annotations

from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from snapcompact.providers.catalog import Catalog, load_catalog
from snapcompact.providers.price import (
    fit_size,
    image_price,
    request_faults,
    seen_size,
)
from snapcompact.providers.rows import Fit, Model

sides = st.integers(1, 12_000)


@cache
def catalog() -> Catalog:
    return load_catalog()


def row(name: str) -> Model:
    return next(m for m in catalog().models if m.name == name)


seeing = [m.name for m in catalog().models if m.vision]
names = st.sampled_from(seeing)


@given(names, sides, sides)
def test_the_seen_size_is_no_larger_keeps_the_aspect_and_is_stable(
    name: str, width: int, height: int
) -> None:
    model = row(name)
    seen = seen_size(model, width, height)
    assert 1 <= seen[0] <= width
    assert 1 <= seen[1] <= height
    assert seen_size(model, *seen) == seen
    # Rounding to a pixel (a whole patch on one side) may bend the aspect by that much, no more.
    for edge in (model.fit.long_edge_px, model.fit.short_edge_px):
        if edge and min(seen) > 1:
            assert abs(seen[0] * height - seen[1] * width) <= 2 * max(width, height) + min(
                width, height
            )


@given(names, sides, sides)
def test_limits_hold_after_the_downscale(name: str, width: int, height: int) -> None:
    model = row(name)
    seen = seen_size(model, width, height)
    fit = model.fit
    assert not fit.long_edge_px or max(seen) <= fit.long_edge_px
    assert not fit.short_edge_px or min(seen) <= fit.short_edge_px
    if fit.patches and model.image:
        patch = model.image.patch_px
        assert -(-seen[0] // patch) * -(-seen[1] // patch) <= fit.patches


@given(names, sides, sides, sides, sides)
def test_a_larger_image_seen_whole_never_costs_less(
    name: str, width: int, height: int, more_width: int, more_height: int
) -> None:
    model = row(name)
    small = image_price(model, width, height)
    large = image_price(model, width + more_width, height + more_height)
    if small.whole and large.whole:
        assert small.low_tokens <= large.low_tokens
        assert small.high_tokens <= large.high_tokens


@given(names, sides, sides)
def test_an_image_is_never_free_and_low_is_never_over_high(
    name: str, width: int, height: int
) -> None:
    price = image_price(row(name), width, height)
    assert 1 <= price.low_tokens <= price.high_tokens


@given(names, st.integers(-1, 0), sides)
def test_an_unknown_size_is_priced_as_a_large_one(name: str, width: int, height: int) -> None:
    model = row(name)
    assert image_price(model, width, height) == image_price(model, 2048, 2048)


@given(names, sides, sides, st.integers(0, 10**9), st.integers(0, 10**9))
def test_the_price_does_not_depend_on_the_bytes(
    name: str, width: int, height: int, some: int, other: int
) -> None:
    model = row(name)
    first = image_price(model, width, height, base64_bytes=some)
    second = image_price(model, width, height, base64_bytes=other)
    assert first.low_tokens == second.low_tokens
    assert first.high_tokens == second.high_tokens


# Sizes and tokens that the providers' own pages and PROVIDERS.md print.
@pytest.mark.parametrize(
    ("name", "size", "seen", "tokens"),
    [
        ("claude-3", (1568, 1568), (1092, 1092), 1521),
        ("claude-3", (1568, 728), (1568, 728), 1456),
        ("claude-3", (1568, 784), (1568, 784), 1568),
        ("claude-3", (3840, 2160), (1456, 819), 1560),
        ("claude-3", (1075, 1520), (924, 1307), 1551),
        ("claude-4.7", (1920, 1080), (1920, 1080), 2691),
        ("claude-4.7", (3840, 2160), (2576, 1449), 4784),
        ("claude-4.7", (1000, 1000), (1000, 1000), 1296),
        ("gpt-5.4", (1568, 1568), (1568, 1568), 2401),
        ("gpt-mini", (1024, 1024), (1024, 1024), 1659),
        ("gpt-nano", (1800, 2400), (1056, 1408), 3572),
        ("gpt-4o", (2048, 4096), (768, 1536), 1105),
        ("gpt-4o", (4096, 8192), (768, 1536), 1105),
        ("gpt-5", (768, 2048), (768, 2048), 1190),
        ("openai-o", (768, 2048), (768, 2048), 1275),
        ("gemini-3", (1568, 728), (1568, 728), 1078),
        ("gemini-2", (1536, 1536), (1536, 1536), 1032),
        ("grok", (1000, 1000), (1000, 1000), 1000),
    ],
)
def test_published_figures(
    name: str, size: tuple[int, int], seen: tuple[int, int], tokens: int
) -> None:
    price = image_price(row(name), *size)
    assert (price.seen_width_px, price.seen_height_px) == seen
    assert price.low_tokens == tokens


def test_both_ends_are_given_where_sources_disagree() -> None:
    price = image_price(row("gpt-5.4"), 1568, 1568)
    assert (price.low_tokens, price.high_tokens) == (2401, 2882)
    price = image_price(row("claude-4.7"), 1568, 728)
    assert (price.low_tokens, price.high_tokens) == (1456, 1460)


@given(sides, sides)
def test_extreme_shapes_never_break_the_whole_patch_rule(width: int, height: int) -> None:
    fit = Fit(patches=1536, whole_patches=True)
    for size in ((width, 1), (1, height), (width, height)):
        seen = fit_size(fit, 32, *size)
        assert 1 <= seen[0] <= size[0]
        assert 1 <= seen[1] <= size[1]
        assert -(-seen[0] // 32) * -(-seen[1] // 32) <= 1536


def test_faults_name_what_is_over() -> None:
    claude = row("claude-4.7")
    assert image_price(claude, 2500, 1400, images=20).ok
    (fault,) = image_price(claude, 2500, 1400, images=21).faults
    assert "2000" in fault
    (fault,) = image_price(claude, 9000, 2500).faults
    assert "9000x2500" in fault
    (fault,) = image_price(claude, 100, 100, base64_bytes=5_000_001).faults
    assert "5,000,001" in fault
    assert not request_faults(claude, images=90, base64_bytes=1)
    assert request_faults(claude, images=91, base64_bytes=1)
    assert not request_faults(claude, images=91, base64_bytes=20_000_000, high=True)
    assert len(request_faults(claude, images=101, base64_bytes=40_000_000, high=True)) == 2


def test_a_text_only_model_takes_no_image() -> None:
    price = image_price(row("deepseek"), 100, 100)
    assert not price.ok
    assert price.high_tokens == 0


@pytest.mark.parametrize("name", seeing)
def test_every_shape_of_a_seeing_model_arrives_whole_and_within_the_caps(name: str) -> None:
    model = row(name)
    for shape in model.shapes:
        width, height = map(int, shape.split("-")[1].split("x"))
        price = image_price(model, width, height, images=int(model.caps.images.low))
        assert price.whole, shape
        assert price.ok, shape
