"""A sheet of all glyphs of a font, for people to look at."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import numpy as np

from snapcompact.fonts.atlas import NO_GLYPH, Special
from snapcompact.fonts.check import RANGES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from snapcompact.fonts.atlas import Atlas

GLYPHS_A_ROW = 32
MOST_ROWS = 400
"""Glyphs beyond are left out, of whole CJK fonts; the sheet says how many."""
GAP_PX = 4
LABEL_CELLS = 8
SCALE = 2
_REST = "others"

Row = tuple[str, list[int]]
"""A label and glyph ids, each id a cell."""


def specimen(atlas: Atlas) -> bytes:
    """A PNG of every glyph of `atlas`, range by range, 32 a row behind their first code point.

    Labels are printed in the font itself. Deterministic.
    """
    from PIL import Image

    rows = list(_rows(atlas))
    if len(rows) > MOST_ROWS:
        rows = [*rows[:MOST_ROWS], (f"and {len(rows) - MOST_ROWS} rows more", [])]
    step_x, step_y = atlas.width + GAP_PX, atlas.height + GAP_PX
    label_px = LABEL_CELLS * atlas.width
    width = 2 * GAP_PX + label_px + GLYPHS_A_ROW * step_x
    sheet = np.zeros((2 * GAP_PX + len(rows) * step_y, width), np.uint8)
    for number, (label, ids) in enumerate(rows):
        y = GAP_PX + number * step_y
        _put(sheet, atlas, [ord(letter) for letter in label], (GAP_PX, y), atlas.width)
        x = GAP_PX + label_px
        for at in ids:
            cells = [at, at + 1] if atlas.wide[at] else [at]
            _put(sheet, atlas, cells, (x, y), atlas.width)
            x += len(cells) * atlas.width + GAP_PX
    image = Image.fromarray(np.where(sheet, 0, 255).astype(np.uint8)).convert("1")
    image = image.resize((SCALE * image.width, SCALE * image.height), Image.Resampling.NEAREST)
    out = io.BytesIO()
    image.save(out, "PNG", optimize=True)
    return out.getvalue()


def _put(
    sheet: NDArray[np.uint8], atlas: Atlas, cells: Sequence[int], at: tuple[int, int], step: int
) -> None:
    """Draw `cells` side by side from pixel `at` on, as far as the sheet reaches."""
    x, y = at
    for cell in cells:
        if x + atlas.width <= sheet.shape[1]:
            sheet[y : y + atlas.height, x : x + atlas.width] |= atlas.bitmaps[cell]
        x += step


def _rows(atlas: Atlas) -> Iterator[Row]:
    """The rows of the sheet: a title for each range, then its glyphs."""
    for title, ids in _sections(atlas):
        yield title, []
        for start in range(0, len(ids), GLYPHS_A_ROW):
            part = ids[start : start + GLYPHS_A_ROW]
            code = int(atlas.codes[part[0]])
            yield (f"U+{code:04X}" if code >= 0 else ""), part


def _sections(atlas: Atlas) -> Iterator[tuple[str, list[int]]]:
    """Title and glyph ids of each range with any."""
    names = ", ".join(special.name.lower() for special in Special)
    yield f"{atlas.name}: {names}", [int(special) for special in Special]
    controls = (*range(32), 127)
    spans = [("control characters", controls), *((n, range(a, b)) for n, a, b in RANGES)]
    drawn = np.flatnonzero(atlas.glyph_of != NO_GLYPH)
    named = np.concatenate([np.array(codes) for _, codes in spans])
    for title, codes in [*spans, (_REST, np.setdiff1d(drawn, named))]:
        chosen = np.intersect1d(np.array(codes, np.intp), drawn)
        if chosen.size:
            yield title, atlas.glyph_of[chosen].astype(int).tolist()
