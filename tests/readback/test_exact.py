"""The exact reader on what becomes of pictures: recompressed, scaled, shifted, cropped, salted."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from PIL import Image

from snapcompact.errors import PageError
from snapcompact.fonts.atlas import load_atlas
from snapcompact.pages.shape import parse_shape
from snapcompact.readback.exact import CellsSeen, see_cells
from snapcompact.readback.loose import loose_text
from snapcompact.readback.nearest import nearest_glyphs
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
    ink = (rng.random((12, 16, 8)) < 0.4).astype(np.float32)
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
    noisy = np.where(rng.random(page.shape) < 0.05, 1 - page, page).astype(np.float32)
    found = nearest_glyphs(noisy, np.ones(page.shape, np.bool_), templates)
    assert (found.cells == cells).all()
