"""Digests of what users store.

Until tag 0.1.0 they may change on purpose, with the reason in the commit. After it, pixels of a
released font and shape never change; PNG bytes may, with the version of the tool, and then every
append to an archive made before writes pages that a fresh run would not.
"""

from __future__ import annotations

import hashlib

import pytest

from snapcompact.pages.cells import paginate
from snapcompact.pages.pipeline import render_pages
from snapcompact.pages.render import raster
from snapcompact.pages.shape import parse_shape
from tests.pages.font import made_up_atlas

TEXT = (
    "¶user: What does tests/pages/font.py do?\n\tIt makes a font up.\n" * 40
    + "Wide 一丁, none \u200b, é Ω 🌀, a lone \ud800 and more\n" * 30
).encode("utf-8", "surrogatepass") + bytes(range(256)) * 12

PIXELS = {
    "8x16": "ac153e881b3d5ecc",
    "11x16": "735f713b6abaeecd",
    "8x22-wide": "c538aae1aa52591d",
    "made-up@9x17-700x400-cols2-lines-header": "d4aa5839ea41e687",
}
FILES = {
    "8x16": "6474d7cd8dfdc948",
    "11x16": "5b1a86f8d5f91b0f",
    "8x22-wide": "e6cd6f85ae5e7551",
    "made-up@9x17-700x400-cols2-lines-header": "5d8fc053ea37b85c",
}


@pytest.mark.parametrize("name", PIXELS)
def test_page_pixels_unchanged(name: str) -> None:
    shape, atlas = parse_shape(name), made_up_atlas()
    digest = hashlib.sha256()
    for page in paginate([TEXT], shape, atlas):
        digest.update(raster(page.cells, shape, atlas).tobytes())
    assert digest.hexdigest()[:16] == PIXELS[name]


@pytest.mark.parametrize("name", FILES)
def test_png_bytes_unchanged(name: str) -> None:
    shape, atlas = parse_shape(name), made_up_atlas()
    digest = hashlib.sha256()
    for page in render_pages(paginate([TEXT], shape, atlas), shape, atlas, jobs=1):
        digest.update(page.png)
    assert digest.hexdigest()[:16] == FILES[name]
