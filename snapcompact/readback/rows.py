"""Rows as units: which came back whole, which are missing, added or out of order."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rapidfuzz import process
from rapidfuzz.distance import Indel

if TYPE_CHECKING:
    from collections.abc import Sequence

SAME_ROW = 0.7
"""Rows at least so alike (normalised indel similarity) are readings of one another.

Unrelated rows of English or code reach 0.5 to 0.6."""


@dataclass(frozen=True, slots=True)
class RowScore:
    """Rows that hold something. ``moved`` of those read stand out of order."""

    rows: int = 0
    perfect: int = 0
    missing: int = 0
    extra: int = 0
    moved: int = 0

    @property
    def share_perfect(self) -> float:
        """The share of rows that came back whole; 1 where there are none."""
        return self.perfect / self.rows if self.rows else 1.0

    def __add__(self, other: RowScore) -> RowScore:
        return RowScore(
            self.rows + other.rows,
            self.perfect + other.perfect,
            self.missing + other.missing,
            self.extra + other.extra,
            self.moved + other.moved,
        )


def score_rows(truth: Sequence[str], read: Sequence[str]) -> RowScore:
    """The rows of a page against those of its reading, blanks collapsed and empty rows left out."""
    true_rows, read_rows = _plain(truth), _plain(read)
    found = _matched(true_rows, read_rows)
    order = [place for place in found if place >= 0]
    perfect = sum(
        place >= 0 and read_rows[place] == row for row, place in zip(true_rows, found, strict=True)
    )
    return RowScore(
        rows=len(true_rows),
        perfect=perfect,
        missing=found.count(-1),
        extra=len(read_rows) - len(order),
        moved=len(order) - _longest_rising(order),
    )


def _plain(rows: Sequence[str]) -> list[str]:
    collapsed = (" ".join(row.split()) for row in rows)
    return [row for row in collapsed if row]


def _matched(truth: list[str], read: list[str]) -> list[int]:
    """For each row of `truth` the row of `read` that reads it, each taken once; -1 for none.

    A row in its own place is taken first, so that equal rows do not change places.
    """
    found = [
        i if i < len(read) and Indel.normalized_similarity(row, read[i]) >= SAME_ROW else -1
        for i, row in enumerate(truth)
    ]
    lost = [i for i, place in enumerate(found) if place < 0]
    free = sorted(set(range(len(read))) - set(found))
    if not lost or not free:
        return found
    alike = process.cdist(
        [truth[i] for i in lost], [read[i] for i in free], scorer=Indel.normalized_similarity
    )
    for flat in alike.argsort(axis=None, kind="stable")[::-1].tolist():
        i, j = divmod(flat, len(free))
        if alike[i, j] < SAME_ROW:
            break
        if found[lost[i]] < 0 and free[j] >= 0:
            found[lost[i]] = free[j]
            free[j] = -1
    return found


def _longest_rising(values: Sequence[int]) -> int:
    """Length of the longest rising subsequence."""
    tails: list[int] = []
    for value in values:
        at = bisect_left(tails, value)
        tails[at : at + 1] = [value]
    return len(tails)
