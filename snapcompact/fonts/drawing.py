"""Glyphs drawn as text: the source that the shipped BDF files are made from.

A drawing has a line ``= <what> <row>`` naming a character (itself, ``U+XXXX`` or a mark's name) and
the scanline its first row stands on, then rows of ``.`` and ``#`` from the cell's left edge;
``*3`` behind a row repeats it. Lines starting with ``;`` are comments.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from snapcompact.errors import InputError

Rows = tuple[int, ...]
"""One integer a scanline, top first; leftmost pixel in the highest bit of the cell's width."""

Point = tuple[int, int]
"""Column and row of a pixel, from the top left."""


def rows_of(ink: Iterable[Point], width: int, height: int) -> Rows:
    """The drawing with these pixels; those outside the cell are left out."""
    rows = [0] * height
    for x, y in ink:
        if 0 <= x < width and 0 <= y < height:
            rows[y] |= 1 << (width - 1 - x)
    return tuple(rows)


def parse_drawings(text: str, width: int, height: int) -> dict[str, Rows]:
    """Drawings by what they name; characters given as ``U+XXXX`` are named by themselves.

    Raises InputError naming the line that does not fit a cell of ``width`` × ``height`` px.
    """
    drawings: dict[str, Rows] = {}
    name, rows = "", list[int]()
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith(";") or not line:
            continue
        if line.startswith("= "):
            _, name, first = line.split(" ")
            name = _named(name)
            if name in drawings:
                raise InputError(f"line {number}: {name!r} is drawn twice")
            rows = [0] * int(first)
        else:
            rows += _expand(line, width, number)
        if len(rows) > height:
            raise InputError(f"line {number}: {name!r} is higher than {height} rows")
        drawings[name] = (*rows, *([0] * (height - len(rows))))
    return drawings


def _named(name: str) -> str:
    return chr(int(name[2:], 16)) if name.startswith("U+") and len(name) > 2 else name


def _expand(line: str, width: int, number: int) -> Iterator[int]:
    """The scanlines of one line of a drawing."""
    pixels, _, times = line.partition(" *")
    if len(pixels) > width or not pixels or pixels.strip(".#"):
        raise InputError(f"line {number}: {line!r} is no row of up to {width} '.' and '#'")
    row = int(pixels.ljust(width, ".").replace(".", "0").replace("#", "1"), 2)
    return iter([row] * int(times or 1))
