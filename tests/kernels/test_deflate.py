from __future__ import annotations

import re
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
from snapcompact.pages.render import is_small, raster
from snapcompact.pages.shape import Shape, parse_shape
from snapcompact_kernels import deflate_codes as codes
from snapcompact_kernels.deflate import SAMPLE_ROWS
from snapcompact_kernels.deflate_matches import DENSE, LEAST_RUN, RUN, SPARSE, fit_matches
from snapcompact_kernels.deflate_repeats import find_repeats
from snapcompact_kernels.deflate_search import search_repeats
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


@settings(deadline=None, max_examples=100)
@given(pages())
def test_drawing_at_once_is_what_its_steps_are(case: tuple[Shape, Atlas, bytes]) -> None:
    shape, atlas, text = case
    if not is_small(shape, atlas):
        return
    for page in paginate([text], shape, atlas):
        expected = raster(page.cells, shape, atlas)
        scanlines, stream = compress.draw(page.cells, shape, atlas)
        assert np.array_equal(scanlines, expected)
        packed = bytes(stream)  # what is compressed next stands in the same buffer
        assert packed == compress.compress(Drawn(page.cells, expected, shape, atlas), "fast")


def prose() -> bytes:
    """Text that repeats words, and now and then a run of them."""
    random = np.random.default_rng(3)
    words = [
        bytes(random.integers(97, 123, int(n), dtype=np.uint8)) for n in random.integers(1, 12, 300)
    ]
    return b" ".join(words[int(i)] for i in random.zipf(1.3, 20_000) % 300)


@pytest.mark.parametrize("name", ["8x16", "11x16", "8x22-2k", "made-up@9x17-8192x300"])
def test_full_pages_unpack_and_are_smaller_where_asked(name: str) -> None:
    atlas = made_up_atlas()
    shape = parse_shape(name)
    sizes = dict.fromkeys(compress.EFFORTS, 0)
    for page in paginate([prose()], shape, atlas):
        drawn = Drawn(page.cells, raster(page.cells, shape, atlas), shape, atlas)
        for effort in compress.EFFORTS:
            stream = compress.compress(drawn, effort)
            assert np.array_equal(unpacked(stream, shape), drawn.scanlines)
            sizes[effort] += len(stream)
    assert sizes["smaller"] < 0.95 * sizes["fast"]


def test_a_page_unlike_its_sample_is_no_longer_than_stored() -> None:
    atlas = made_up_atlas()
    shape = Shape("made-up", 8, 16, 8 * 256, 16 * 128)
    inked = np.array([*range(33, 127), *range(0xA0, 0x100)])
    points = np.random.default_rng(4).choice(inked, (128, 256))
    points[:: 128 // SAMPLE_ROWS] = ord(" ")  # the rows that the codes are made from
    text = "".join(map(chr, points.reshape(-1))).encode()
    page = next(paginate([text], shape, atlas))
    drawn = Drawn(page.cells, raster(page.cells, shape, atlas), shape, atlas)
    for effort in compress.EFFORTS:
        stream = compress.compress(drawn, effort)
        assert len(stream) <= drawn.scanlines.size
        assert np.array_equal(unpacked(stream, shape), drawn.scanlines)


@settings(deadline=None, max_examples=100)
@given(pages())
def test_repeats_hold_in_every_scanline(case: tuple[Shape, Atlas, bytes]) -> None:
    shape, atlas, text = case
    page = next(paginate([text], shape, atlas))
    lines = raster(page.cells, shape, atlas)
    filtered = np.empty_like(lines)
    up = rows_filtered(shape, atlas)
    filter_up(lines.reshape(-1), shape.row_bytes, up, filtered.reshape(-1))
    flat = filtered.reshape(-1)
    rows = page.cells.shape[0]
    block = shape.pitch_height * shape.line_bytes
    for find in (find_repeats, search_repeats):
        repeats = np.empty((page.cells.size, 3), np.int32)
        first = np.empty(rows + 1, np.int32)
        find(page.cells, atlas.width, shape.pitch_width, shape.row_bytes, block, repeats, first)
        assert first[0] == 0
        for row in range(rows):
            behind = 0
            for byte, size, distance in repeats[first[row] : first[row + 1]].tolist():
                assert size >= 1
                assert byte + size >= behind
                assert 1 <= distance <= 32768
                behind = byte + size
                assert behind <= shape.row_bytes
                for place in range(shape.pitch_height):
                    at = row * block + place * shape.line_bytes + 1 + byte
                    assert at >= distance
                    assert np.array_equal(
                        flat[at : at + size], [flat[i - distance] for i in range(at, at + size)]
                    )


@pytest.mark.parametrize(
    ("byte", "before", "behind", "stretched"),
    [(40, 0, 0, (40, 50)), (40, 3, 2, (37, 52)), (40, 12, 30, (33, 57)), (40, 0, 4, (40, 54))],
)
def test_repeats_are_stretched_as_far_as_bytes_repeat(
    byte: int, before: int, behind: int, stretched: tuple[int, int]
) -> None:
    size, distance = 10, 101
    page = np.random.default_rng(1).integers(1, 256, 2 * distance + 16, dtype=np.uint8)
    at = distance + 1 + byte
    for i in range(at - before, at + size + behind):
        page[i] = page[i - distance]
    for i in (at - before - 1, at + size + behind):
        page[i] = page[i - distance] ^ 1
    matches = np.empty((page.size, 3), np.int32)
    line_first = np.empty(3, np.int32)
    repeats = np.array([[byte, size, distance]], np.int32)
    kinds = np.full(1, DENSE)
    fit_matches(
        page,
        distance,
        repeats,
        np.array([0, 0, 1], np.int32),
        np.full(1, 8),
        kinds,
        matches,
        line_first,
    )
    assert line_first.tolist() == [0, 0, 1]
    begin, stop = stretched
    assert matches[0].tolist() == [distance + 1 + begin, stop - begin, 0]


@settings(deadline=None, max_examples=100)
@given(st.lists(st.tuples(st.integers(0, 90), st.integers(1, 4)), max_size=12), st.integers(1, 250))
def test_runs_of_paper_are_found(parts: list[tuple[int, int]], ink: int) -> None:
    line = b"".join(bytes(paper) + bytes([ink]) * inked for paper, inked in parts) + bytes(20)
    page = np.frombuffer(b"\x02" + line + bytes(8), np.uint8)
    matches = np.empty((len(page), 3), np.int32)
    line_first = np.empty(2, np.int32)
    none = np.empty((0, 3), np.int32)
    kinds = np.full(1, SPARSE)
    fit_matches(
        page, 1 + len(line), none, np.zeros(2, np.int32), np.full(1, 8), kinds, matches, line_first
    )
    expected = [
        (run.start() + 1, len(run[0]) - 1)
        for run in re.finditer(rb"\0+", page[: 1 + len(line)].tobytes())
        if len(run[0]) >= LEAST_RUN
    ]
    assert matches[: line_first[1]].tolist() == [[at, size, RUN] for at, size in expected]


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
