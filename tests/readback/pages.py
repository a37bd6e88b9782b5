"""Small pages for the tests of readers."""

from __future__ import annotations

import io
from functools import cache

import numpy as np
from PIL import Image

from snapcompact.fonts.atlas import load_atlas
from snapcompact.pages.cells import PageCells, paginate
from snapcompact.pages.pipeline import render_page
from snapcompact.pages.shape import Shape, parse_shape
from snapcompact.readback.reader import PagePicture

SMALL = parse_shape("8x16@8x16-512x320")
"""64 cells across, 20 down."""
WORDS = (
    "¶user:\nPlease run the tests of module parser_v2 at commit 9f8e7d6c5b4a, then report.\n"
    "¶ai:\nI shall. The path is /srv/app/tests/test_parser.py and the port is 48123.\n"
    '¶call:bash({"cmd":"pytest -q tests/test_parser.py --maxfail=1"})\n<out>\n'
    "....F..\t7 tests, id 3f2b8c1d-9a4e-4f70-8b6c-1d2e3f405162\n</out>\n"
)


@cache
def made_page(text: str = WORDS * 3, shape: Shape = SMALL) -> tuple[PageCells, PagePicture]:
    """The first page of `text`, and its picture as printed."""
    atlas = load_atlas(shape.font)
    page = next(paginate([text.encode()], shape, atlas))
    png = render_page(page, shape, atlas).png
    return page, PagePicture("page 1", png, shape, atlas)


def grey_of(png: bytes) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
    """Brightness of a PNG."""
    return np.asarray(Image.open(io.BytesIO(png)).convert("L"), np.float32)


def picture(grey: np.ndarray[tuple[int, ...], np.dtype[np.float32]], kind: str = "PNG",
            **options: int) -> bytes:  # fmt: skip
    """Brightness as a picture file."""
    buffer = io.BytesIO()
    Image.fromarray(grey.clip(0, 255).astype(np.uint8)).save(buffer, kind, **options)
    return buffer.getvalue()
