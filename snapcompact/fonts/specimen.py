"""A sheet of all glyphs to look at: ``python -m snapcompact.fonts.specimen FONT OUT``."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import numpy as np

from snapcompact.fonts.atlas import load_atlas

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from snapcompact.fonts.atlas import Atlas

ACROSS = 64
GAP_PX = 4


def specimen(atlas: Atlas, across: int = ACROSS) -> NDArray[np.uint8]:
    """(height, width) 0 ink, 255 paper: the glyphs in order of their ids, wide ones as halves."""
    ids = np.flatnonzero(atlas.codes != -1)
    rows = -(-ids.size // across)
    cells = np.zeros((rows * across, atlas.height + GAP_PX, atlas.width + GAP_PX), np.uint8)
    cells[: ids.size, : atlas.height, : atlas.width] = atlas.bitmaps[ids]
    sheet = cells.reshape(rows, across, *cells.shape[1:]).transpose(0, 2, 1, 3)
    sheet = np.pad(sheet.reshape(rows * cells.shape[1], -1), ((GAP_PX, 0), (GAP_PX, 0)))
    return np.asarray(255 - 255 * sheet, np.uint8)


def main(font: str, out: str) -> None:
    """Write the sheet of a font as a PNG of two colours."""
    from PIL import Image

    Image.fromarray(specimen(load_atlas(font))).convert("1").save(out, optimize=True)


if __name__ == "__main__":
    main(*sys.argv[1:3])
