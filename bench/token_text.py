"""The text token estimates are fitted and tested on, with its labels and its split.

Text lies as TEXT/<kind>/<group>.txt (bench/token_corpus.py gathers it). Of every kind, each third
group is held out, of transcripts each fifth, by sorted name; the languages in UNSEEN are held out
whole. Nothing of a held-out group is ever fitted on.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from token_labels import Labeler, labeler

from snapcompact.tokens.machine import ROW_SIZE, Style, machine
from snapcompact_kernels import features

if TYPE_CHECKING:
    from numpy.typing import NDArray

_BLANKS_WITH_LINE_ENDS = Style(signs_lead_words=False, signs_take_line_ends=False)
STYLES = {
    "claude-legacy": _BLANKS_WITH_LINE_ENDS._replace(blanks_before_digits="last-leads"),
    "claude-3": _BLANKS_WITH_LINE_ENDS,
    "claude-4.7": _BLANKS_WITH_LINE_ENDS._replace(blanks_before_digits="last-leads"),
    "gemma3": _BLANKS_WITH_LINE_ENDS,
    "deepseek": Style(blanks_before_digits="whole"),
}
"""Styles of families that do better with another than the default, chosen on a split of the text
fitted on."""
UNSEEN = ("lang-fi", "lang-he", "lang-ka", "lang-ta")


@dataclass(slots=True)
class Document:
    """One group's text, with the machine's trace and, per byte, the tokens that start there."""

    style: Style
    kind: str
    group: str
    data: NDArray[np.uint8]
    labels: NDArray[np.uint8]
    cells: NDArray[np.int64] = field(init=False)
    """Index into ``costs`` of each byte."""
    hashes: NDArray[np.int64] = field(init=False)
    starts: NDArray[np.int64] = field(init=False)
    counts: NDArray[np.int64] = field(init=False)
    """Hash, start offset and exact token count of each pre-token."""

    def __post_init__(self) -> None:
        signs, moves, rows = machine(self.style)
        size = len(self.data)
        kinds, positions = np.empty(size, np.uint8), np.empty(size, np.uint8)
        hashes, ends = np.empty(size, np.int64), np.empty(size, np.int64)
        count = features.trace(self.data, signs, moves, kinds, positions, hashes, ends)
        symbols = (signs[self.data] >> 8).astype(np.int64)
        before = np.concatenate([[0], symbols[:-1]])
        self.cells = rows[kinds.astype(np.int64) << 7 | positions] + (before << 7 | symbols)
        self.hashes = hashes[:count].copy()
        self.starts = np.concatenate([[0], ends[: count - 1]]).astype(np.int64)
        self.counts = np.add.reduceat(self.labels.astype(np.int64), self.starts)
        assert int(self.cells.max()) < rows.max() + ROW_SIZE

    def repeated_over(self, per_word: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """A flag per pre-token as a flag per byte."""
        return np.repeat(per_word, np.diff(np.append(self.starts, len(self.data))))


def is_held_out(path: Path) -> bool:
    """True if `path` is in the test part."""
    names = sorted(other.name for other in path.parent.glob("*.txt"))
    step = 5 if path.parent.name == "transcript" else 3
    alone = len(names) == 1
    return path.parent.name in UNSEEN or (names.index(path.name) % step == 0 and not alone)


class Corpus:
    """Documents of one family; labels are kept in `cache` by the hash of their text."""

    def __init__(self, text: Path, cache: Path, family: str, wheel: Path | None) -> None:
        self.style = STYLES.get(family, Style())
        self.text = text
        self.cache = cache / family
        self.family = family
        self.wheel = wheel
        self._labeler: Labeler | None = None

    def label(self, data: bytes) -> NDArray[np.uint8]:
        """Tokens that start at each byte of `data`."""
        path = self.cache / f"{hashlib.sha256(data).hexdigest()[:24]}.npy"
        if not path.exists():
            self._labeler = self._labeler or labeler(self.family, self.wheel)
            path.parent.mkdir(parents=True, exist_ok=True)
            np.save(path, self._labeler(data.decode()))
        return np.asarray(np.load(path), np.uint8)

    def documents(self, held_out: bool) -> list[Document]:
        """Documents of the test part, or of the part fitted on, in the order of their paths."""
        paths = [p for p in sorted(self.text.glob("*/*.txt")) if is_held_out(p) == held_out]
        return [self._document(path) for path in paths if path.stat().st_size]

    def _document(self, path: Path) -> Document:
        data = path.read_bytes()
        flat = np.frombuffer(data, np.uint8)
        return Document(self.style, path.parent.name, path.stem, flat, self.label(data))
