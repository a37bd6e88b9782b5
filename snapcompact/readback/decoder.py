"""``exact``: the reader that decodes cells by their glyphs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from snapcompact.readback.exact import see_cells
from snapcompact.readback.reader import PagePicture, Reading
from snapcompact.readback.truth import page_rows

if TYPE_CHECKING:
    from snapcompact.readback.exact import CellsSeen
    from snapcompact.readback.reader import ReaderOptions


@dataclass(frozen=True, slots=True)
class ExactReader:
    """See ``exact.py``. One page at a time: its matrix products use all cores."""

    name: str = "exact"
    jobs: int = 1

    def read_page(self, page: PagePicture) -> Reading:
        """The reading of `page`, a character a cell."""
        return reading_of(see_cells(page.data, lambda _: page.atlas, shape=page.shape))


def open_exact(options: ReaderOptions) -> ExactReader:
    """The exact reader; no option concerns it."""
    return ExactReader()


def reading_of(seen: CellsSeen) -> Reading:
    """`seen` as rows, the characters of unsure cells marked."""
    rows, places = page_rows(seen.cells, seen.shape, seen.atlas)
    unsure = frozenset(np.flatnonzero(seen.unsure.reshape(-1)[places]).tolist())
    return Reading(rows, unsure)
