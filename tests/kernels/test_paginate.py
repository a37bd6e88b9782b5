from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from snapcompact.fonts.atlas import NO_GLYPH, Special
from snapcompact_kernels import cells as kernel
from snapcompact_kernels.paginate import fill_page
from tests.pages.font import made_up_atlas
from tests.pages.strategies import texts
from tests.reference import cells as twin


def test_special_cells_are_those_of_the_atlas() -> None:
    assert list(Special) == [
        kernel.END,
        kernel.PAD,
        kernel.POINT_OPEN,
        kernel.CLOSE,
        kernel.BYTE_OPEN,
    ]
    assert kernel.NO_GLYPH == NO_GLYPH


def fill(text: bytes, width: int, rows: int, *, breaks: int, plain: bool) -> list[list[int]]:
    atlas = made_up_atlas()
    pages = []
    at = 0
    ended = False
    while not ended:
        page = np.empty(width * rows, np.uint16)
        at, used, ended = fill_page(
            np.frombuffer(text, np.uint8),
            at,
            atlas.glyph_of,
            atlas.wide,
            plain,
            width,
            breaks,
            page,
        )
        assert (page[used:] == kernel.BLANK).all()
        pages.append(page.tolist())
    return pages


@settings(deadline=None, max_examples=300)
@given(texts, st.integers(2, 40), st.integers(8, 20), st.integers(0, 2), st.booleans())
def test_equals_its_twin(text: bytes, width: int, rows: int, breaks: int, plain: bool) -> None:
    expected = twin.pages(text, made_up_atlas(), width, rows, breaks=breaks)
    assert fill(text, width, rows, breaks=breaks, plain=plain) == expected


@settings(deadline=None, max_examples=300)
@given(texts, st.integers(2, 40), st.integers(0, 2))
def test_text_comes_back_whatever_the_layout(text: bytes, width: int, breaks: int) -> None:
    atlas = made_up_atlas()
    parts = []
    for page in fill(text, width, 20, breaks=breaks, plain=True):
        out = np.empty(4 * len(page), np.uint8)
        size, wrong = kernel.cells_to_text(
            np.array(page, np.uint16), atlas.codes, atlas.wide, width, out
        )
        assert wrong == -1
        parts.append(out[:size].tobytes())
    assert b"".join(parts) == text


@settings(deadline=None, max_examples=300)
@given(
    st.lists(st.sampled_from([32, 10, 48, 70, 128, 129, 130, 131, 132, 0x16C, 0x16D, 300, 2000]))
)
def test_no_row_of_cells_breaks_the_way_back(page: list[int]) -> None:
    atlas = made_up_atlas()
    out = np.empty(4 * len(page), np.uint8)
    size, wrong = kernel.cells_to_text(np.array(page, np.uint16), atlas.codes, atlas.wide, 7, out)
    assert 0 <= size <= out.size
    assert -1 <= wrong < max(1, len(page))


@settings(deadline=None, max_examples=1000)
@given(st.binary(min_size=1, max_size=5))
def test_a_point_is_what_python_decodes(text: bytes) -> None:
    point, length = kernel.next_point(np.frombuffer(text, np.uint8), 0)
    expected_length, expected = twin.point_at(text, 0)
    assert (point, length) == (-1 if expected is None else expected, expected_length)
