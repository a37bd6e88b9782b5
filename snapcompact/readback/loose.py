"""Cells of a damaged page to text: what no text prints becomes U+FFFD instead of an error."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from snapcompact.errors import PageError
from snapcompact.pages.decode import cells_to_text
from snapcompact.readback.truth import page_rows

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from snapcompact.fonts.atlas import Atlas
    from snapcompact.pages.shape import Shape

_POINT = re.compile("⟦([0-9A-F]{4,6})⟧")
_BYTE = re.compile("⟪([0-9A-F]{2})".encode())


def loose_text(cells: NDArray[np.uint16], shape: Shape, atlas: Atlas) -> bytes:
    """The bytes that `cells` (rows, grid columns) print.

    Where they are not those of a page as printed, escapes that are whole are undone and the rest
    stands as it is seen.
    """
    try:
        return cells_to_text(cells, shape, atlas)
    except PageError:
        rows, _ = page_rows(cells, shape, atlas)
    text = _POINT.sub(_point, "".join(rows))
    return _BYTE.sub(lambda m: bytes((int(m[1], 16),)), text.encode("utf-8", "surrogatepass"))


def _point(match: re.Match[str]) -> str:
    code = int(match[1], 16)
    return chr(code) if code < 0x110000 else match[0]
