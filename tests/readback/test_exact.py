"""The exact reader on what becomes of pictures: recompressed, scaled, shifted, cropped, salted."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from PIL import Image

from snapcompact.errors import PageError
from snapcompact.fonts.atlas import Atlas, build_atlas, load_atlas
from snapcompact.fonts.font import Glyph, glyph_name
from snapcompact.fonts.load import load_font
from snapcompact.pages.cells import paginate
from snapcompact.pages.pipeline import render_page
from snapcompact.pages.shape import parse_shape
from snapcompact.readback.deskew import skew_degrees
from snapcompact.readback.exact import CellsSeen, see_cells
from snapcompact.readback.loose import loose_text
from snapcompact.readback.nearest import nearest_glyphs
from snapcompact.readback.pairs import choose
from snapcompact.readback.templates import Templates
from tests.readback.pages import SMALL, WORDS, grey_of, made_page, picture

Grey = NDArray[np.float32]
TEXT = WORDS * 3


def resized(grey: Grey, width: int, height: int) -> Grey:
    image = Image.fromarray(grey.astype(np.uint8))
    return np.asarray(image.resize((width, height), Image.Resampling.BICUBIC), np.float32)


def scaled_back(grey: Grey, by: float) -> Grey:
    height, width = grey.shape
    return resized(resized(grey, round(width * by), round(height * by)), width, height)


def shifted(grey: Grey, right: int, down: int) -> Grey:
    """The picture moved on its canvas: what leaves it is lost."""
    padded = np.pad(grey, 32, constant_values=255)
    height, width = grey.shape
    return padded[32 - down : 32 - down + height, 32 - right : 32 - right + width]


def salted(grey: Grey, share: float) -> Grey:
    chance = np.random.default_rng(1).random(grey.shape)
    return np.where(chance < share / 2, 0, np.where(chance < share, 255, grey)).astype(np.float32)


def bordered(grey: Grey) -> Grey:
    """As a screenshot of a viewer: enlarged unevenly, on a larger canvas."""
    larger = resized(grey, round(grey.shape[1] * 1.31), round(grey.shape[0] * 1.29))
    return np.pad(larger, ((22, 9), (40, 31)), constant_values=255)


DAMAGE: dict[str, Callable[[Grey], bytes]] = {
    "jpeg 60": lambda grey: picture(grey, "JPEG", quality=60),
    "jpeg 10": lambda grey: picture(grey, "JPEG", quality=10),
    "0.75 and back": lambda grey: picture(scaled_back(grey, 0.75)),
    "half size": lambda grey: picture(resized(grey, grey.shape[1] // 2, grey.shape[0] // 2)),
    "twice as large": lambda grey: picture(resized(grey, 2 * grey.shape[1], 2 * grey.shape[0])),
    "salt 1 %": lambda grey: picture(salted(grey, 0.01)),
    "bordered": lambda grey: picture(bordered(grey)),
    "cropped below": lambda grey: picture(grey[:-21]),
}


def seen(data: bytes) -> CellsSeen:
    return see_cells(data, load_atlas, shape=SMALL)


def test_an_untouched_page_has_no_doubt() -> None:
    page, given_page = made_page(TEXT)
    read = see_cells(given_page.data, load_atlas)
    assert read.as_printed
    assert not read.unsure.any()
    assert (read.cells == page.cells).all()


@pytest.mark.parametrize("name", DAMAGE)
def test_damage_that_leaves_glyphs_apart_costs_nothing(name: str) -> None:
    page, given_page = made_page(TEXT)
    read = seen(DAMAGE[name](grey_of(given_page.data)))
    rows = min(len(read.cells), len(page.cells) - 2 * name.startswith("cropped"))
    assert rows >= len(page.cells) - 2
    wrong = read.cells[:rows] != page.cells[:rows]
    assert wrong.mean() < 0.001, np.argwhere(wrong)
    assert not (wrong & ~read.unsure[:rows]).any()


@settings(max_examples=5, deadline=None)
@given(right=st.integers(-3, 3), down=st.integers(-7, 7))
def test_a_shift_loses_only_what_left_the_picture(right: int, down: int) -> None:
    page, given_page = made_page(TEXT)
    read = seen(picture(shifted(grey_of(given_page.data), right, down)))
    rows = min(len(read.cells), len(page.cells))
    wrong = (read.cells[:rows] != page.cells[:rows])[1:-1, 1:-1]
    assert not wrong.any()


@pytest.mark.parametrize("degrees", [-1.5, 0.7])
def test_a_page_that_was_turned_a_little_is_set_upright(degrees: float) -> None:
    page, given_page = made_page(TEXT)
    upright = Image.fromarray(grey_of(given_page.data).astype(np.uint8))
    turned = np.asarray(
        upright.rotate(degrees, Image.Resampling.BICUBIC, expand=True, fillcolor=255), np.float32
    )
    assert skew_degrees((1 - turned / 255).astype(np.float32)) == pytest.approx(-degrees, abs=0.02)
    read = seen(picture(turned, "JPEG", quality=80))
    assert (read.cells[: len(page.cells)] == page.cells).all()


def test_noise_is_flagged_where_it_decides() -> None:
    page, given_page = made_page(TEXT)
    read = seen(picture(salted(grey_of(given_page.data), 0.2)))
    wrong = read.cells != page.cells
    assert 3 < wrong.sum() < 50
    assert read.unsure[wrong].mean() > 2 * read.unsure[~wrong].mean()


def test_the_shape_of_a_picture_without_metadata_is_found() -> None:
    shape = parse_shape("11x16")
    _, given_page = made_page(TEXT, shape)
    jpeg = picture(grey_of(given_page.data), "JPEG", quality=50)
    read = see_cells(jpeg, load_atlas)
    assert read.shape == shape
    assert loose_text(read.cells, shape, read.atlas) == TEXT.encode()


def test_a_picture_of_no_page_is_an_error() -> None:
    noise = np.random.default_rng(0).random((300, 500)).astype(np.float32) * 255
    with pytest.raises(PageError, match="no page"):
        see_cells(picture(noise), load_atlas, shape=SMALL)


def test_a_page_of_other_letters_than_ascii() -> None:
    text = "Съешь же ещё этих мягких французских булок, да выпей чаю.\n" * 12
    page, given_page = made_page(text)
    for name in ("0.75 and back", "salt 1 %"):
        read = seen(DAMAGE[name](grey_of(given_page.data)))
        wrong = read.cells != page.cells
        # п stands a pixel or two from n, and one fleck of salt may fall there: then it says so.
        assert wrong.mean() < 0.03
        assert not (wrong & ~read.unsure).any()


def test_escapes_of_a_damaged_page_are_undone() -> None:
    text = "¶user:\n\U0001f600 and \x07 and " + "word " * 40
    page, given_page = made_page(text)
    cells = page.cells.copy()
    assert loose_text(cells, SMALL, given_page.atlas) == text.encode()
    cells[-1, -1] = 0xFFFF
    loose = loose_text(cells, SMALL, given_page.atlas).decode()
    assert "\U0001f600 and \x07 and" in loose


def test_halves_of_wide_glyphs_are_read_as_pairs() -> None:
    rng = np.random.default_rng(3)
    ink = (rng.random((12, 16, 8)) < 0.4).astype(np.uint8)
    ink[0] = 0
    partner = np.full(12, -1)
    partner[[8, 10]] = 9, 11
    right = np.isin(np.arange(12), [9, 11])
    ids = np.arange(12, dtype=np.uint16)
    templates = Templates(ids, ink, partner, right, np.arange(12) < 8)
    cells = rng.integers(0, 8, (12, 20))
    for row, column in ((0, 0), (3, 7), (3, 9), (11, 18)):
        cells[row, column : column + 2] = 8, 9
    page = ink[cells].transpose(0, 2, 1, 3).reshape(12 * 16, 20 * 8)
    noisy = np.where(rng.random(page.shape) < 0.05, 1.0 - page, page).astype(np.float32)
    found = nearest_glyphs(noisy, np.ones(page.shape, np.bool_), templates)
    assert (found.cells == cells).all()


@pytest.mark.parametrize("row_length", [1, 2, 5])
def test_the_cheapest_filling_of_a_row_is_found(row_length: int) -> None:
    rng = np.random.default_rng(row_length)
    partner = np.array([-1, -1, -1, 4, -1, 6, -1])
    for _ in range(40):
        costs = rng.integers(0, 9, (row_length, 2)).astype(np.float32)
        wide = rng.integers(0, 18, (row_length - 1, 2)).astype(np.float32)
        ids = np.tile([0, 1], (row_length, 1))
        found = choose((1, row_length), partner, ids, costs, np.tile([3, 5], (len(wide), 1)), wide)
        fillings = list(all_fillings(costs, wide))
        cheapest = min(cost for cost, _ in fillings)
        assert (cheapest, tuple(found.cells[0].tolist())) in fillings
        assert (found.margin >= 0).all()


def all_fillings(costs: Grey, wide: Grey, at: int = 0) -> Iterator[tuple[float, tuple[int, ...]]]:
    """Cost and cells of every way to fill a row from `at` on."""
    if at == len(costs):
        yield 0.0, ()
        return
    for glyph in range(2):
        for cost, rest in all_fillings(costs, wide, at + 1):
            yield cost + float(costs[at, glyph]), (glyph, *rest)
        if at < len(wide):
            for cost, rest in all_fillings(costs, wide, at + 2):
                yield cost + float(wide[at, glyph]), (3 + 2 * glyph, 4 + 2 * glyph, *rest)


def test_wide_glyphs_of_a_scaled_page_are_matched_over_both_cells() -> None:
    """Halves of other wide glyphs fit as well as the right ones: a third was read wrong."""
    atlas = with_wide_glyphs()
    points = "".join(map(chr, range(0x4E00, 0x4E00 + WIDE)))
    text = WORDS + points * 2 + WORDS
    page = next(paginate([text.encode()], SMALL, atlas))
    grey = grey_of(render_page(page, SMALL, atlas).png)
    smaller = resized(grey, round(grey.shape[1] * 0.8), round(grey.shape[0] * 0.8))
    read = see_cells(picture(smaller), lambda _: atlas, shape=SMALL)
    assert (read.cells[: len(page.cells)] == page.cells).all()


WIDE = 60


@cache
def with_wide_glyphs() -> Atlas:
    """The large font and WIDE glyphs of four strokes, each half shared by many of them."""
    rng = np.random.default_rng(2)
    font = load_font("8x16")
    strokes = rng.integers(0, 2**8, (8, 16)) & rng.integers(0, 2**8, (8, 16))
    drawn = []
    for number in range(WIDE):
        left, right = strokes[number % 8], strokes[number // 8]
        rows = tuple(int(a) << 8 | int(b) for a, b in zip(left, right, strict=True))
        code = 0x4E00 + number
        drawn.append(Glyph(glyph_name(code), code, rows, 2))
    return build_atlas([font, replace(font, name="wide", glyphs=tuple(drawn))])


def test_a_page_of_small_glyphs_at_half_size() -> None:
    """Its pixels are blurred by where they fall between those of the picture."""
    shape = parse_shape("6x12@6x12-504x240")
    page, given_page = made_page(TEXT, shape)
    grey = grey_of(given_page.data)
    half = resized(grey, grey.shape[1] // 2, grey.shape[0] // 2)
    read = see_cells(picture(half), load_atlas, shape=shape)
    wrong = read.cells[: len(page.cells)] != page.cells
    assert wrong.mean() < 0.001
