from __future__ import annotations

import io

import numpy as np
import pytest
from hypothesis import given, settings
from PIL import Image

from snapcompact.pages import decode, png
from snapcompact.pages.cells import paginate
from snapcompact.pages.ink import PALETTES, cell_inks, depth_of
from snapcompact.pages.pipeline import render_pages
from snapcompact.pages.shape import INKS, Shape, parse_shape
from tests.pages.font import made_up_atlas
from tests.pages.strategies import shapes, texts


def inks_of(text: str, ink: str) -> list[int]:
    shape = Shape("made-up", 8, 16, 8 * 60, 320, ink=ink)
    (page,) = paginate([text.encode()], shape, made_up_atlas())
    return list(map(int, cell_inks(page.cells, shape).reshape(-1)[: len(text)]))


def test_every_ink_has_a_palette_with_paper_first() -> None:
    assert sorted(PALETTES) == sorted(INKS)
    for ink, colours in PALETTES.items():
        assert colours[0] == (255, 255, 255)
        assert len(set(colours)) == len(colours)
        assert len(colours) <= 1 << depth_of(ink)


def test_sentences_change_colour() -> None:
    assert inks_of("One. Two! v1.2 x", "sentence") == [1] * 4 + [2] * 5 + [1] * 7


def test_dim_greys_what_prints_no_character() -> None:
    assert inks_of("ab\tc\nd", "dim") == [1, 1, 2, 1, 2, 1]


def test_results_of_tools_are_dim_from_where_they_are_known() -> None:
    assert inks_of("¶ai: a\n<out>b\n</out>\n¶user: c", "dim") == [1] * 6 + [2] * 15 + [1] * 8
    assert inks_of("cut off\n</out>\n¶user: c", "dim") == [2] * 15 + [1] * 8


@pytest.mark.parametrize("how", ["packed", "lines"])
def test_markers_are_seen_in_every_layout(how: str) -> None:
    shape = Shape("made-up", 8, 16, 8 * 60, 320, ink="role", layout=how)
    (page,) = paginate([b"x\n\xc2\xb6user: y\n"], shape, made_up_atlas())
    cells, inks = page.cells.reshape(-1), cell_inks(page.cells, shape).reshape(-1)
    assert inks[cells == ord("x")] == [1]
    assert inks[cells == ord("y")] == [3]


def test_scopes_have_colours_up_to_the_next_marker() -> None:
    text = "x\n¶user:\nhi ¶ai: no\n¶+call:f()\n<out>\n¶image:z\n"
    inks = inks_of(text, "role")
    at = {word: inks[text.index(word)] for word in ("x", "hi", "¶ai", "¶+call", "<out", "¶image")}
    assert at == {"x": 1, "hi": 3, "¶ai": 3, "¶+call": 7, "<out": 9, "¶image": 9}


@settings(deadline=None, max_examples=60)
@given(texts, shapes())
def test_colours_are_those_of_the_cells(text: bytes, shape: Shape) -> None:
    atlas = made_up_atlas()
    for page in render_pages(paginate([text], shape, atlas), shape, atlas, jobs=1):
        image = Image.open(io.BytesIO(page.png))
        seen = np.asarray(image.convert("RGB"))
        ink = png.decode(page.png).pixels
        rows, columns = page.page.cells.shape
        inks = cell_inks(page.page.cells, shape)
        inside = inks.repeat(shape.pitch_height, 0).repeat(shape.pitch_width, 1)
        expected = np.zeros(ink.shape, np.uint8)
        expected[:, : columns * shape.pitch_width] = inside
        expected[ink == 0] = 0
        assert np.array_equal(seen, np.array(PALETTES[shape.ink], np.uint8)[expected])
        assert rows * shape.pitch_height == image.height


@pytest.mark.parametrize("ink", INKS)
def test_coloured_pages_read(ink: str) -> None:
    shape = parse_shape(f"8x16@11x16-1568x1568-{ink}")
    atlas = made_up_atlas()
    text = "¶user: a question. Why?\n¶ai:\nA reply\tof sorts. \U0001f600\n".encode() * 300
    pages = list(render_pages(paginate([text], shape, atlas), shape, atlas, jobs=1))
    assert b"".join(decode.read_text(png.decode(p.png), shape, atlas) for p in pages) == text
