from __future__ import annotations

import pytest

from snapcompact.errors import InputError
from snapcompact.fonts.accents import flip, mirror, press
from snapcompact.fonts.drawing import parse_drawings, rows_of


def test_a_drawing_is_read() -> None:
    text = "; a comment\n= A 1\n.#\n#.# *2\n= U+0300 0\n#\n"
    assert parse_drawings(text, 4, 5) == {
        "A": (0, 0b0100, 0b1010, 0b1010, 0),
        "\u0300": (0b1000, 0, 0, 0, 0),
    }


@pytest.mark.parametrize(
    ("text", "wrong"),
    [("= A 0\n#####", "up to 4"), ("= A 4\n# *3", "higher"), ("= A 0\n#\n= A 0\n#", "twice")],
)
def test_a_drawing_that_does_not_fit_is_refused(text: str, wrong: str) -> None:
    with pytest.raises(InputError, match=wrong):
        parse_drawings(text, 4, 5)


def test_ink_outside_the_cell_is_left_out() -> None:
    assert rows_of([(0, 0), (3, 1), (4, 0), (0, 2), (-1, 0)], 4, 2) == (0b1000, 0b0001)


def test_mirror_keeps_the_columns_and_flip_the_scanlines() -> None:
    drawn = parse_drawings("= L 1\n#..\n#..\n##.\n", 4, 5)["L"]
    assert mirror(drawn, 4) == (0, 0b0100, 0b0100, 0b1100, 0)
    assert flip(drawn) == (0, 0b1100, 0b1000, 0b1000, 0)


def test_press_takes_repeated_scanlines_first() -> None:
    drawn = (0b111, 0b101, 0b101, 0b101, 0b010)
    assert press(drawn, 2) == (0, 0, 0b111, 0b101, 0b010)
