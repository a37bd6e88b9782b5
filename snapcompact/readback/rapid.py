"""``rapid``: the reader that runs RapidOCR's text recognition on rows cut at the known grid.

Its detection is left out: with it, lines are lost and change places. The model (PP-OCRv6) comes
inside the wheel and nothing is downloaded.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from PIL import Image

from snapcompact.errors import MissingExtraError
from snapcompact.pages.parallel import in_order
from snapcompact.readback.reader import PagePicture, Reading
from snapcompact.readback.strips import blank_cells, page_strips

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from snapcompact.readback.reader import ReaderOptions

CHUNK_CELLS = 100
"""Longer rows are cut at a blank cell: the model was trained on lines of about this length."""
LINE_PX = 48
"""Height of a line as the model takes it."""
CELL_PX = 17
"""Width of a cell as the model is given it, whose time grows with the width.

A cell of 8x16, set apart, would be 24 px wide and one of 11x16 29. On 12 KB of transcript (as in
bench/legibility.py) 16 to 18 px are read alike, better than 24 px and in two thirds of the time;
at 14 px identifiers suffer."""


@dataclass(frozen=True, slots=True)
class RapidReader:
    """One page at a time, its rows side by side on `threads` threads."""

    engine: Any
    threads: int
    jobs: int = 1
    name: str = "rapid"

    def read_page(self, page: PagePicture) -> Reading:
        """The reading of `page`. Raises PageError."""
        return Reading(self.read_strips(page_strips(page), page.shape.column_cells))

    def read_strips(self, strips: NDArray[np.uint8], cells: int) -> tuple[str, ...]:
        """The text of each of the rows (rows, height, width) of `cells` cells, 255 is paper."""

        def read(strip: NDArray[np.uint8]) -> str:
            return " ".join(self._read_line(line) for line in _lines(strip, cells))

        return tuple(in_order(read, strips, jobs=self.threads, batch=1))

    def _read_line(self, line: NDArray[np.uint8]) -> str:
        """One at a time: lines of a batch are padded to its longest."""
        texts: tuple[str, ...] = self.engine.recognize_txt([line]).txts
        return texts[0]


def _lines(strip: NDArray[np.uint8], cells: int) -> Iterator[NDArray[np.uint8]]:
    """The pieces of a row as the model takes them (LINE_PX, width, 3)."""
    cell = strip.shape[1] // cells
    for piece in _chunks(strip, cells):
        size = (piece.shape[1] // cell * CELL_PX, LINE_PX)
        line = np.asarray(Image.fromarray(piece).resize(size, Image.Resampling.BILINEAR))
        yield np.repeat(line[:, :, None], 3, axis=2)


def _chunks(strip: NDArray[np.uint8], cells: int) -> Iterator[NDArray[np.uint8]]:
    """The row without blanks at its ends, in pieces of up to CHUNK_CELLS cells."""
    width = strip.shape[1] // cells
    inked = np.flatnonzero(~blank_cells(strip, cells))
    if not inked.size:
        return
    at, end = int(inked[0]), int(inked[-1]) + 1
    blanks = np.setdiff1d(np.arange(at, end), inked)
    while at < end:
        to = end
        if end - at > CHUNK_CELLS:
            inside = blanks[(blanks > at) & (blanks <= at + CHUNK_CELLS)]
            to = int(inside[-1]) if inside.size else at + CHUNK_CELLS
        yield strip[:, at * width : to * width]
        at = to


def open_rapid(options: ReaderOptions) -> RapidReader:
    """The RapidOCR reader. Raises MissingExtraError where it is not installed."""
    try:
        from rapidocr import RapidOCR
    except ImportError as error:
        raise MissingExtraError(
            "RapidOCR is not installed: pip install 'snapcompact[ocr]'"
        ) from error
    # Rows side by side: threads inside the model wait for one another, a sixth of their time.
    engine = RapidOCR(
        params={
            "Global.log_level": "critical",
            "EngineConfig.onnxruntime.intra_op_num_threads": 1,
        }
    )
    return RapidReader(engine, options.jobs or len(os.sched_getaffinity(0)))
