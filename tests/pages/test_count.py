from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given, settings
from hypothesis import strategies as st

from snapcompact.pages.cells import paginate
from snapcompact.pages.count import PageCounter
from snapcompact.pages.pipeline import render_page
from tests.pages.font import made_up_atlas
from tests.pages.strategies import shapes, texts

if TYPE_CHECKING:
    from snapcompact.pages.shape import Shape


@settings(deadline=None)
@given(texts, shapes(), st.integers(1, 50))
def test_counts_equal_those_of_a_real_run(text: bytes, shape: Shape, step: int) -> None:
    atlas = made_up_atlas()
    counter = PageCounter(shape, atlas)
    for at in range(0, len(text), step):
        counter.feed(text[at : at + step])
    count = counter.result()
    pages = list(paginate([text], shape, atlas)) if text else []
    heights = [render_page(page, shape, atlas).height for page in pages]
    assert count.pages == len(pages)
    assert count.cells == sum(page.printed for page in pages)
    assert dict(count.heights_px) == {h: heights.count(h) for h in set(heights)}
    if len(pages) == 1:
        drawn = len(render_page(pages[0], shape, atlas).png)
        assert abs(count.png_bytes - drawn) <= 1
