"""Case 28: identifiers that differ only in look-alikes, on pages of every shipped font."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from snapcompact.archive.read import open_archive
from snapcompact.archive.write import ArchiveOptions, write_archive
from snapcompact.fonts.atlas import load_atlas
from snapcompact.fonts.load import font_names
from snapcompact.history.session import open_session
from snapcompact.pages.cells import paginate
from snapcompact.pages.pipeline import render_page
from snapcompact.pages.shape import Shape
from snapcompact.readback.exact import see_cells
from snapcompact.readback.lone import read_lone_pages
from snapcompact.transcript.write import write_transcript
from tests.corpus import CASES
from tests.readback.pages import grey_of, picture

CASE = CASES / "28_zero_vs_oh_identifiers.jsonl"
LOOK_ALIKES = (
    "0OQoD",
    "1lI|!i",
    "5S",
    "8B",
    "2Z",
    "KH",
    "mnr",
    "vwu",
    "`'´‘’",
    '"“”',
    "-–—−",
    ".·,;:",
)
"""Each differs from the others of its row by so many pixels as the font promises for ASCII; signs
beyond ASCII by two."""
LEAST = {"5x8": 3, "6x12": 4, "8x16": 6}


def transcript() -> bytes:
    return b"".join(write_transcript(open_session(CASE).messages()))


@pytest.mark.parametrize("font", font_names())
def test_every_pair_differs_visibly(font: str) -> None:
    atlas = load_atlas(font)
    for first, second in (pair for row in LOOK_ALIKES for pair in combinations(row, 2)):
        ids = [int(atlas.glyph_of[ord(what)]) for what in (first, second)]
        if max(ids) >= len(atlas.codes):
            continue  # printed as a code point, which looks like nothing else
        apart = int((atlas.bitmaps[ids[0]] != atlas.bitmaps[ids[1]]).sum())
        assert apart >= (LEAST[font] if (first + second).isascii() else 2), first + second


@pytest.mark.parametrize("font", font_names())
def test_pixels_give_each_string_back(font: str, tmp_path: Path) -> None:
    atlas = load_atlas(font)
    shape = Shape(font, atlas.width, atlas.height, 60 * atlas.width, 20 * atlas.height)
    out = tmp_path / "a"
    write_archive(open_session(CASE), out, ArchiveOptions(shape.name, sidecar=True))
    read = b"".join(page.text for page in read_lone_pages([out / "pages"]))
    assert read == transcript()
    with open_archive(out) as archive:
        assert b"".join(archive.transcript()) == read
    listed = (out / "sidecar.txt").read_text("utf-8")
    for name in (
        "O0O0O0O0",
        "0O0O0O0O",
        "9c4e0b8d1a2f3e4d5c6b7a8091a2b3c4d5e6f708",
        "/opt/O0/lib1l/I1.so",
    ):
        assert name in listed


def harmed(grey: np.ndarray[tuple[int, int], np.dtype[np.float32]], how: str) -> bytes:
    if how == "jpeg":
        return picture(grey, "JPEG", quality=30)
    small = Image.fromarray(grey.astype(np.uint8))
    size = round(grey.shape[1] * 0.66), round(grey.shape[0] * 0.66)
    return picture(np.asarray(small.resize(size, Image.Resampling.LANCZOS), np.float32))


@pytest.mark.parametrize("how", ["jpeg", "smaller"])
@pytest.mark.parametrize("font", font_names())
def test_a_harmed_picture_gives_each_string_or_says_that_it_guesses(font: str, how: str) -> None:
    atlas = load_atlas(font)
    shape = Shape(font, atlas.width, atlas.height, 60 * atlas.width, 40 * atlas.height)
    page = next(paginate([transcript()], shape, atlas))
    png = render_page(page, shape, atlas).png
    seen = see_cells(harmed(grey_of(png), how), lambda _: atlas, shape=shape)
    rows = min(len(seen.cells), len(page.cells))
    wrong = seen.cells[:rows] != page.cells[:rows]
    assert not (wrong & ~seen.unsure[:rows]).any()
    assert wrong.mean() < 0.02
