from __future__ import annotations

import pytest

from snapcompact.fonts.boxes import box_drawings

CELLS = [(5, 8), (6, 12), (8, 16), (9, 15)]
OPEN = {
    "─": "LR", "│": "UD", "┌": "RD", "┐": "LD", "└": "RU", "┘": "LU", "├": "RUD", "┼": "LRUD",
    "═": "LR", "║": "UD", "╔": "RD", "╬": "LRUD", "╭": "RD", "╰": "RU", "━": "LR", "┃": "UD",
}  # fmt: skip


@pytest.mark.parametrize("cell", CELLS)
def test_no_two_boxes_are_alike(cell: tuple[int, int]) -> None:
    drawings = [rows for what, rows in box_drawings(*cell).items() if ord(what) < 0x2580]
    assert len(set(drawings)) == len(drawings) == 128


@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize("what", OPEN)
def test_lines_reach_the_edges_they_go_to(what: str, cell: tuple[int, int]) -> None:
    width, height = cell
    rows = box_drawings(width, height)[what]
    left = any(row >> (width - 1) & 1 for row in rows)
    right = any(row & 1 for row in rows)
    reached = {"L": left, "R": right, "U": bool(rows[0]), "D": bool(rows[-1])}
    assert {side for side, there in reached.items() if there} >= set(OPEN[what])
    if what in "─━═":
        assert not rows[0]
        assert not rows[-1]


@pytest.mark.parametrize("cell", CELLS)
def test_blocks_fill_what_they_say(cell: tuple[int, int]) -> None:
    width, height = cell
    drawings = box_drawings(width, height)

    def ink(what: str) -> int:
        return sum(row.bit_count() for row in drawings[what])

    assert ink("█") == width * height
    assert abs(ink("▀") - width * height / 2) < width
    assert abs(ink("▄") - width * height / 2) < width
    eighths = [ink(what) for what in "▁▂▃▄▅▆▇█"]
    assert eighths == sorted(set(eighths))
    assert ink("░") < ink("▒") < ink("▓")


@pytest.mark.parametrize("cell", CELLS)
def test_braille_dots_add_up(cell: tuple[int, int]) -> None:
    drawings = box_drawings(*cell)
    dot = sum(row.bit_count() for row in drawings["⠁"])
    for code in range(0x2801, 0x2900):
        inked = sum(row.bit_count() for row in drawings[chr(code)])
        assert inked == dot * (code - 0x2800).bit_count()
