from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from snapcompact.fonts.atlas import load_atlas
from snapcompact.fonts.load import font_names
from snapcompact.legibility.eye import DEFAULT, Eye, eye_of, eyes
from snapcompact.legibility.score import Score, Sight, misread_chances, score
from snapcompact.pages.shape import Shape
from snapcompact.providers.catalog import load_catalog

TEXT = (
    '¶user: why does the build fail?\n¶call:bash({"cmd": "make -j8"})\n<out>\n'
    "src/parse/index.ts:41:7 - error TS2345: 0x1f9c3Il1| is not assignable  to 'O0Q'\n"
    "commit 9f8e7d6c5b4a39281706f5e4d3c2b1a098765432\n</out>\n¶ai: Zażółć → fixed.\n"
).encode() * 12
SHARP = Eye("sharp", 0.0, 1e-4, "predicted", "")
DULL = Eye("dull", 0.65, 0.244, "predicted", "")


def scored(shape: Shape, eye: Eye = DULL, scale: float = 1.0, **how: object) -> Score:
    full = shape.grid_rows * shape.pitch_height
    seen = round(shape.page_width * scale), round(full * scale)
    sight = dataclasses.replace(Sight(seen, eye), **how)  # type: ignore[arg-type]
    return score([TEXT[:900], TEXT[900:]], shape, load_atlas(shape.font), sight)


def shape_of(font: str, across: int = 0, **parts: object) -> Shape:
    width, height = map(int, font.split("x"))
    shape = Shape(font, width + across, height, (width + across) * 90, height * 24)
    return dataclasses.replace(shape, **parts)  # type: ignore[arg-type]


@pytest.mark.parametrize("font", font_names())
def test_a_sharp_eye_reads_everything_that_arrives_whole(font: str) -> None:
    for parts in ({}, {"columns": 2}, {"layout": "lines"}, {"header": True}, {"indent": True}):
        found = scored(shape_of(font, **parts), SHARP)
        assert found.cer.value == found.cer.high == 0
        assert found.misreadings == ()
        assert not found.ascii_rates[33:127].any()


def test_characters_are_counted_alike_in_every_layout() -> None:
    plain = scored(shape_of("8x16"))
    # Runs of blanks count once; every character of this text has a glyph in this font.
    text = TEXT.decode()
    expected = sum(c != " " or text[i - 1] != " " for i, c in enumerate(text))
    assert abs(plain.characters - expected) <= 1  # the text is cut in two blocks
    for parts in ({"columns": 3}, {"layout": "lines"}, {"header": True}, {"indent": True}):
        other = scored(shape_of("8x16", **parts))
        assert other.characters == plain.characters
        assert other.cer.value == pytest.approx(plain.cer.value, rel=0.4)


def test_less_arrives_more_is_misread() -> None:
    for how in ("lanczos", "area"):
        rates = [
            scored(shape_of("8x16"), scale=scale, how=how).cer.value for scale in (1, 0.7, 0.5)
        ]
        assert rates == sorted(rates)
        assert rates[-1] > 10 * rates[0]


def test_smaller_fonts_tighter_pitches_and_grey_are_misread_more() -> None:
    by_font = [scored(shape_of(font)).cer.value for font in ("8x16", "6x12", "5x8")]
    assert by_font == sorted(by_font)
    by_gap = [scored(shape_of("8x16", across=gap)).cer.value for gap in (3, 1, 0)]
    assert by_gap == sorted(by_gap)
    assert scored(shape_of("8x16", ink="dim")).cer.value > scored(shape_of("8x16")).cer.value
    assert scored(shape_of("8x16"), jpeg=10).cer.value > scored(shape_of("8x16")).cer.value


def test_the_score_is_deterministic_and_adds_up() -> None:
    one, other = scored(shape_of("6x12")), scored(shape_of("6x12"))
    assert one.cer == other.cer
    assert one.misreadings == other.misreadings
    assert one.cer.low <= one.cer.value <= one.cer.high
    assert 0.2 < sum(pair.share for pair in one.misreadings) <= 1
    assert all(0 < pair.rate <= 1 for pair in one.misreadings)
    pairs = {(pair.truth, pair.read) for pair in one.misreadings}
    assert len(pairs) == len(one.misreadings)


def test_chances_of_words_are_products() -> None:
    rates = np.ones(128)
    rates[33:127] = np.linspace(0.001, 0.05, 94)
    words = [b"abc", b"0xFF", b"\xc3\xa9t", b"z"]
    found = misread_chances(words, rates)
    for word, chance in zip(words, found, strict=True):
        right = 1.0
        for byte in word:
            right *= 1 - (rates[byte] if byte < 128 else 0.05)
        assert chance == pytest.approx(1 - right)
    assert misread_chances([], rates).shape == (0,)


def test_every_eye_belongs_to_a_row_of_the_catalog_and_says_where_it_comes_from() -> None:
    rows = {model.name for model in load_catalog().models}
    for name, eye in eyes().items():
        assert name == DEFAULT or name in rows
        assert eye.basis in {"predicted", "measured"}
        assert eye.source
        assert eye.noise > 0
    assert eye_of("no such row") == eyes()[DEFAULT]
