from __future__ import annotations

import pytest
from hypothesis import given

from snapcompact.errors import UnknownNameError, UsageError
from snapcompact.pages.shape import Shape, parse_shape, shapes
from tests.pages.strategies import shapes as any_shape


@given(any_shape())
def test_a_name_says_the_whole_shape(shape: Shape) -> None:
    assert parse_shape(shape.name) == shape


def test_named_shapes_are_spelled_as_they_are_and_aliases_are_one_each() -> None:
    rows = shapes().values()
    aliases = [alias for row in rows for alias in row.aliases]
    assert len(set(aliases)) == len(aliases)
    for name, row in shapes().items():
        assert parse_shape(name) == row.shape
        assert all(parse_shape(alias) == row.shape for alias in row.aliases)


def test_the_pitches_and_widths_asked_for_are_named() -> None:
    got = {
        (row.shape.pitch_width, row.shape.pitch_height, row.shape.page_width)
        for row in shapes().values()
    }
    pitches = [(8, 16), (11, 16), (8, 22)]
    assert got >= {(*pitch, width) for pitch in pitches for width in (1568, 1932, 2048)}


@pytest.mark.parametrize("name", ["11x17", "", "8x16@8x16", "8x16@8x16-100x100-cols2-dimm", "é"])
def test_an_unknown_name_is_answered_with_near_ones(name: str) -> None:
    with pytest.raises(UnknownNameError, match="near are"):
        parse_shape(name)


@pytest.mark.parametrize(
    ("name", "rule"),
    [
        ("8x16@0x16-1568x1568", "pitch"),
        ("8x16@65x16-1568x1568", "pitch"),
        ("8x16@8x16-8193x16", "page sides"),
        ("8x16@8x16-64x16", "16 cells"),
        ("8x16@8x16-100x100-cols5", "columns"),
        ("8x16@8x16-100x100-cols4", "2 cells wide"),
        ("8x16@8x16-300x100-header", "header"),
        ("8x16@8x16-1568x1568-cols2-gutter17", "gutter"),
    ],
)
def test_a_shape_that_makes_no_page_is_refused_by_rule(name: str, rule: str) -> None:
    with pytest.raises(UsageError, match=rule):
        parse_shape(name)
