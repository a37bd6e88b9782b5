"""``rapid``: the reader that runs RapidOCR's text recognition on rows cut at the known grid.

Its detection is left out: with it, lines are lost and change places. The model (PP-OCRv6) comes
inside the wheel and nothing is downloaded.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from snapcompact.errors import MissingExtraError
from snapcompact.readback.reader import PagePicture, Reading
from snapcompact.readback.strips import blank_cells, page_strips

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from snapcompact.readback.reader import ReaderOptions

CHUNK_CELLS = 100
"""Longer rows are cut at a blank cell: the model was trained on lines of about this length."""
BATCH = 6


@dataclass(frozen=True, slots=True)
class RapidReader:
    """One page at a time: the model uses all cores."""

    engine: Any
    jobs: int = 1
    name: str = "rapid"

    def read_page(self, page: PagePicture) -> Reading:
        """The reading of `page`. Raises PageError."""
        return Reading(self.read_strips(page_strips(page), page.shape.column_cells))

    def read_strips(self, strips: NDArray[np.uint8], cells: int) -> tuple[str, ...]:
        """The text of each of the rows (rows, height, width) of `cells` cells, 255 is paper."""
        chunks = [
            (row, chunk) for row, strip in enumerate(strips) for chunk in _chunks(strip, cells)
        ]
        texts: list[list[str]] = [[] for _ in strips]
        for first in range(0, len(chunks), BATCH):
            part = chunks[first : first + BATCH]
            pictures = [np.repeat(chunk[:, :, None], 3, axis=2) for _, chunk in part]
            for (row, _), text in zip(part, self.engine.recognize_txt(pictures).txts, strict=True):
                texts[row].append(text)
        return tuple(" ".join(row) for row in texts)


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
    threads = options.jobs or len(os.sched_getaffinity(0))
    engine = RapidOCR(
        params={
            "Global.log_level": "critical",
            "EngineConfig.onnxruntime.intra_op_num_threads": threads,
        }
    )
    return RapidReader(engine)
