"""Exact pages with the fonts that are shipped: every layout, ink, wide and combining glyphs."""

from __future__ import annotations

import dataclasses
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from snapcompact.fonts.atlas import Atlas, build_atlas
from snapcompact.fonts.font import Font, Glyph, glyph_name
from snapcompact.fonts.load import font_names, load_font
from snapcompact.pages import decode, png
from snapcompact.pages.cells import paginate
from snapcompact.pages.pipeline import render_pages
from tests.pages.strategies import shapes, texts

MARKS = "áa\u0301Å A\u030a\u0327 क्षि ñ한글 字一丁\u200d👩\u200d💻 ⟦1F600⟧ ¶user: <out>"


@cache
def atlas_with_han(name: str) -> Atlas:
    """A shipped font, and behind it one that draws some ideographs in two cells."""
    first = load_font(name)
    random = np.random.default_rng(5)
    glyphs = tuple(
        Glyph(glyph_name(code), code, tuple(map(int, rows)), 2)
        for code in (*range(0x4E00, 0x4E20), 0x5B57)
        for rows in (random.integers(1, 1 << 2 * first.width, first.height),)
    )
    han = Font("han", first.width, first.height, first.ascent, glyphs)
    return build_atlas([first, han])


@pytest.mark.parametrize("name", font_names())
@settings(deadline=None, max_examples=60)
@given(data=st.data())
def test_pixels_give_the_text_back(name: str, data: st.DataObject) -> None:
    atlas = atlas_with_han(name)
    shape = dataclasses.replace(data.draw(shapes(atlas.width, atlas.height)), font=name)
    marks = data.draw(st.lists(st.sampled_from(MARKS), max_size=80).map("".join)).encode()
    text = data.draw(texts) + marks + data.draw(texts)
    pages = render_pages(paginate([text], shape, atlas), shape, atlas, jobs=1)
    read = []
    for page in pages:
        image = png.decode(page.png)
        bare = dataclasses.replace(image, metadata=None)  # pixels alone
        read.append(decode.read_text(bare, shape, atlas))
    assert b"".join(read) == text
