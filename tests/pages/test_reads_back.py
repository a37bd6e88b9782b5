from __future__ import annotations

import numpy as np
import pytest

from snapcompact.pages import decode, png
from snapcompact.pages.cells import paginate
from snapcompact.pages.pipeline import draw_page
from snapcompact.pages.shape import parse_shape
from tests.pages.font import made_up_atlas

TEXT = "def f(x):\n\treturn x # é Ω 🌀 一丁\n".encode() * 30


@pytest.mark.parametrize("name", ["8x16", "11x16", "8x22-wide"])
def test_a_page_reads_back_and_no_damage_does(name: str) -> None:
    shape, atlas = parse_shape(name), made_up_atlas()
    page = next(paginate([TEXT], shape, atlas))
    drawn, printed = draw_page(page, shape, atlas)
    scanlines = png.decode(drawn.png).scanlines
    assert decode.reads_back(scanlines, printed, page.sha256, shape, atlas)
    assert not decode.reads_back(scanlines[:-1], printed, page.sha256, shape, atlas)
    assert not decode.reads_back(scanlines, printed, "0" * 64, shape, atlas)
    random = np.random.default_rng(5)
    for _ in range(50):
        printed = draw_page(page, shape, atlas)[1]  # the buffer may have been used meanwhile
        damaged = scanlines.copy()
        y, x = random.integers(scanlines.shape[0]), random.integers(1, scanlines.shape[1])
        damaged[y, x] ^= 1 << random.integers(8)
        assert not decode.reads_back(damaged, printed, page.sha256, shape, atlas)
