"""Geometric shapes U+25A0–25FF, worked out for a cell of any size."""

from __future__ import annotations

from collections.abc import Callable

from snapcompact.fonts.drawing import Point, Rows, rows_of

Area = Callable[[float, float], bool]
"""Whether a place is inside; both coordinates run from -1 (left, top) to 1."""


def _square(_x: float, _y: float) -> bool:
    return True


def _circle(x: float, y: float) -> bool:
    return x * x + y * y <= 1.3


def _diamond(x: float, y: float) -> bool:
    return abs(x) + abs(y) <= 1.01


def _up(x: float, y: float) -> bool:
    return abs(x) <= (y + 1) / 2 + 0.01


def _down(x: float, y: float) -> bool:
    return _up(x, -y)


def _right(x: float, y: float) -> bool:
    return _up(y, -x)


def _left(x: float, y: float) -> bool:
    return _up(y, x)


_OUTLINED: dict[str, tuple[Area, int]] = {
    "□": (_square, 0), "◻": (_square, 1), "◽": (_square, 2), "▫": (_square, 3),
    "△": (_up, 0), "▵": (_up, 2), "▷": (_right, 0), "▹": (_right, 2),
    "▽": (_down, 0), "▿": (_down, 2), "◁": (_left, 0), "◃": (_left, 2),
    "○": (_circle, 0), "◦": (_circle, 3), "◇": (_diamond, 0), "◊": (_diamond, 2),
}  # fmt: skip
"""Shape, and by how many px it is smaller than the largest of its kind."""

_FILLED: dict[str, tuple[Area, int]] = {
    "■": (_square, 0), "◼": (_square, 1), "◾": (_square, 2), "▪": (_square, 3),
    "▲": (_up, 0), "▴": (_up, 2), "▶": (_right, 0), "▸": (_right, 2),
    "▼": (_down, 0), "▾": (_down, 2), "◀": (_left, 0), "◂": (_left, 2),
    "●": (_circle, 0), "◆": (_diamond, 0),
}  # fmt: skip

_PARTS: dict[str, tuple[Area, Area]] = {
    "◐": (_circle, lambda x, _: x <= 0), "◑": (_circle, lambda x, _: x >= 0),
    "◒": (_circle, lambda _, y: y >= 0), "◓": (_circle, lambda _, y: y <= 0),
    "◧": (_square, lambda x, _: x <= 0), "◨": (_square, lambda x, _: x >= 0),
    "◩": (_square, lambda x, y: x + y <= 0), "◪": (_square, lambda x, y: x + y >= 0),
    "◈": (_diamond, lambda x, y: abs(x) + abs(y) <= 0.4),
    "◉": (_circle, lambda x, y: x * x + y * y <= 0.3),
    "▣": (_square, lambda x, y: max(abs(x), abs(y)) <= 0.4),
    "◘": (_square, lambda x, y: x * x + y * y > 0.3),
    "◙": (_square, lambda x, y: not 0.3 <= x * x + y * y <= 0.8),
    "▤": (_square, lambda _, y: _stripe(y)), "▥": (_square, lambda x, _: _stripe(x)),
    "▦": (_square, lambda x, y: _stripe(x) or _stripe(y)),
}  # fmt: skip
"""Outlined shapes, and what of them is filled."""

_BARE: dict[str, Area] = {
    "◢": lambda x, y: x + y >= 0, "◣": lambda x, y: y >= x,
    "◤": lambda x, y: x + y <= 0, "◥": lambda x, y: x >= y,
    "▬": lambda _, y: abs(y) <= 0.5, "▮": lambda x, _: abs(x) <= 0.5,
    "►": lambda x, y: abs(y) <= (1 - x) / 4 + 0.01, "◄": lambda x, y: abs(y) <= (1 + x) / 4 + 0.01,
    "◌": lambda x, y: _circle(x, y) and x * x + y * y > 0.6 and _stripe(x) != _stripe(y),
}  # fmt: skip


def _stripe(at: float) -> bool:
    return round((at + 1) * 6) % 4 == 2


def shape_drawings(width: int, height: int) -> dict[str, Rows]:
    """Geometric shapes by character; those a small cell cannot tell apart may be alike."""
    shapes = {what: _place(*shape, width, height) for what, shape in _FILLED.items()}
    for what, (area, smaller) in _OUTLINED.items():
        shapes[what] = _outline(_place(area, smaller, width, height))
    for what, (area, part) in _PARTS.items():
        whole = _place(area, 0, width, height)
        shapes[what] = _outline(whole) | (whole & _place(part, 0, width, height))
    for what, area in _BARE.items():
        shapes[what] = _place(area, 0, width, height)
    shapes["▭"], shapes["▯"] = _outline(shapes["▬"]), _outline(shapes["▮"])
    shapes["▢"] = shapes["□"] - _corners(shapes["□"])
    shapes["◎"] = shapes["○"] | _outline(_place(_circle, width // 2 - 1, width, height))
    return {what: rows_of(ink, width, height) for what, ink in shapes.items()}


def _place(area: Area, smaller: int, width: int, height: int) -> set[Point]:
    """The pixels of an area in the middle of the cell, the last column left empty."""
    size = width - 1 - smaller
    left, top = (width - 1 - size) // 2, (height - size) // 2
    half = (size - 1) / 2
    return {
        (left + x, top + y)
        for x in range(size)
        for y in range(size)
        if area(x / half - 1, y / half - 1)
    }


def _outline(ink: set[Point]) -> set[Point]:
    """The pixels that have a neighbour outside."""
    return {(x, y) for x, y in ink if not {(x - 1, y), (x + 1, y), (x, y - 1), (x, y + 1)} <= ink}


def _corners(ink: set[Point]) -> set[Point]:
    xs, ys = {x for x, _ in ink}, {y for _, y in ink}
    return {(x, y) for x in (min(xs), max(xs)) for y in (min(ys), max(ys))}
