"""The readers that run OCR engines; engines that are not installed are skipped."""

from __future__ import annotations

from importlib.util import find_spec
from shutil import which

import numpy as np
import pytesseract
import pytest
from rapidfuzz.distance import Levenshtein

from snapcompact.errors import MissingProgramError, PageError
from snapcompact.fonts.atlas import load_atlas
from snapcompact.pages.shape import Shape, parse_shape
from snapcompact.readback.reader import OPTIONS, PagePicture, Reader, ReaderOptions, open_reader
from snapcompact.readback.strips import blank_cells, page_strips
from snapcompact.readback.truth import page_rows
from tests.readback.pages import SMALL, WORDS, grey_of, made_page, picture

needs_tesseract = pytest.mark.skipif(not which("tesseract"), reason="tesseract is not installed")
needs_rapid = pytest.mark.skipif(not find_spec("rapidocr"), reason="RapidOCR is not installed")
SHORT = WORDS.replace("\t", " ")
COLUMNS = parse_shape("8x16@8x16-1024x320-cols2")


def error_rate(reader: Reader, shape: Shape) -> float:
    """Edits over true characters, line ends and blanks collapsed."""
    page, shown = made_page(SHORT, shape)
    truth = page_rows(page.cells, shape, load_atlas(shape.font))[0]
    reading = reader.read_page(shown)
    assert len(reading.rows) == len(truth)
    true, read = (" ".join(" ".join(rows).split()) for rows in (truth, reading.rows))
    return Levenshtein.distance(true, read) / len(true)


@pytest.mark.parametrize("shape", [SMALL, COLUMNS, parse_shape("8x16@11x16-704x320-header")])
def test_strips_are_the_rows_of_the_page(shape: Shape) -> None:
    page, shown = made_page(SHORT, shape)
    strips = page_strips(shown)
    rows = page_rows(page.cells, shape, load_atlas(shape.font))[0]
    assert len(strips) == len(rows)
    height = max(shape.pitch_height, 16 + 2)
    width = max(shape.pitch_width, 8 + 1)
    assert strips.shape[1:] == (height, width * shape.column_cells)
    top = (shape.pitch_height - 16) // 2
    for strip, row in zip(strips, rows, strict=True):
        blank = blank_cells(strip, shape.column_cells)
        assert blank[: len(row)].tolist() == [c == " " for c in row]
        assert (strip[top + 16 :] == 255).all()


def test_strips_of_a_scaled_picture_are_alike() -> None:
    _, shown = made_page(SHORT)
    grey = np.kron(grey_of(shown.data), np.ones((2, 2), np.float32))
    larger = PagePicture("larger", picture(grey), shown.shape, shown.atlas)
    difference = (page_strips(larger) < 128) != (page_strips(shown) < 128)
    assert difference.mean() < 0.02


def test_what_is_no_picture_is_refused() -> None:
    with pytest.raises(PageError):
        page_strips(PagePicture("x", b"no picture", SMALL, load_atlas("8x16")))


@needs_tesseract
@pytest.mark.parametrize("shape", [SMALL, COLUMNS])
def test_tesseract_reads_most_of_a_page(shape: Shape) -> None:
    assert error_rate(open_reader("tesseract"), shape) < 0.1


@needs_rapid
@pytest.mark.parametrize("shape", [SMALL, COLUMNS])
def test_rapid_reads_most_of_a_page(shape: Shape) -> None:
    assert error_rate(open_reader("rapid"), shape) < 0.1


@needs_tesseract
def test_a_language_that_is_not_there_says_so() -> None:
    reader = open_reader("tesseract", ReaderOptions(languages="xxx"))
    with pytest.raises(MissingProgramError, match="xxx"):
        reader.read_page(made_page(SHORT)[1])


def test_no_program_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pytesseract.pytesseract, "tesseract_cmd", "no-such-tesseract")
    with pytest.raises(MissingProgramError, match="apt install"):
        open_reader("tesseract", OPTIONS)
