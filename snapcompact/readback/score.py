"""How well a page was read, in figures; pure.

Rates are over *flat* text (``align.flatten``): blanks collapsed, so that a reader that drops
trailing blanks is not charged for each. CER is edits over true characters, WER the same over words.
An identifier is *right* if exactly it stands in its place; a *gap* if the reader said so (GAP, or
cells it flagged) or left most of it out; else *invented*: wrong, and it looks like an answer.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from rapidfuzz.distance import Levenshtein

from snapcompact.readback.align import Alignment, Flat, align, flatten
from snapcompact.readback.rows import RowScore, score_rows
from snapcompact.readback.truth import GAP, NamedSpan, Truth, role_and_kind

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from snapcompact.readback.reader import Reading


@dataclass(frozen=True, slots=True)
class Tally:
    """Edits and true characters; ``rate`` is CER, 0 where there is nothing to read."""

    errors: int = 0
    characters: int = 0

    @property
    def rate(self) -> float:
        """Errors over characters."""
        return self.errors / self.characters if self.characters else 0.0

    def __add__(self, other: Tally) -> Tally:
        return Tally(self.errors + other.errors, self.characters + other.characters)


@dataclass(frozen=True, slots=True)
class Exact:
    """Exact words of one kind: how many, and how they came back."""

    right: int = 0
    gaps: int = 0
    invented: int = 0

    @property
    def all(self) -> int:
        """How many there are."""
        return self.right + self.gaps + self.invented

    @property
    def recall(self) -> float:
        """The share that came back exactly; 1 where there are none."""
        return self.right / self.all if self.all else 1.0

    def __add__(self, other: Exact) -> Exact:
        return Exact(
            self.right + other.right, self.gaps + other.gaps, self.invented + other.invented
        )


@dataclass(frozen=True, slots=True, eq=False)
class PageScore:
    """One page, or several added up. ``wrong_places`` are grid cells (``Truth.places``)."""

    characters: Tally = Tally()
    words: Tally = Tally()
    rows: RowScore = field(default_factory=RowScore)
    by_role: Mapping[str, Tally] = field(default_factory=dict)
    by_kind: Mapping[str, Tally] = field(default_factory=dict)
    exact: Mapping[str, Exact] = field(default_factory=dict)
    confusions: Counter[tuple[str, str]] = field(default_factory=Counter)
    wrong_places: tuple[int, ...] = ()

    @property
    def exact_all(self) -> Exact:
        """Exact words of all kinds together."""
        return sum(self.exact.values(), Exact())


def score_page(truth: Truth, reading: Reading) -> PageScore:
    """The score of one reading of a page."""
    flat, read = flatten(truth.rows), flatten(reading.rows)
    aligned = align(flat.text, read.text)
    return PageScore(
        characters=Tally(int(aligned.errors.sum()), len(flat.text)),
        words=_words(flat.text, read.text),
        rows=score_rows(truth.rows, reading.rows),
        by_role=_by_scope(truth, flat, aligned, 0),
        by_kind=_by_scope(truth, flat, aligned, 1),
        exact=_exact(truth.identifiers, flat, aligned, _unsure(reading, read)),
        confusions=aligned.confusions,
        wrong_places=_wrong_places(truth, flat, aligned),
    )


def add_scores(scores: Iterable[PageScore]) -> PageScore:
    """All pages as one; places, which mean nothing then, are left out."""
    characters, words, rows = Tally(), Tally(), RowScore()
    roles: defaultdict[str, Tally] = defaultdict(Tally)
    kinds: defaultdict[str, Tally] = defaultdict(Tally)
    exact: defaultdict[str, Exact] = defaultdict(Exact)
    confusions: Counter[tuple[str, str]] = Counter()
    for score in scores:
        characters += score.characters
        words += score.words
        rows += score.rows
        for role, tally in score.by_role.items():
            roles[role] += tally
        for kind, tally in score.by_kind.items():
            kinds[kind] += tally
        for kind, found in score.exact.items():
            exact[kind] += found
        confusions.update(score.confusions)
    return PageScore(characters, words, rows, dict(roles), dict(kinds), dict(exact), confusions)


@dataclass(frozen=True, slots=True)
class Interval:
    """A rate and the 95 % interval of its bootstrap over pages."""

    value: float
    low: float
    high: float


DRAWS = 1000
"""Bootstrap samples; the ends of the interval then move by less than a tenth of its width."""


def interval(parts: Sequence[tuple[float, float]], seed: int = 0) -> Interval:
    """The rate of pages given as (count, total) each, by bootstrap over whole pages; seeded."""
    pairs = np.array(parts, np.float64).reshape(-1, 2)
    count, total = pairs.sum(axis=0)
    if not total:
        return Interval(0.0, 0.0, 0.0)
    drawn = np.random.default_rng(seed).integers(len(pairs), size=(DRAWS, len(pairs)))
    sums = pairs[drawn].sum(axis=1)
    rates = sums[:, 0] / np.maximum(sums[:, 1], 1)
    low, high = np.percentile(rates, [2.5, 97.5])
    return Interval(float(count / total), float(low), float(high))


def _words(truth: str, read: str) -> Tally:
    true_words = truth.split()
    return Tally(Levenshtein.distance(true_words, read.split()), len(true_words))


def _by_scope(truth: Truth, flat: Flat, aligned: Alignment, which: int) -> dict[str, Tally]:
    """The tally of each role (`which` 0) or kind of text (1)."""
    tallies: defaultdict[str, Tally] = defaultdict(Tally)
    sums = np.concatenate([[0], np.cumsum(aligned.errors[:-1])])
    for scope in truth.scopes:
        start, end = _flat_span(flat, scope)
        errors = int(sums[end] - sums[start])
        tallies[role_and_kind(scope.name)[which]] += Tally(errors, end - start)
    return dict(tallies)


def _flat_span(flat: Flat, span: NamedSpan) -> tuple[int, int]:
    """Where in the flat text the characters of `span` are."""
    known = _known_origin(flat)
    start, end = np.searchsorted(known, [span.start, span.end])
    return int(start), int(end)


def _known_origin(flat: Flat) -> NDArray[np.intp]:
    """``origin`` with row borders at the place of the character before them: it never falls."""
    known: NDArray[np.intp] = np.maximum.accumulate(flat.origin)
    return known


def _exact(
    identifiers: Iterable[NamedSpan], flat: Flat, aligned: Alignment, unsure: NDArray[np.bool_]
) -> dict[str, Exact]:
    found: defaultdict[str, Exact] = defaultdict(Exact)
    for span in identifiers:
        start, end = _flat_span(flat, span)
        first = int(aligned.start[start])
        flagged = bool(unsure[first : int(aligned.end[end - 1])].any())
        read = aligned.read_for(start, end).strip()
        found[span.name] += _outcome(aligned.truth[start:end].strip(), read, flagged=flagged)
    return dict(found)


def _outcome(truth: str, read: str, *, flagged: bool) -> Exact:
    if read == truth:
        return Exact(right=1)
    if flagged or GAP in read or 2 * len(read) < len(truth):
        return Exact(gaps=1)
    return Exact(invented=1)


def _unsure(reading: Reading, flat: Flat) -> NDArray[np.bool_]:
    """(flat characters,) where the reader flagged what it read."""
    flags = np.zeros(sum(map(len, reading.rows)) + 1, np.bool_)
    flags[list(reading.unsure)] = True
    flags[-1] = False  # the origin of row borders
    return flags[flat.origin]


def _wrong_places(truth: Truth, flat: Flat, aligned: Alignment) -> tuple[int, ...]:
    wrong = flat.origin[np.flatnonzero(aligned.errors[:-1])]
    return tuple(truth.places[wrong[wrong >= 0]].tolist())
