from __future__ import annotations

import hashlib
import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from snapcompact.errors import UsageError
from snapcompact.fonts.atlas import Atlas, Special
from snapcompact.pages.cells import PageCells, paginate
from snapcompact.pages.shape import Shape, parse_shape
from tests.pages.font import made_up_atlas
from tests.pages.strategies import shapes, texts


def made(text: bytes, shape: Shape) -> list[PageCells]:
    return list(paginate([text], shape, made_up_atlas()))


def same(one: PageCells, other: PageCells) -> bool:
    return np.array_equal(one.cells, other.cells) and one.start == other.start


@settings(deadline=None, max_examples=60)
@given(texts, shapes())
def test_pages_place_and_hash_their_text(text: bytes, shape: Shape) -> None:
    pages = made(text, shape)
    assert [page.last for page in pages] == [False] * (len(pages) - 1) + [True]
    assert [page.number for page in pages] == list(range(1, len(pages) + 1))
    offset = 0
    for page in pages:
        body = text[offset : offset + page.length]
        assert page.offset == offset
        assert page.sha256 == hashlib.sha256(body).hexdigest()
        assert page.start.line == 1 + text[:offset].count(b"\n")
        assert page.cells.shape[1] == shape.grid_columns
        assert page.cells.shape[0] <= shape.grid_rows
        offset += page.length
    assert offset == len(text)


@settings(deadline=None, max_examples=60)
@given(texts, st.lists(st.integers(0, 300), max_size=8), shapes())
def test_how_the_text_is_cut_into_chunks_does_not_matter(
    text: bytes, cuts: list[int], shape: Shape
) -> None:
    places = sorted({min(cut, len(text)) for cut in cuts} | {0, len(text)})
    chunks = [text[a:b] for a, b in itertools.pairwise(places)]
    several = list(paginate(chunks, shape, made_up_atlas()))
    assert all(map(same, several, made(text, shape)))


def test_pages_stream_without_waiting_for_the_end(
    atlas: Atlas, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("snapcompact.pages.cells.GATHER_BYTES", 1000)
    taken = 0

    def chunks() -> object:
        nonlocal taken
        for _ in range(1000):
            taken += 1
            yield b"x" * 1000

    pages = paginate(chunks(), parse_shape("8x16"), atlas)  # type: ignore[arg-type]
    next(pages)
    assert taken < 100
    whole = [*made(b"x" * 1_000_000, parse_shape("8x16"))]
    assert all(map(same, paginate([b"x" * 1000] * 1000, parse_shape("8x16"), atlas), whole))


@settings(deadline=None, max_examples=60)
@given(texts, texts, shapes())
def test_a_growing_text_keeps_its_full_pages(text: bytes, more: bytes, shape: Shape) -> None:
    before = made(text, shape)
    after = made(text + more, shape)
    keep = [page for page in before if not page.last and page.offset + page.length <= len(text) - 3]
    assert all(map(same, keep, after))
    start = before[len(keep)].start
    rest = list(paginate([(text + more)[start.offset :]], shape, made_up_atlas(), start))
    if not (shape.header and len(keep) == 0):
        assert len(rest) == len(after) - len(keep)
        assert all(map(same, rest, after[len(keep) :]))


def test_the_end_has_a_page_of_its_own_behind_a_full_one(atlas: Atlas) -> None:
    shape = Shape("made-up", 8, 16, 80, 32)
    full, end = made(b"x" * 20, shape)
    assert full.printed == 20
    assert (end.length, end.printed, end.cells.shape) == (0, 1, (1, 10))
    assert end.cells[0, 0] == Special.END
    assert len(made(b"x" * 19, shape)) == 1
    assert len(made(b"", shape)) == 1


def test_a_header_names_text_page_and_line() -> None:
    shape = parse_shape("8x16@8x16-400x80-header")
    text = b"line\n" * 100
    pages = made(text, shape)
    ident = hashlib.sha256(text[: pages[0].length]).hexdigest()[:8]
    rows = [bytes(page.cells[0].astype(np.uint8)).decode().rstrip() for page in pages]
    assert rows == [f"{ident} p1 L1", f"{ident} p2 L41", f"{ident} p3 L81"]


def test_columns_fill_one_after_the_other() -> None:
    shape = Shape("made-up", 8, 16, 8 * 22, 32, columns=2)
    (page,) = made(b"abcdefghijklmnopqrstuvwxyzABCD", shape)
    rows = ["".join(map(chr, row)) for row in page.cells]
    assert rows[0] == "abcdefghij  uvwxyzABCD"
    assert rows[1].startswith("klmnopqrst  \x80")


def test_an_indented_line_begins_a_row_with_indent(atlas: Atlas) -> None:
    shape = Shape("made-up", 8, 16, 80, 64, indent=True)
    (page,) = paginate([b"a\nb\n  c\nd"], shape, atlas)
    rows = ["".join(map(chr, row)) for row in page.cells.tolist()]
    assert rows == ["a\nb\n\x81     ", "  c\nd\x80    "]


def test_a_line_end_ends_its_row_in_lines(atlas: Atlas) -> None:
    shape = Shape("made-up", 8, 16, 80, 64, layout="lines")
    (page,) = made(b"one\n123456789\ntwo", shape)
    rows = [bytes(row.astype(np.uint8)) for row in page.cells]
    assert rows == [b"one\n\x81     ", b"123456789\n", b"two\x80      "]


def test_glyphs_larger_than_the_pitch_are_refused(atlas: Atlas) -> None:
    with pytest.raises(UsageError, match="do not fit"):
        made(b"a", parse_shape("made-up@7x16-1000x1000"))
