from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from snapcompact.errors import InputError
from snapcompact.fonts.atlas import NO_GLYPH
from snapcompact.fonts.load import font_names
from snapcompact.pages.coverage import (
    MOST_ESCAPED,
    Coverage,
    auto_shapes,
    choose_shape,
    text_coverage,
)
from snapcompact.pages.shape import Shape, parse_shape
from tests.pages.font import made_up_atlas
from tests.pages.strategies import texts

if TYPE_CHECKING:
    from snapcompact.fonts.atlas import Atlas


@given(texts)
def test_every_character_without_a_glyph_counts(text: bytes) -> None:
    atlas = made_up_atlas()
    characters = text.decode("utf-8", "ignore")
    found = text_coverage(text, atlas)
    assert found.characters == len(characters)
    assert found.escaped == sum(atlas.glyph_of[ord(c)] == NO_GLYPH for c in characters)
    assert bool(found.warning) == (found.share > MOST_ESCAPED)


@given(st.lists(texts, max_size=4))
def test_coverage_adds_up(parts: list[bytes]) -> None:
    atlas = made_up_atlas()
    whole = [part.decode("utf-8", "ignore").encode() for part in parts]
    total = sum((text_coverage(part, atlas) for part in whole), Coverage(0, 0))
    assert total == text_coverage(b"".join(whole), atlas)


@pytest.mark.parametrize(
    ("text", "font", "warned"),
    [
        (b"plain words", "latin", False),
        ("漢 is rare here".encode() + b" plain" * 20, "latin", False),
        ("一丁丂七".encode(), "wide", False),
        ("一丁丂七😀".encode(), "wide", True),
        ("😀".encode(), "latin", True),
        (b"", "latin", False),
    ],
)
def test_the_first_shape_that_draws_the_text_is_taken(text: bytes, font: str, warned: bool) -> None:
    def load(shape: Shape) -> Atlas:
        return made_up_atlas(wide=shape.font == "wide")

    shapes = [Shape(name, 8, 16, 800, 800) for name in ("latin", "wide")]
    choice = choose_shape(text, shapes, load)
    assert choice.shape.font == font
    assert bool(choice.coverage.warning) == warned
    assert ("lacks fewest" in choice.reason) == warned


def test_a_font_that_has_no_such_size_is_passed_over() -> None:
    def load(shape: Shape) -> Atlas:
        if shape.font == "small":
            raise InputError("no such size")
        return made_up_atlas(wide=False)

    latin, small = (Shape(name, 8, 16, 800, 800) for name in ("latin", "small"))
    assert choose_shape("一".encode(), [latin, small], load).shape == latin
    with pytest.raises(InputError):
        choose_shape("一".encode(), [small, latin], load)


def test_auto_begins_with_the_default_and_has_every_font() -> None:
    found = auto_shapes()
    assert found[0] == parse_shape("default")
    assert sorted(shape.font for shape in found) == font_names()
