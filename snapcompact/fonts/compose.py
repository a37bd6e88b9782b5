"""Makes the shipped BDF files from the drawings in ``drawn/``.

``python -m snapcompact.fonts.compose`` rewrites them; with ``--check`` it only says whether they
are what the drawings give.
"""

from __future__ import annotations

import sys
from pathlib import Path
from unicodedata import combining

from snapcompact.fonts.accents import Metrics, composed, overlay
from snapcompact.fonts.bdf import bdf_text
from snapcompact.fonts.boxes import box_drawings
from snapcompact.fonts.digits import small_digits
from snapcompact.fonts.drawing import Rows, parse_drawings
from snapcompact.fonts.font import Font, Glyph, glyph_name
from snapcompact.fonts.shapes import shape_drawings
from snapcompact.fonts.signs import sign_glyphs

FOLDER = Path(__file__).parent
METRICS = {
    "5x8": Metrics(5, 8, baseline=7, lower_top=2, accent_top=2),
    "6x12": Metrics(6, 12, baseline=10, lower_top=4, accent_top=3),
    "8x16": Metrics(8, 16, baseline=12, lower_top=4, accent_top=3),
}
"""The fonts shipped, by name."""

_SMALL = {"5x8"}
_SMALL_CODES = {*range(0x100), *range(0x2500, 0x25A0), *range(0x2800, 0x2900)}
"""What a small font has: ASCII, Latin-1, boxes, blocks, Braille."""


def compose(name: str) -> Font:
    """The font made from ``drawn/<name>.txt``.

    What is drawn comes before what is worked out; a character that would look like one before it is
    left out, so that it is printed as an escape.
    """
    metrics = METRICS[name]
    size = (metrics.width, metrics.height)
    text = (FOLDER / "drawn" / f"{name}.txt").read_text("utf-8")
    drawn = parse_drawings(text, *size)
    made: dict[str, Rows] = {
        " ": (0,) * metrics.height,
        **drawn,
        **composed(drawn, metrics),
        **box_drawings(*size),
        **small_digits(*size),
        **drawn,
    }
    if name in _SMALL:
        made = {what: rows for what, rows in made.items() if ord(what) in _SMALL_CODES}
    else:
        made = {**made, **shape_drawings(*size), **drawn}
        # A combining mark gets a cell of its own, over a dotted circle as in Unicode's charts.
        for mark in filter(combining, drawn):
            made[mark] = overlay(made.pop(mark), made["◌"])
    letters = (Glyph(glyph_name(ord(what)), ord(what), rows) for what, rows in made.items())
    distinct: dict[Rows, Glyph] = {}
    for glyph in (*sign_glyphs(*size), *letters):
        distinct.setdefault(glyph.rows, glyph)
    return Font(name, *size, metrics.baseline, tuple(distinct.values()))


def main(arguments: list[str]) -> int:
    """0, or 1 where ``--check`` found a file that is not as made."""
    status = 0
    for name in METRICS:
        path, text = FOLDER / f"{name}.bdf", bdf_text(compose(name))
        if "--check" not in arguments:
            path.write_text(text, "ascii")
        elif path.read_text("ascii") != text:
            print(f"{path.name} is not what drawn/{name}.txt gives", file=sys.stderr)
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
