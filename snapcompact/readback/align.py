"""Two texts side by side: which characters of the true one were read, and as what."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from rapidfuzz.distance import Levenshtein

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class Flat:
    """Rows as one text: row borders and all blanks are blanks, each run of them a single one.

    ``origin`` (characters,) is the place of each in the joined rows; a row border is -1.
    """

    text: str
    origin: NDArray[np.intp]


@dataclass(frozen=True, slots=True, eq=False)
class Alignment:
    """The cheapest edits from ``truth`` to ``read`` (Levenshtein).

    ``errors`` (truth + 1,) counts the edits at each character, insertions at the one behind them;
    ``start`` and ``end`` (truth + 1,) are where in ``read`` a character begins and ends.
    ``confusions`` counts what was read instead of what, "" for nothing.
    """

    truth: str
    read: str
    errors: NDArray[np.intp]
    start: NDArray[np.intp]
    end: NDArray[np.intp]
    confusions: Counter[tuple[str, str]]

    def read_for(self, start: int, end: int) -> str:
        """What was read for characters `start` up to `end`, with all that was put in around it."""
        first = int(self.end[start - 1]) if start else 0
        return self.read[first : int(self.start[end])]


def flatten(rows: Sequence[str]) -> Flat:
    """`rows` as one text."""
    characters: list[str] = []
    origin: list[int] = []
    at = 0
    blank = True
    for row in rows:
        for place, character in enumerate(row, at):
            is_blank = character.isspace()
            if not is_blank:
                characters.append(character)
                origin.append(place)
            elif not blank:
                characters.append(" ")
                origin.append(place)
            blank = is_blank
        at += len(row)
        if not blank:
            characters.append(" ")
            origin.append(-1)
            blank = True
    if characters and characters[-1] == " ":
        characters.pop()
        origin.pop()
    return Flat("".join(characters), np.array(origin, np.intp))


def align(truth: str, read: str) -> Alignment:
    """`truth` and `read` side by side."""
    errors = np.zeros(len(truth) + 1, np.intp)
    start = np.zeros(len(truth) + 1, np.intp)
    end = np.zeros(len(truth) + 1, np.intp)
    confusions: Counter[tuple[str, str]] = Counter()
    for code in Levenshtein.opcodes(truth, read):
        tag, a, b, c, d = code.tag, code.src_start, code.src_end, code.dest_start, code.dest_end
        if tag == "insert":
            errors[a] += d - c
            confusions.update(("", character) for character in read[c:d])
            continue
        inside = np.arange(b - a)
        start[a:b] = c if tag == "delete" else c + inside
        end[a:b] = c if tag == "delete" else c + inside + 1
        if tag == "delete":
            errors[a:b] += 1
            confusions.update((character, "") for character in truth[a:b])
        elif tag == "replace":
            errors[a:b] += 1
            confusions.update(zip(truth[a:b], read[c:d], strict=True))
    start[-1] = end[-1] = len(read)
    return Alignment(truth, read, errors, start, end, confusions)
