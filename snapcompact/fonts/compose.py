"""Makes the shipped BDF files from the drawings beside it.

``python -m snapcompact.fonts.compose`` rewrites them, ``--check`` says whether they are as made.
"""

from __future__ import annotations

import sys
from pathlib import Path

from snapcompact.fonts.bdf import bdf_text
from snapcompact.fonts.drawing import parse_drawings
from snapcompact.fonts.font import Font, Glyph, glyph_name
from snapcompact.fonts.signs import sign_glyphs

FOLDER = Path(__file__).parent
ASCENT = {"8x16": 12}


def compose(name: str) -> Font:
    """The font made from ``drawn/<name>.txt``."""
    width, height = (int(part) for part in name.split("x"))
    drawn = parse_drawings((FOLDER / "drawn" / f"{name}.txt").read_text("utf-8"), width, height)
    glyphs = {glyph.name: glyph for glyph in sign_glyphs(width, height)}
    for what, rows in {" ": (0,) * height, **drawn}.items():
        if len(what) == 1:
            glyphs[glyph_name(ord(what))] = Glyph(glyph_name(ord(what)), ord(what), rows)
    return Font(name, width, height, ASCENT[name], tuple(glyphs.values()))


def main(arguments: list[str]) -> int:
    """0, or 1 where ``--check`` found a file that is not as made."""
    status = 0
    for name in ASCENT:
        path, text = FOLDER / f"{name}.bdf", bdf_text(compose(name))
        if "--check" not in arguments:
            path.write_text(text, "ascii")
        elif path.read_text("ascii") != text:
            print(f"{path.name} is not what drawn/{name}.txt gives", file=sys.stderr)
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
