from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image, ImageDraw, ImageFont

from snapcompact.errors import InputError
from snapcompact.fonts import bdf
from snapcompact.fonts.bdf import bdf_text, parse_bdf
from snapcompact.fonts.font import Font
from snapcompact.fonts.load import font_names, load_font
from tests.fonts.strategies import fonts


@given(fonts())
def test_text_gives_the_font_back(font: Font) -> None:
    found = parse_bdf(bdf_text(font))
    assert set(found.glyphs) == set(font.glyphs)
    assert (found.name, found.width, found.height, found.ascent) == ("test", 6, 9, 7)
    assert bdf_text(found) == bdf_text(font)


@given(fonts())
def test_order_of_glyphs_does_not_matter(font: Font) -> None:
    turned = Font(font.name, font.width, font.height, font.ascent, font.glyphs[::-1])
    assert bdf_text(turned) == bdf_text(font)


@given(fonts(), st.data())
def test_damaged_text_is_refused_or_still_a_font(font: Font, data: st.DataObject) -> None:
    text = bdf_text(font)
    at = data.draw(st.integers(0, len(text) - 1))
    damaged = text[:at] + data.draw(st.sampled_from("\n 7FZ\0")) + text[at + 1 :]
    try:
        found = parse_bdf(damaged, "here")
    except InputError:
        return
    limit = 1 << (found.width * 2)
    assert all(row < limit for glyph in found.glyphs for row in glyph.rows)


@given(fonts(), st.data())
def test_cut_text_is_refused(font: Font, data: st.DataObject) -> None:
    text = bdf_text(font)
    with pytest.raises(InputError):
        parse_bdf(text[: data.draw(st.integers(0, len(text) - 1))])


def test_a_cell_too_large_is_refused() -> None:
    text = bdf_text(load_font("5x8")).replace("FONTBOUNDINGBOX 5 8", "FONTBOUNDINGBOX 500 8")
    with pytest.raises(InputError, match="500x8"):
        parse_bdf(text)


def test_a_text_too_long_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bdf, "MAX_BYTES", 100)
    with pytest.raises(InputError, match="more than the 100"):
        parse_bdf(bdf_text(load_font("5x8")))


@pytest.mark.parametrize("name", font_names())
def test_freetype_draws_the_same_pixels(name: str) -> None:
    font = load_font(name)
    opened = ImageFont.truetype(
        io.BytesIO(bdf_text(font).encode()),
        font.height,
        layout_engine=ImageFont.Layout.BASIC,
    )
    for glyph in font.glyphs:
        if glyph.code > 31:
            canvas = Image.new("1", (font.width, font.height))
            ImageDraw.Draw(canvas).text((0, 0), chr(glyph.code), fill=1, font=opened)
            packed = canvas.tobytes()
            assert tuple(byte >> (8 - font.width) for byte in packed) == glyph.rows, glyph.name
