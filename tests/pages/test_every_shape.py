"""Exact pages in our fonts and others': every layout, ink, wide and combining glyphs."""

from __future__ import annotations

import atexit
import dataclasses
import shutil
import tempfile
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from snapcompact.errors import UnknownNameError
from snapcompact.fonts.atlas import Atlas, atlas_to_bdf, build_atlas, glyph_of_id, load_atlas
from snapcompact.fonts.font import Font, Glyph, glyph_name
from snapcompact.fonts.load import font_names, load_font
from snapcompact.pages import decode, png
from snapcompact.pages.carried import page_atlas
from snapcompact.pages.cells import paginate
from snapcompact.pages.pipeline import render_pages
from snapcompact.pages.typeset import typeset
from tests.fonts.files import EMOJI, font_file, random_glyphs
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


@cache
def font_files(name: str) -> tuple[str, str]:
    """Two files in the cell of a shipped font: one with its letters, one with what it lacks."""
    folder = Path(tempfile.mkdtemp())
    atexit.register(shutil.rmtree, folder)
    ours = load_atlas(name)
    size = ours.width, ours.height
    letters = folder / "mine.bdf"
    letters.write_text(atlas_to_bdf(ours, range(32, 256)), "ascii")
    marks = (*random_glyphs(range(0x300, 0x310), 1, size), *random_glyphs(EMOJI, 1, size))
    wide = (*random_glyphs(range(0x4E00, 0x4E20), 2, size), *half_twins(ours))
    return str(letters), font_file(folder / "more.bdf", (*marks, *wide), size)


def half_twins(atlas: Atlas) -> tuple[Glyph, ...]:
    """Wide glyphs whose halves look like letters: some can be told from these, some cannot."""
    letter = {what: glyph_of_id(atlas, ord(what)).rows for what in "ab "}
    noise = random_glyphs(range(2), 1, (atlas.width, atlas.height))
    halves = (*letter.values(), *(glyph.rows for glyph in noise))
    pairs = [(left, right) for left in halves for right in halves]
    return tuple(
        Glyph(
            glyph_name(code),
            code,
            tuple(a << atlas.width | b for a, b in zip(left, right, strict=True)),
            2,
        )
        for code, (left, right) in enumerate(pairs, 0xAC00)
        if any(map(any, (left, right)))
    )


def shipped(name: str) -> Atlas:
    """The only fonts that a reader has."""
    if name not in font_names():
        raise UnknownNameError(name)
    return load_atlas(name)


@pytest.mark.parametrize("place", ["behind ours", "in place of ours"])
@pytest.mark.parametrize("name", font_names())
@settings(deadline=None, max_examples=20)
@given(data=st.data())
def test_pages_in_fonts_of_others_are_read_by_what_they_carry(
    name: str, place: str, data: st.DataObject
) -> None:
    letters, more = font_files(name)
    ours = load_atlas(name)
    shape = dataclasses.replace(data.draw(shapes(ours.width, ours.height)), font=name)
    shape, typeface = typeset(shape, letters if "place" in place else "", (more,))
    hangul = "".join(map(chr, range(0xAC00, 0xAC19)))
    some = st.sampled_from(MARKS + hangul + "ab ")
    text = data.draw(texts) + data.draw(st.lists(some, max_size=80).map("".join)).encode()
    cut = data.draw(st.integers(0, len(text)))
    cells = paginate([text[:cut], text[cut:]], shape, typeface)
    pages = render_pages(cells, shape, typeface, jobs=1)
    read = []
    for page in pages:
        image = png.decode(page.png)
        read.append(decode.read_text(image, shape, page_atlas(image, shape, shipped)))
    assert b"".join(read) == text
