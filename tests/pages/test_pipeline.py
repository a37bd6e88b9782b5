from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import pytest

from snapcompact.errors import UnknownNameError
from snapcompact.pages.cells import PageCells, paginate
from snapcompact.pages.parallel import BATCH
from snapcompact.pages.pipeline import render_pages
from snapcompact.pages.shape import parse_shape

if TYPE_CHECKING:
    from collections.abc import Iterator

    from snapcompact.fonts.atlas import Atlas

SHAPE = parse_shape("8x16@8x16-400x160")
TEXT = bytes(range(32, 127)) * 400


def test_threads_change_neither_order_nor_bytes(atlas: Atlas) -> None:
    one = list(render_pages(paginate([TEXT], SHAPE, atlas), SHAPE, atlas, jobs=1))
    many = list(render_pages(paginate([TEXT], SHAPE, atlas), SHAPE, atlas, jobs=4))
    assert [page.png for page in one] == [page.png for page in many]
    assert [page.page.number for page in many] == list(range(1, len(one) + 1))
    assert all(hashlib.sha256(page.png).hexdigest() == page.png_sha256 for page in many)


def test_few_pages_are_ahead_of_the_caller(atlas: Atlas) -> None:
    taken = 0

    def counted() -> Iterator[PageCells]:
        nonlocal taken
        for page in paginate([TEXT], SHAPE, atlas):
            taken += 1
            yield page

    rendered = render_pages(counted(), SHAPE, atlas, jobs=2)
    next(rendered)
    assert taken <= 6 * BATCH


def test_an_error_in_the_text_reaches_the_caller(atlas: Atlas) -> None:
    def broken() -> Iterator[bytes]:
        yield TEXT
        raise OSError("gone")

    with pytest.raises(OSError, match="gone"):
        list(render_pages(paginate(broken(), SHAPE, atlas), SHAPE, atlas, jobs=2))


def test_an_unknown_effort_is_refused(atlas: Atlas) -> None:
    with pytest.raises(UnknownNameError, match="effort"):
        list(render_pages(paginate([b"a"], SHAPE, atlas), SHAPE, atlas, effort="more", jobs=1))
