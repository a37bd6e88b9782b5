from __future__ import annotations

import zlib
from dataclasses import replace
from itertools import combinations_with_replacement
from typing import Any

import numpy as np
import pytest

from snapcompact.errors import PageError
from snapcompact.pages import decode, png
from snapcompact.pages.cells import PageCells, paginate
from snapcompact.pages.ink import PALETTES
from snapcompact.pages.metadata import PageMetadata
from snapcompact.pages.pipeline import draw_page
from snapcompact.pages.shape import Shape, parse_shape
from tests.pages.font import made_up_atlas

TEXT = "def f(x):\n\treturn x # é Ω 🌀 一丁\n".encode() * 30


def as_png(
    scanlines: np.ndarray[tuple[int, int], np.dtype[np.uint8]],
    shape: Shape,
    page: PageCells,
    wrong: dict[str, Any] | None = None,
) -> bytes:
    """A page of `scanlines` that says of itself what `page` is, but for what is `wrong`."""
    true = PageMetadata(
        shape.name, page.atlas.sha256, page.number, page.offset, page.length, page.sha256
    )
    size = shape.page_width, scanlines.shape[0]
    stream = zlib.compress(scanlines.tobytes())
    return png.encode(stream, size, PALETTES[shape.ink], replace(true, **(wrong or {})))


@pytest.mark.parametrize("name", ["8x16", "11x16", "8x22-wide", "8x16@17x16-800x400"])
def test_a_page_reads_back_and_no_damage_does(name: str) -> None:
    shape, atlas = parse_shape(name), made_up_atlas()
    page = next(paginate([TEXT], shape, atlas))
    drawn, printed = draw_page(page, shape, atlas)
    scanlines = png.decode(drawn.png).scanlines
    assert decode.reads_back(drawn.png, printed, page, shape)
    assert decode.reads_back(as_png(scanlines, shape, page), printed, page, shape)
    other = replace(page, text=page.text[:-1] + b"?")
    assert not decode.reads_back(drawn.png, printed, other, shape)
    shorter = as_png(scanlines[: -shape.pitch_height], shape, page)
    assert not decode.reads_back(shorter, printed, page, shape)
    filtered = scanlines.copy()
    filtered[3, 0] = 4
    assert not decode.reads_back(as_png(filtered, shape, page), printed, page, shape)
    random = np.random.default_rng(5)
    for _ in range(50):
        printed = draw_page(page, shape, atlas)[1]  # the buffer may have been used meanwhile
        damaged = scanlines.copy()
        y, x = random.integers(scanlines.shape[0]), random.integers(1, scanlines.shape[1])
        damaged[y, x] ^= 1 << random.integers(8)
        assert not decode.reads_back(as_png(damaged, shape, page), printed, page, shape)


@pytest.mark.parametrize("name", ["8x16", "11x16", "8x16@11x16-1568x784-role"])
def test_no_damaged_file_reads_back(name: str) -> None:
    shape, atlas = parse_shape(name), made_up_atlas()
    page = next(paginate([TEXT], shape, atlas))
    drawn, printed = draw_page(page, shape, atlas)
    assert decode.reads_back(drawn.png, printed, page, shape)
    random = np.random.default_rng(6)
    for at in random.integers(len(png.SIGNATURE), len(drawn.png), 100):
        damaged = bytearray(drawn.png)
        damaged[at] ^= 1 << random.integers(8)
        with pytest.raises(PageError):
            decode.reads_back(bytes(damaged), printed, page, shape)


@pytest.mark.parametrize("name", ["8x16", "8x16@11x16-1568x784-role"])
def test_no_page_packed_in_a_way_that_is_not_ours_reads_back(name: str) -> None:
    shape, atlas = parse_shape(name), made_up_atlas()
    page = next(paginate([TEXT], shape, atlas))
    drawn, printed = draw_page(page, shape, atlas)
    data = bytearray(drawn.png)
    data[26] = 1  # the header's method of compression, which Pillow does not look at
    data[29:33] = zlib.crc32(data[12:29]).to_bytes(4, "big")
    assert png.decode(bytes(data)).metadata is not None
    assert not decode.reads_back(bytes(data), printed, page, shape)


@pytest.mark.parametrize("size", [(8, 16), (8, 8), (12, 24)])
def test_no_one_or_two_pixels_of_a_glyph_drawn_wrong_read_back(size: tuple[int, int]) -> None:
    width, height = size
    atlas = made_up_atlas(width, height)
    shape = Shape("made-up", width, height, 40 * width, 4 * height)
    page = next(paginate([b"letters"], shape, atlas))
    right = draw_page(page, shape, atlas)[1].copy()
    assert decode.reads_back(as_png(right, shape, page), right, page, shape)
    for one, other in combinations_with_replacement(range(height), 2):
        drawn = right.copy()
        for line in {one, other}:
            drawn[line, 2] ^= 8
        assert not decode.reads_back(as_png(drawn, shape, page), drawn, page, shape)


@pytest.mark.parametrize(
    "wrong",
    [
        {"shape": "8x16@8x16-1568x784"},
        {"font": "1" * 64},
        {"page": 2},
        {"offset": 1},
        {"length": 1},
        {"sha256": "1" * 64},
    ],
)
def test_no_page_that_says_what_is_not_so_reads_back(wrong: dict[str, Any]) -> None:
    shape, atlas = parse_shape("8x16"), made_up_atlas()
    page = next(paginate([TEXT], shape, atlas))
    printed = draw_page(page, shape, atlas)[1].copy()
    assert decode.reads_back(as_png(printed, shape, page), printed, page, shape)
    assert not decode.reads_back(as_png(printed, shape, page, wrong), printed, page, shape)
