from __future__ import annotations

import zlib
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from snapcompact.pages import compress
from snapcompact.pages.cells import paginate
from snapcompact.pages.compress import Drawn
from snapcompact.pages.glyphs import rows_filtered
from snapcompact.pages.render import raster
from snapcompact.pages.shape import Shape, parse_shape
from snapcompact_kernels import deflate_codes as codes
from snapcompact_kernels.deflate_matches import find_matches
from snapcompact_kernels.raster import filter_up
from tests.pages.font import made_up_atlas
from tests.pages.strategies import shapes, texts
from tests.reference import deflate as twin

if TYPE_CHECKING:
    from snapcompact.fonts.atlas import Atlas

FONTS = [(8, 16), (5, 8), (6, 13), (11, 9)]
REPETITIVE = st.lists(
    st.sampled_from(
        [b"/usr/lib/python3/dist-packages/", b"a" * 300, b"\n", b" " * 70, b"0123456789"]
    ),
    max_size=60,
).map(b"".join)


@st.composite
def pages(draw: st.DrawFn) -> tuple[Shape, Atlas, bytes]:
    font = draw(st.sampled_from(FONTS))
    return draw(shapes(*font)), made_up_atlas(*font), draw(texts | REPETITIVE)


def unpacked(stream: bytes, shape: Shape) -> np.ndarray[tuple[int, int], np.dtype[np.uint8]]:
    """Scanlines in the zlib `stream`, unfiltered by NumPy."""
    lines = np.frombuffer(zlib.decompress(stream), np.uint8).reshape(-1, shape.line_bytes).copy()
    for y in range(len(lines)):
        if lines[y, 0] == 2:
            lines[y] += lines[y - 1]
        lines[y, 0] = 0
    return lines


@settings(deadline=None, max_examples=200)
@given(pages())
def test_zlib_unpacks_every_page(case: tuple[Shape, Atlas, bytes]) -> None:
    shape, atlas, text = case
    for page in paginate([text], shape, atlas):
        drawn = Drawn(page.cells, raster(page.cells, shape, atlas), shape, atlas)
        for effort in compress.EFFORTS:
            assert np.array_equal(
                unpacked(compress.compress(drawn, effort), shape), drawn.scanlines
            )


@pytest.mark.parametrize("name", ["8x16", "11x16", "8x22-2k", "made-up@9x17-8192x300"])
def test_zlib_unpacks_full_pages(name: str) -> None:
    atlas = made_up_atlas()
    shape = parse_shape(name)
    random = np.random.default_rng(3)
    words = [
        bytes(random.integers(97, 123, int(n), dtype=np.uint8)) for n in random.integers(1, 12, 300)
    ]
    text = b" ".join(words[int(i)] for i in random.zipf(1.3, 20_000) % 300)
    for page in paginate([text], shape, atlas):
        drawn = Drawn(page.cells, raster(page.cells, shape, atlas), shape, atlas)
        assert np.array_equal(unpacked(compress.compress(drawn, "fast"), shape), drawn.scanlines)


@settings(deadline=None, max_examples=100)
@given(pages())
def test_matches_hold_in_every_scanline(case: tuple[Shape, Atlas, bytes]) -> None:
    shape, atlas, text = case
    page = next(paginate([text], shape, atlas))
    lines = raster(page.cells, shape, atlas)
    filtered = np.empty_like(lines)
    up = rows_filtered(shape, atlas)
    filter_up(lines.reshape(-1), shape.row_bytes, up, filtered.reshape(-1))
    flat = filtered.reshape(-1)
    tokens = np.empty((lines.size // 3, 3), np.int32)
    first = np.empty(page.cells.shape[0] + 1, np.int32)
    block = shape.pitch_height * shape.line_bytes
    pitch = shape.pitch_width
    count = find_matches(page.cells, atlas.width, pitch, shape.row_bytes, block, tokens, first)
    assert first[0] == 0
    assert first[-1] == count
    for row in range(page.cells.shape[0]):
        behind = 0
        for byte, size, distance in tokens[first[row] : first[row + 1]].tolist():
            assert byte >= behind
            assert 3 <= size <= 258
            assert 1 <= distance <= 32768
            behind = byte + size
            assert behind <= shape.row_bytes
            for place in range(shape.pitch_height):
                at = row * block + place * shape.line_bytes + 1 + byte
                assert at >= distance
                for i in range(at, at + size):
                    assert flat[i] == flat[i - distance]


@settings(deadline=None, max_examples=100)
@given(st.lists(st.integers(1, 1 << 40) | st.integers(1, 9), min_size=2, max_size=286))
def test_code_lengths_are_complete_and_short(counts: list[int]) -> None:
    lengths = np.empty(len(counts), np.int64)
    codes.code_lengths(np.array(counts), lengths)
    assert lengths.min() >= 1
    assert lengths.max() <= codes.LIMIT
    assert sum(1 << (codes.LIMIT - int(n)) for n in lengths) == 1 << codes.LIMIT
    cost = int((lengths * np.array(counts)).sum())
    if lengths.max() < codes.LIMIT:
        assert cost == twin.huffman_cost(counts)
    else:
        assert cost >= twin.huffman_cost(counts)


@settings(deadline=None)
@given(st.lists(st.integers(1, 500), min_size=2, max_size=286))
def test_canonical_codes_equal_their_twin(counts: list[int]) -> None:
    lengths = np.empty(len(counts), np.int64)
    entries = np.empty(len(counts), np.uint64)
    codes.code_lengths(np.array(counts), lengths)
    codes.canonical_entries(lengths, entries)
    got = [f"{int(e) >> 6:0{int(e) & 63}b}"[::-1] for e in entries]
    assert got == twin.canonical_codes(lengths.tolist())


def test_tables_are_those_of_the_rfc() -> None:
    assert codes.LENGTH_BASE[[0, 7, 8, 12, 20, 27, 28]].tolist() == [3, 10, 11, 19, 67, 227, 258]
    assert codes.LENGTH_EXTRA[[0, 7, 8, 12, 20, 27, 28]].tolist() == [0, 0, 1, 2, 4, 5, 0]
    assert codes.DISTANCE_BASE[[0, 3, 4, 10, 29]].tolist() == [1, 4, 5, 33, 24577]
    assert codes.DISTANCE_EXTRA[[0, 3, 4, 10, 29]].tolist() == [0, 0, 1, 4, 13]
    assert codes.LENGTH_SYMBOL[[3, 10, 11, 257, 258]].tolist() == [0, 7, 8, 27, 28]
    for distance in (1, 4, 5, 6, 7, 24576, 24577, 32768):
        symbol = codes.distance_symbol(distance)
        extra = distance - int(codes.DISTANCE_BASE[symbol])
        assert 0 <= extra < 1 << int(codes.DISTANCE_EXTRA[symbol])
