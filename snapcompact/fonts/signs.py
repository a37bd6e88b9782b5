"""Glyphs that no font has, for cells of any size: special cells, control characters, blanks.

They are worked out, not drawn, so that a foreign font gets them in its own cell. The last column
stays empty like that of a letter. Line ends make up 2 % of a transcript and a page is compressed
scanline by scanline, hence the line end's ink on two scanlines only.
"""

from __future__ import annotations

from collections.abc import Iterable

from snapcompact.fonts.digits import tiny_digit
from snapcompact.fonts.drawing import Point, rows_of
from snapcompact.fonts.font import Glyph, glyph_name

_INVISIBLE = (*range(0x2000, 0x2010), *range(0x2028, 0x2030), *range(0x205F, 0x2070), 0xFEFF)
"""Blanks and format controls: their low byte in hex, set apart from control characters."""


MIN_CELL = (5, 8)
"""Width and height in px of the least cell the signs can be told apart in."""


def sign_glyphs(width: int, height: int) -> list[Glyph]:
    """Special cells, control characters, NBSP and SHY for a cell of at least 5×8 px."""
    last, middle = width - 2, height // 2 - 1
    points: dict[str | int, Iterable[Point]] = {
        code: _control(code, width, height) for code in (*range(32), 127)
    }
    if height >= 12:
        points |= {code: _blank(code, width, height) for code in _INVISIBLE}
    points[0x0A] = [*_line(0, last, middle), (last, middle + 1), (last - 1, middle + 1)]
    points[0x09] = _arrow(last, middle)
    points[0x0D] = [(last - x, y + 1) for x, y in _arrow(last, middle)]
    points[0xA0] = [(0, height - 3), (last, height - 3), *_line(0, last, height - 2)]
    points[0xAD] = [(x, y) for x in range(last + 1) for y in (middle, middle + 1) if x % 3 != 2]
    bracket = _bracket(last, height)
    points["snap.point_open"] = bracket
    points["snap.close"] = [(last - x, y) for x, y in bracket]
    points["snap.byte_open"] = _notched(last, height)
    points["snap.end"] = _framed(last, height)
    points["snap.pad"] = [(0, 1), (last // 2, middle), (last, height - 2)]
    return [
        Glyph(
            glyph_name(what) if isinstance(what, int) else what,
            what if isinstance(what, int) else -1,
            rows_of(ink, width, height),
        )
        for what, ink in points.items()
    ]


def _line(first: int, last: int, y: int) -> list[Point]:
    return [(x, y) for x in range(first, last + 1)]


def _arrow(last: int, y: int) -> list[Point]:
    """An arrow to a bar: the tab sign, on five scanlines."""
    heads = [(last - 3, y - 2), (last - 2, y - 1), (last - 2, y + 1), (last - 3, y + 2)]
    return [*_line(0, last, y), *heads, *((last, y + step) for step in (-2, -1, 1, 2))]


def _bracket(last: int, height: int) -> list[Point]:
    """A doubled bracket over the whole cell, open to the right."""
    stems = [(x, y) for x in (0, 2) for y in range(height)]
    return [*stems, *_line(0, last, 0), *_line(0, last, height - 1)]


def _notched(last: int, height: int) -> list[Point]:
    """A heavy bar at the left with a gap in its middle and a foot."""
    gap = range(height // 2 - 1, height // 2 + 1)
    bar = [(x, y) for x in range(last // 2 + 1) for y in range(height) if y not in gap]
    return [*bar, *_line(0, last, height - 1)]


def _framed(last: int, height: int) -> list[Point]:
    """A full box around a full core."""
    return [
        (x, y)
        for x in range(last + 1)
        for y in range(height)
        if min(x, last - x, y, height - 1 - y) != 1
    ]


def _control(code: int, width: int, height: int) -> list[Point]:
    """The code in hex between two lines, in narrow cells under one."""
    last, top = width - 2, height // 2 - 3
    lines = (top - 2, top + 6) if width >= 8 else (top - 1,)
    return [*_hex(code, width, height), *(point for y in lines for point in _line(0, last, y))]


def _blank(code: int, width: int, height: int) -> list[Point]:
    """The low byte in hex over a box open at its top."""
    foot = [(0, height - 2), (width - 2, height - 2), *_line(0, width - 2, height - 1)]
    return [*_hex(code & 0xFF, width, height), *foot]


def _hex(byte: int, width: int, height: int) -> list[Point]:
    """Two hex digits; in narrow cells the low one, over the bits of the high one."""
    high, low = divmod(byte, 16)
    top = height // 2 - 3
    if width >= 8:
        return tiny_digit(high, 0, top) + tiny_digit(low, 4, top)
    bits = [(x, top + 6) for x in range(4) if high >> (3 - x) & 1]
    return [*tiny_digit(low, 0, top), *bits]
