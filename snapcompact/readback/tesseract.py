"""``tesseract``: the reader that runs the Tesseract program on rows set apart.

Measured on 24 KB of transcript at 8×16 (Tesseract 5.3, bench/legibility.py): a blur of 0.8 px
*before* the Lanczos enlargement halves the errors; twofold is read better than threefold at every
font; thresholds, nearest-neighbour and other page modes hurt or make no difference. Tesseract must
not judge identifiers.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pytesseract
from PIL import Image, ImageFilter

from snapcompact.errors import MissingProgramError
from snapcompact.readback.reader import PagePicture, Reading
from snapcompact.readback.strips import page_strips

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from snapcompact.readback.reader import ReaderOptions

BLUR_PX = 0.8
MARGIN_PX = 10
"""Paper around the text, without which the outermost letters are lost."""
MAX_SIDE_PX = 32_000
"""Tesseract refuses pictures of more than 32,767 px a side."""
_PLAIN = str.maketrans("‘’“”", "''\"\"")
"""It reads straight quotes as curled ones, which transcripts hold a hundred times less often."""


class _Word(NamedTuple):
    """A word and its place in the picture given to Tesseract, in px."""

    left: int
    top: int
    height: int
    text: str


@dataclass(frozen=True, slots=True)
class TesseractReader:
    """Runs one ``tesseract`` process a page."""

    languages: str
    page_mode: int
    enlarge: int
    jobs: int
    name: str = "tesseract"

    def read_page(self, page: PagePicture) -> Reading:
        """The reading of `page`. Raises PageError, MissingProgramError."""
        return Reading(self.read_strips(page_strips(page)))

    def read_strips(self, strips: NDArray[np.uint8]) -> tuple[str, ...]:
        """The text of each of the rows (rows, height, width), 255 is paper."""
        count, height, width = strips.shape
        texts: list[str] = []
        most = max(1, (MAX_SIDE_PX // self.enlarge - 2 * MARGIN_PX) // height)
        for first in range(0, count, most):
            part = strips[first : first + most]
            picture = np.pad(part.reshape(-1, width), MARGIN_PX, constant_values=255)
            texts += self._lines(self._enlarged(picture), len(part), height)
        return tuple(texts)

    def _enlarged(self, grey: NDArray[np.uint8]) -> Image.Image:
        image = Image.fromarray(grey).filter(ImageFilter.GaussianBlur(BLUR_PX))
        size = (image.width * self.enlarge, image.height * self.enlarge)
        larger = image.resize(size, Image.Resampling.LANCZOS)
        larger.format = "BMP"  # what pytesseract hands over; a PNG of it takes a tenth of the time
        return larger

    def _lines(self, image: Image.Image, count: int, height: int) -> list[str]:
        """The words put into the row each stands in: Tesseract drops rows and makes up others."""
        rows: list[list[tuple[int, str]]] = [[] for _ in range(count)]
        for word in self._words(image):
            middle = (word.top + word.height / 2) / self.enlarge - MARGIN_PX
            rows[min(max(0, int(middle / height)), count - 1)].append((word.left, word.text))
        return [" ".join(text for _, text in sorted(row)).translate(_PLAIN) for row in rows]

    def _words(self, image: Image.Image) -> list[_Word]:
        try:
            found = pytesseract.image_to_data(
                image,
                lang=self.languages,
                config=f"--psm {self.page_mode} --dpi 300",
                output_type=pytesseract.Output.DICT,
            )
        except pytesseract.TesseractError as error:
            raise MissingProgramError(
                f"tesseract failed on languages {self.languages!r}: {error.message.strip()[:300]}"
            ) from error
        columns = (found[name] for name in ("left", "top", "height", "text"))
        return [_Word(*word) for word in zip(*columns, strict=True) if word[3].strip()]


def open_tesseract(options: ReaderOptions) -> TesseractReader:
    """The Tesseract reader. Raises MissingProgramError where the program is not installed."""
    try:
        pytesseract.get_tesseract_version()
    except (pytesseract.TesseractNotFoundError, SystemExit) as error:
        raise MissingProgramError(
            "the tesseract program is not installed: on Debian, apt install tesseract-ocr"
        ) from error
    # Pages are read side by side; Tesseract's own threads then only get in each other's way.
    os.environ.setdefault("OMP_THREAD_LIMIT", "1")
    return TesseractReader(
        languages=options.languages,
        page_mode=options.page_mode,
        enlarge=options.enlarge,
        jobs=options.jobs or len(os.sched_getaffinity(0)),
    )
