from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from snapcompact.pages.glyphs import glyph_tables, hash_bits
from snapcompact_kernels.hashes import hash_any, hash_small
from snapcompact_kernels.match import read_cells
from snapcompact_kernels.raster import (
    filter_up,
    first_difference,
    raster_any,
    raster_small,
    unfilter,
)
from snapcompact_kernels.readback import read_back
from tests.pages.font import made_up_atlas
from tests.pages.strategies import shapes
from tests.reference import raster as twin

if TYPE_CHECKING:
    from snapcompact.pages.shape import Shape

FONTS = [(8, 16), (5, 8), (6, 13), (11, 9), (40, 8)]


@st.composite
def cases(draw: st.DrawFn) -> tuple[tuple[int, int], Shape, int]:
    font = draw(st.sampled_from(FONTS))
    return font, draw(shapes(*font)), draw(st.integers(0, 1 << 30))


def random_cells(shape: Shape, seed: int) -> np.ndarray[tuple[int, int], np.dtype[np.uint16]]:
    """A page of random glyphs, half of them blank."""
    random = np.random.default_rng(seed)
    cells = random.integers(0, 0x180, (shape.grid_rows, shape.grid_columns), dtype=np.uint16)
    cells[random.random(cells.shape) < 0.5] = 32
    return cells


@settings(deadline=None, max_examples=60)
@given(cases())
def test_raster_equals_its_twin(case: tuple[tuple[int, int], Shape, int]) -> None:
    font, shape, seed = case
    atlas = made_up_atlas(*font)
    cells = random_cells(shape, seed)
    tables = glyph_tables(atlas)
    expected = twin.scanlines(cells, shape, atlas)
    page = np.full(expected.shape, 255, np.uint8)
    raster_any(cells, tables.bits, atlas.width, shape.pitch_width, shape.pitch_height, page)
    assert np.array_equal(page, expected)
    if atlas.width <= 8 and shape.pitch_width <= 16:
        flat = np.full(page.size + 16, 255, np.uint8)
        pitch = shape.pitch_width, shape.pitch_height
        size = atlas.width, atlas.height
        raster_small(cells, tables.columns, size, pitch, shape.row_bytes, flat)
        assert np.array_equal(flat[:-16].reshape(page.shape), expected)


@settings(deadline=None, max_examples=30)
@given(cases())
def test_hash_equals_its_twin(case: tuple[tuple[int, int], Shape, int]) -> None:
    font, shape, seed = case
    atlas = made_up_atlas(*font)
    tables = glyph_tables(atlas)
    page = np.random.default_rng(seed).integers(
        0, 256, (shape.grid_rows * shape.pitch_height, 1 + shape.row_bytes), dtype=np.uint8
    )
    hashes = np.empty((shape.grid_rows, shape.grid_columns), np.uint32)
    pitch = shape.pitch_width, shape.pitch_height
    size = atlas.width, atlas.height
    how = shape.line_bytes, tables.folds, tables.factors, size, pitch
    hash_any(page.reshape(-1), *how, hashes)
    if atlas.width <= 8 and shape.pitch_width <= 16:
        small = np.empty_like(hashes)
        hash_small(page.reshape(-1), *how, small)
        assert np.array_equal(small, hashes)
    seen = twin.glyphs_seen(page, shape, atlas).reshape(-1, atlas.height)
    expected = twin.hashes(seen, tables.folds, tables.factors)
    assert np.array_equal(hashes.reshape(-1), expected)
    assert np.array_equal(hash_bits(seen, tables.folds, tables.factors), expected)


@settings(deadline=None, max_examples=40)
@given(cases())
def test_reading_back_is_what_its_steps_are(case: tuple[tuple[int, int], Shape, int]) -> None:
    font, shape, seed = case
    atlas, random = made_up_atlas(*font), np.random.default_rng(seed)
    if atlas.width > 8 or shape.pitch_width > 16:
        return
    tables = glyph_tables(atlas)
    found = tables.singles, tables.pairs
    page = twin.scanlines(random_cells(shape, seed), shape, atlas).reshape(-1)
    page[random.integers(page.size, size=page.size // 50)] ^= 4
    page[:: shape.line_bytes] = 0
    up = random.random(shape.pitch_height) < 0.5
    up[0] = False
    filtered = np.empty_like(page)
    filter_up(page, shape.row_bytes, up, filtered)
    pitch, size = (shape.pitch_width, shape.pitch_height), (atlas.width, atlas.height)
    how = shape.line_bytes, tables.folds, tables.factors, size, pitch
    hashes = np.empty((shape.grid_rows, shape.grid_columns), np.uint32)
    hash_small(page, *how, hashes)
    expected = np.empty(hashes.shape, np.uint16)
    missing = read_cells(hashes, *found, expected)
    cells = np.empty_like(expected)
    assert read_back(filtered, page, *how, *found, cells) == missing
    assert np.array_equal(cells, expected)
    other = page.copy()
    other[random.integers(page.size)] ^= 1 << random.integers(8)
    assert read_back(filtered, other, *how, *found, cells) == -1
    filtered[int(random.integers(filtered.size // shape.line_bytes)) * shape.line_bytes] = 3
    assert read_back(filtered, page, *how, *found, cells) == -1


@settings(deadline=None)
@given(st.integers(1, 200), st.integers(1, 9), st.integers(0, 1 << 30))
def test_first_difference_is_the_first_row(width: int, rows: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    one = random.integers(0, 256, rows * (width + 1), dtype=np.uint8)
    other = one.copy()
    assert first_difference(one, other, width, rows) == -1
    row = int(random.integers(rows))
    other[row * (width + 1) + int(random.integers(width))] ^= 1 << int(random.integers(8))
    assert first_difference(one, other, width, rows) == row


@settings(deadline=None)
@given(st.integers(1, 100), st.integers(1, 40), st.integers(1, 9), st.integers(0, 1 << 30))
def test_filters_are_those_of_png_and_are_undone(
    width: int, rows: int, places: int, seed: int
) -> None:
    random = np.random.default_rng(seed)
    page = random.integers(0, 256, (rows, 1 + width), dtype=np.uint8)
    page[:, 0] = 0
    up = random.random(places) < 0.5
    up[0] = False
    filtered = np.empty_like(page)
    filter_up(page.reshape(-1), width, up, filtered.reshape(-1))
    for y in range(rows):
        chosen = bool(up[y % places])
        above = page[y - 1, 1:] if chosen else 0
        assert filtered[y, 0] == 2 * chosen
        assert np.array_equal(filtered[y, 1:], page[y, 1:] - above)
    back = np.empty_like(page)
    assert unfilter(filtered.reshape(-1), width, back.reshape(-1))
    assert np.array_equal(back, page)
    filtered[-1, 0] = 3
    assert not unfilter(filtered.reshape(-1), width, back.reshape(-1))
