"""The slow, obvious twins of the raster and match kernels: pixels, glyph by glyph."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from snapcompact.fonts.atlas import Atlas
    from snapcompact.pages.shape import Shape


def scanlines(cells: NDArray[np.uint16], shape: Shape, atlas: Atlas) -> NDArray[np.uint8]:
    """(px high, 1 + row bytes) of the page that `cells` (rows, columns) print."""
    ink = np.zeros((cells.shape[0] * shape.pitch_height, shape.page_width), np.uint8)
    left = (shape.pitch_width - atlas.width) // 2
    top = (shape.pitch_height - atlas.height) // 2
    for (row, column), glyph in np.ndenumerate(cells):
        y = row * shape.pitch_height + top
        x = column * shape.pitch_width + left
        ink[y : y + atlas.height, x : x + atlas.width] = atlas.bitmaps[glyph]
    packed = np.packbits(ink, axis=1)
    return np.pad(packed, ((0, 0), (1, 0)))


def glyphs_seen(scanlines: NDArray[np.uint8], shape: Shape, atlas: Atlas) -> NDArray[np.uint64]:
    """(rows, columns, glyph height) the bits in each cell's place, right-aligned."""
    pixels = np.unpackbits(scanlines[:, 1:], axis=1)
    left = (shape.pitch_width - atlas.width) // 2
    top = (shape.pitch_height - atlas.height) // 2
    rows = scanlines.shape[0] // shape.pitch_height
    seen = np.zeros((rows, shape.grid_columns, atlas.height), np.uint64)
    for row in range(rows):
        for column in range(shape.grid_columns):
            for line in range(atlas.height):
                y = row * shape.pitch_height + top + line
                x = column * shape.pitch_width + left
                bits = "".join(map(str, pixels[y, x : x + atlas.width]))
                seen[row, column, line] = int(bits, 2)
    return seen


def hashes(
    seen: NDArray[np.uint64], folds: NDArray[np.int32], factors: NDArray[np.uint32]
) -> NDArray[np.uint32]:
    """(cells,) of bits as :func:`glyphs_seen` gives them, flat, cell by cell."""
    found = []
    for bits in seen.tolist():
        total = 0
        for fold, factor in zip(folds.tolist(), factors.tolist(), strict=True):
            mixed = 0
            for line in fold:
                mixed ^= bits[line] if line < len(bits) else 0
            total += (mixed ^ mixed >> 32) % (1 << 32) * factor
        found.append(total % (1 << 32))
    return np.array(found, np.uint32)
