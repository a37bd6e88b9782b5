"""Payloads of archives that other fonts than ours are printed in."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from snapcompact.archive.fonts import drawing_atlas
from snapcompact.archive.page import read_page
from snapcompact.archive.read import Archive, open_archive
from snapcompact.archive.write import ArchiveOptions, write_archive
from snapcompact.history.session import open_session
from snapcompact.pages.shape import parse_shape
from snapcompact.payload.compose import compose
from snapcompact.payload.source import Source, suiting_shapes
from snapcompact.payload.values import row_of
from snapcompact.providers.catalog import load_catalog, match
from tests.fonts.files import HAN, cjk_file
from tests.payload.conftest import DENSE, SHAPE

SMALL = "6x12@6x12-352x160"


@pytest.fixture
def archive(tmp_path: Path) -> Iterator[Archive]:
    """Half of it ideographs, drawn by a font that is no more."""
    session = tmp_path / "s.jsonl"
    text = " and ".join(chr(code) * 9 for code in HAN)
    lines = [json.dumps({"role": "user", "content": f"{n} {text}"}) for n in range(12)]
    session.write_text("\n".join(lines) + "\n")
    cjk = cjk_file(tmp_path)
    write_archive(open_session(session), tmp_path / "a", ArchiveOptions(SHAPE, fallback=(cjk,)))
    Path(cjk).unlink()
    with open_archive(tmp_path / "a") as opened:
        yield opened


def test_pages_drawn_anew_keep_the_glyphs(archive: Archive) -> None:
    shape = parse_shape(DENSE)
    model = match(load_catalog(), "claude-opus-4-7").model
    payload = compose(archive, "a", replace(model, shapes=(DENSE, SMALL)), len)
    atlas = drawing_atlas(archive, shape)
    read = [read_page(page.png, atlas, shape).text for page in payload.images]
    whole = b"".join(archive.transcript())
    assert b"".join(text or b"" for text in read) == whole
    assert 0 < len(read) < archive.manifest.pages


def test_shapes_that_would_print_numbers_are_passed_over(archive: Archive) -> None:
    shapes = tuple(map(parse_shape, (SHAPE, DENSE, SMALL)))
    assert suiting_shapes(archive, shapes) == shapes[:2]


def test_rows_are_those_of_the_pages(archive: Archive) -> None:
    source = Source(archive, "a", archive.shape)
    row = next(archive.pages(2))
    text = archive.page_text(row)
    atlas = source.atlas(archive.shape)
    assert row_of(text, archive.shape, atlas) == row.rows
