from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings

from snapcompact.errors import PageError, UsageError
from snapcompact.fonts.atlas import load_atlas
from snapcompact.pages import decode, png
from snapcompact.pages.cells import paginate
from snapcompact.pages.glyphs import glyph_tables
from snapcompact.pages.pipeline import render_pages
from snapcompact.pages.render import raster
from snapcompact.pages.shape import Shape, parse_shape
from tests.pages.font import HAN, made_up_atlas
from tests.pages.strategies import shapes, texts

if TYPE_CHECKING:
    from snapcompact.fonts.atlas import Atlas

WIDE = "".join(map(chr, HAN)).encode()


def read_all(text: bytes, shape: Shape, atlas: Atlas) -> bytes:
    pages = render_pages(paginate([text], shape, atlas), shape, atlas, jobs=1)
    return b"".join(decode.read_text(png.decode(page.png), shape, atlas) for page in pages)


@settings(deadline=None, max_examples=150)
@given(texts, shapes())
def test_any_bytes_on_any_shape_come_back(text: bytes, shape: Shape) -> None:
    assert read_all(text, shape, made_up_atlas()) == text


@pytest.mark.parametrize("font", [(5, 8), (11, 9), (40, 8)])
def test_any_glyph_size(font: tuple[int, int]) -> None:
    shape = Shape("made-up", font[0] + 3, font[1] + 1, 1000, 200)
    text = b"Plain and \xff odd; \t wide: " + WIDE
    assert read_all(text, shape, made_up_atlas(*font)) == text


@pytest.mark.parametrize("name", ["8x16", "11x16", "8x22"])
def test_one_changed_pixel_is_seen_anywhere(name: str, atlas: Atlas) -> None:
    shape = parse_shape(name)
    (page,) = list(paginate([b"some text\n" * 40 + WIDE], shape, atlas))
    scanlines = raster(page.cells, shape, atlas)
    random = np.random.default_rng(7)
    for _ in range(200):
        y = int(random.integers(scanlines.shape[0]))
        x = int(random.integers(shape.page_width))
        scanlines[y, 1 + x // 8] ^= 128 >> x % 8
        bad = decode.read_cells(scanlines, shape, atlas).bad
        place = y // shape.pitch_height, min(x // shape.pitch_width, shape.grid_columns - 1)
        assert tuple(bad[0]) in {place, (place[0], place[1] - 1)}
        scanlines[y, 1 + x // 8] ^= 128 >> x % 8
    assert not len(decode.read_cells(scanlines, shape, atlas).bad)


def test_a_changed_glyph_is_told_by_the_hash_and_without_it_read(atlas: Atlas) -> None:
    shape = parse_shape("8x16")
    (page,) = render_pages(paginate([b"abcdef"], shape, atlas), shape, atlas)
    image = png.decode(page.png)
    cells = page.page.cells.copy()
    cells[0, 2] = ord("X")
    other = dataclasses.replace(image, scanlines=raster(cells, shape, atlas))
    with pytest.raises(PageError, match="another hash"):
        decode.read_text(other, shape, atlas)
    lone = dataclasses.replace(other, metadata=None)
    assert decode.read_text(lone, shape, atlas) == b"abXdef"


def test_damage_names_row_and_column(atlas: Atlas) -> None:
    shape = parse_shape("8x16")
    (page,) = render_pages(paginate([b"abcdef" * 100], shape, atlas), shape, atlas)
    image = png.decode(page.png)
    scanlines = image.scanlines.copy()
    scanlines[16 * 2 + 5, 1 + 9] ^= 0xFF
    with pytest.raises(PageError, match=r"1 cells differ.*first row 3 column 10"):
        decode.read_text(dataclasses.replace(image, scanlines=scanlines), shape, atlas)


def test_cells_that_print_no_text_are_named(atlas: Atlas) -> None:
    shape = parse_shape("8x16")
    cells = np.full((2, shape.grid_columns), 32, np.uint16)
    cells[1, 4] = 130
    with pytest.raises(PageError, match="row 2 column 5"):
        decode.cells_to_text(cells, shape, atlas)


def test_a_page_of_another_size_is_refused(atlas: Atlas) -> None:
    (page,) = render_pages(paginate([b"a"], parse_shape("8x16"), atlas), parse_shape("8x16"), atlas)
    with pytest.raises(PageError, match="prints"):
        decode.read_text(png.decode(page.png), parse_shape("8x22"), atlas)


@pytest.mark.parametrize("name", ["8x16", "11x16", "8x22", "11x16-wide", "8x22-2k", "8x16-large"])
@pytest.mark.parametrize("text", [b"a", b"some text, \xe4\xb8\x80\n" * 2000], ids=["short", "long"])
def test_the_shape_is_found_from_pixels_alone(name: str, text: bytes, atlas: Atlas) -> None:
    shape = parse_shape(name)
    for page in render_pages(paginate([text], shape, atlas), shape, atlas):
        image = dataclasses.replace(png.decode(page.png), metadata=None)
        found = decode.find_shape(image, lambda _: atlas)
        read = decode.read_text(image, found, atlas)
        assert read == text[page.page.offset : page.page.offset + page.page.length]


def test_a_picture_of_no_named_shape_says_so() -> None:
    blob = np.full((160, 197), 0xA5, np.uint8)
    with pytest.raises(PageError, match="name its shape"):
        decode.find_shape(png.PageImage(1568, 160, blob, None), load_atlas)


def test_halves_alike_are_told_apart_by_their_partners() -> None:
    atlas = with_halves({0: "left of 1", 3: "right of 1"})
    text = "一丁丂七 ab 七丁一".encode()
    shape = Shape("made-up", 8, 16, 400, 320)
    assert read_all(text, shape, atlas) == text


def with_halves(changes: dict[int, str]) -> Atlas:
    """The made-up font where wide glyph n shares a half with wide glyph 1."""
    atlas = made_up_atlas()
    first = int(np.flatnonzero(atlas.wide)[0])
    bitmaps = atlas.bitmaps.copy()
    for n, how in changes.items():
        half = how.startswith("right")
        bitmaps[first + 2 * n + half] = bitmaps[first + 2 + half]
    return dataclasses.replace(atlas, bitmaps=bitmaps)


def test_a_font_that_reads_two_ways_is_refused() -> None:
    atlas = made_up_atlas()
    first = int(np.flatnonzero(atlas.wide)[0])
    bitmaps = atlas.bitmaps.copy()
    bitmaps[first], bitmaps[first + 1] = bitmaps[65], bitmaps[66]
    with pytest.raises(UsageError, match=r"U\+0042"):
        glyph_tables(dataclasses.replace(atlas, bitmaps=bitmaps))


def test_twins_and_visible_paper_are_refused() -> None:
    atlas = made_up_atlas()
    bitmaps = atlas.bitmaps.copy()
    bitmaps[65] = bitmaps[66]
    with pytest.raises(UsageError, match="look the same"):
        glyph_tables(dataclasses.replace(atlas, bitmaps=bitmaps))
    bitmaps = atlas.bitmaps.copy()
    bitmaps[32, 3, 3] = 1
    with pytest.raises(UsageError, match="blank"):
        glyph_tables(dataclasses.replace(atlas, bitmaps=bitmaps))
