"""Box drawing, block elements and Braille, worked out for a cell of any size.

Lines meet those of the next cell, so they reach all edges. How a box character looks is taken from
its Unicode name, which never changes.
"""

from __future__ import annotations

import re
import unicodedata
from fractions import Fraction

from snapcompact.fonts.drawing import Point, Rows, rows_of

_SIDES = ("LEFT", "RIGHT", "UP", "DOWN")
_SPANS = {"HORIZONTAL": ("LEFT", "RIGHT"), "VERTICAL": ("UP", "DOWN")}
_WEIGHT = re.compile(r"LIGHT|HEAVY|DOUBLE|SINGLE")
_DASHES = {"DOUBLE": 2, "TRIPLE": 3, "QUADRUPLE": 4}

_QUADRANTS = {
    0x2596: "C", 0x2597: "D", 0x2598: "A", 0x2599: "ACD", 0x259A: "AD",
    0x259B: "ABC", 0x259C: "ABD", 0x259D: "B", 0x259E: "BC", 0x259F: "BCD",
}  # fmt: skip
"""Quarters filled: A upper left, B upper right, C lower left, D lower right."""


def box_drawings(width: int, height: int) -> dict[str, Rows]:
    """U+2500–257F, U+2580–259F and U+2800–28FF by character."""
    drawings = {chr(code): _box(code, width, height) for code in range(0x2500, 0x2580)}
    drawings |= {chr(code): _block(code, width, height) for code in range(0x2580, 0x25A0)}
    drawings |= {chr(code): _braille(code, width, height) for code in range(0x2800, 0x2900)}
    return {what: rows_of(ink, width, height) for what, ink in drawings.items()}


def _box(code: int, width: int, height: int) -> set[Point]:
    name = unicodedata.name(chr(code)).removeprefix("BOX DRAWINGS ")
    if "DIAGONAL" in name:
        return _diagonals(name, width, height)
    dashes = re.search(r"(DOUBLE|TRIPLE|QUADRUPLE) DASH", name)
    arms = _arms(name.replace(dashes[0], "") if dashes else name)
    ink = {point for side, weight in arms.items() for point in _arm(side, weight, width, height)}
    middle = (width // 2, height // 2)
    if "DOUBLE" in arms.values():
        ink -= _hollow(arms, middle)
    if "ARC" in name:
        return _rounded(ink, arms, middle)
    if dashes:
        across = "LEFT" in arms
        return _dashed(ink, across, width if across else height, _DASHES[dashes[1]])
    return ink


def _arms(name: str) -> dict[str, str]:
    """The weight of each of the four arms a name speaks of."""
    arms: dict[str, str] = {}
    groups = name.split(" AND ")
    weight = "LIGHT"
    found = [_WEIGHT.search(group) for group in groups]
    first = next(match[0] for match in found if match) if any(found) else weight
    for group, match in zip(groups, found, strict=True):
        weight = match[0] if match else first
        for word in group.split():
            for side in _SPANS.get(word, (word,)):
                if side in _SIDES:
                    arms[side] = weight.replace("SINGLE", "LIGHT")
    return arms


def _arm(side: str, weight: str, width: int, height: int) -> set[Point]:
    """Pixels from the middle of the cell to one edge."""
    x, y = width // 2, height // 2
    offsets = {"LIGHT": (0,), "HEAVY": (0, 1), "DOUBLE": (-1, 1)}[weight]
    reach = 1 if weight == "DOUBLE" else 0
    spans = {
        "LEFT": range(x + reach + 1),
        "RIGHT": range(x - reach, width),
        "UP": range(y + reach + 1),
        "DOWN": range(y - reach, height),
    }
    if side in {"LEFT", "RIGHT"}:
        return {(at, y + offset) for at in spans[side] for offset in offsets}
    return {(x + offset, at) for at in spans[side] for offset in offsets}


def _hollow(arms: dict[str, str], middle: Point) -> set[Point]:
    """Pixels where doubled lines open into each other."""
    x, y = middle
    steps = {"LEFT": (-1, 0), "RIGHT": (1, 0), "UP": (0, -1), "DOWN": (0, 1)}
    doubled = [steps[side] for side, weight in arms.items() if weight == "DOUBLE"]
    return {(x + dx, y + dy) for dx, dy in doubled} if len(doubled) > 1 else set()


def _rounded(ink: set[Point], arms: dict[str, str], middle: Point) -> set[Point]:
    x, y = middle
    dx, dy = (1 if "RIGHT" in arms else -1), (1 if "DOWN" in arms else -1)
    return ink - {middle, (x + dx, y), (x, y + dy)} | {(x + dx, y + dy)}


def _dashed(ink: set[Point], across: bool, length: int, dashes: int) -> set[Point]:
    """A line cut into dashes of equal length."""
    gaps = {(2 * part + 1) * length // (2 * dashes) for part in range(dashes)}
    return {point for point in ink if point[0 if across else 1] not in gaps}


def _diagonals(name: str, width: int, height: int) -> set[Point]:
    rising = {((height - 1 - y) * width // height, y) for y in range(height)}
    falling = {(width - 1 - x, y) for x, y in rising}
    return (rising if "CROSS" in name or "UPPER RIGHT TO" in name else set()) | (
        falling if "CROSS" in name or "UPPER LEFT TO" in name else set()
    )


def _block(code: int, width: int, height: int) -> set[Point]:
    everywhere = {(x, y) for x in range(width) for y in range(height)}
    if code in _QUADRANTS:
        return {p for p in everywhere if _quarter(p, width, height) in _QUADRANTS[code]}
    if code in range(0x2591, 0x2594):
        light = {(x, y) for x, y in everywhere if (x + 2 * (y % 2)) % 4 == 0}
        even = {(x, y) for x, y in everywhere if (x + y) % 2}
        dark = {(x, y) for x, y in everywhere if (x + 2 * (y % 2)) % 4 != 1}
        return (light, even, dark)[code - 0x2591]
    eighths = Fraction(1, 8)
    lower = [_filled(height * eighths * n, width, height, "DOWN") for n in range(1, 9)]
    left = [_filled(width * eighths * n, width, height, "LEFT") for n in range(7, 0, -1)]
    others = {
        0x2580: _filled(Fraction(height, 2), width, height, "UP"),
        0x2590: _filled(Fraction(width, 2), width, height, "RIGHT"),
        0x2594: _filled(height * eighths, width, height, "UP"),
        0x2595: _filled(width * eighths, width, height, "RIGHT"),
    }
    return others.get(code) or (lower + left)[code - 0x2581]


def _filled(amount: Fraction, width: int, height: int, side: str) -> set[Point]:
    """The cell filled from one side by ``amount`` px; part of a pixel is drawn as dots."""

    def inside(x: int, y: int) -> bool:
        deep, along = {
            "LEFT": (x, y),
            "RIGHT": (width - 1 - x, y),
            "UP": (y, x),
            "DOWN": (height - 1 - y, x),
        }[side]
        share = amount - deep
        return share >= 1 or (share > 0 and int((along + 1) * share) > int(along * share))

    return {(x, y) for x in range(width) for y in range(height) if inside(x, y)}


def _quarter(point: Point, width: int, height: int) -> str:
    return "ABCD"[(point[0] >= width // 2) + 2 * (point[1] >= height // 2)]


def _braille(code: int, width: int, height: int) -> set[Point]:
    """Dots of the pattern; the empty one is four corner pixels, as only the space may be blank."""
    pattern = code - 0x2800
    if not pattern:
        return {(x, y) for x in (0, width - 2) for y in (0, height - 1)}
    dot_width, dot_height = 1 + (width >= 8), 1 + (height >= 12)
    quarter = height // 4
    # Bits 0-2 are the left column from the top, 3-5 the right one, 6 and 7 the bottom row.
    places = [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2), (0, 3), (1, 3)]
    return {
        (column * (width // 2) + width // 8 + dx, row * quarter + (quarter - dot_height) // 2 + dy)
        for bit, (column, row) in enumerate(places)
        if pattern >> bit & 1
        for dx in range(dot_width)
        for dy in range(dot_height)
    }
