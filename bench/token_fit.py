"""Fits a token table: averages of token starts with back-off, and costs of common words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from snapcompact.tokens.machine import ROW_COUNT, STEPS_OF_KIND, Kind
from snapcompact.tokens.table import CELLS
from snapcompact_kernels import features

if TYPE_CHECKING:
    from token_scripts import Script
    from token_text import Document

Floats = NDArray[np.float64]
Sums = tuple[Floats, Floats]
"""Token starts and bytes of each cell, weighted."""

WEIGHTS = {"transcript": 1.0, "log": 0.5, "markdown": 0.5, "prose": 0.5, "doc": 0.5}
OTHER_WEIGHT = 0.3
LANGUAGE_WEIGHT = 0.1
"""How much a byte counts in the costs of bytes, by the kind of its text: ASCII cells are
shared, and what agents read is mostly code and English."""
CAP = 20.0
"""A cell counts at most this often in the mean it falls back to, so that the mean is over kinds of
cells rather than over bytes: what is rare is cut more finely (measured: 4 KB p95 6.2 -> 5.4 %)."""
PRIOR = 3.0
"""Weight, in bytes, of the mean a cell falls back to."""
GROUP_PRIOR = 50.0
FOREIGN_PRIOR = 30.0
"""As PRIOR, for cells of non-ASCII bytes, which fall back to the rate of all such text at once: so
that a script never seen costs what most do instead of what the rarest letters do."""
SYMBOL_GROUPS = np.repeat(np.arange(5), [5, 26, 33, 32, 32])
"""Groups of symbols a row's mean is taken over: blanks, letters, signs, continuations, leads."""
FINE_CODES = 128
"""Codes of a word's cost up to this one count 1/32 token, those above 1/4, to 255."""


def weight_of(document: Document) -> float:
    """Weight of a byte of `document` in the fit."""
    if document.kind.startswith("lang-"):
        return LANGUAGE_WEIGHT
    return WEIGHTS.get(document.kind, OTHER_WEIGHT)


def spread(labels: NDArray[np.uint8]) -> NDArray[np.float64]:
    """`labels` with no byte over 1: what is too much moves to the bytes behind.

    A cost is at most 255/256; a marker of Claude's or an emoji in bytes is several tokens at once.
    """
    left = labels.astype(np.int64)
    for _ in range(4):
        excess = np.maximum(left - 1, 0)
        left -= excess
        left[1:] += excess[:-1]
        left[-1] += excess[-1]
    return left.astype(np.float64)


def sum_cells(
    documents: Sequence[Document], only: Sequence[NDArray[np.bool_]] | None = None
) -> Sums:
    """Token starts and bytes in each cell of ``costs``, of the bytes flagged in `only` (or all)."""
    sums, sizes = np.zeros(CELLS), np.zeros(CELLS)
    for at, document in enumerate(documents):
        labels, cells = spread(document.labels), document.cells
        if only is not None:
            labels, cells = labels[only[at]], cells[only[at]]
        weight = weight_of(document)
        sums += weight * np.bincount(cells, labels, CELLS)
        sizes += weight * np.bincount(cells, minlength=CELLS)
    return sums, sizes


def backed_off(fitted: Sums, foreign: Sums, scripts: Sequence[Script]) -> Floats:
    """Mean token starts of each cell of ``costs``, in tokens.

    A cell (row, previous symbol, symbol) falls back to (row, symbol), that to a group of symbols;
    one of non-ASCII bytes to the mean of its group and row in `foreign`, the sums of all words, or
    where it tells a script of `scripts`, to what that costs (:func:`script_priors`).
    """
    sums, sizes = (part.reshape(ROW_COUNT, 128, 128) for part in fitted)
    capped = np.minimum(1, CAP / np.maximum(sizes, 1e-9))
    capped_sums, capped_sizes = (sums * capped).sum(1), (sizes * capped).sum(1)
    one_hot = np.eye(5)[SYMBOL_GROUPS]
    overall = (capped_sums @ one_hot).sum(0) / np.maximum((capped_sizes @ one_hot).sum(0), 1e-9)
    group = (capped_sums @ one_hot + GROUP_PRIOR * overall) / (capped_sizes @ one_hot + GROUP_PRIOR)
    symbol = (capped_sums + PRIOR * (group @ one_hot.T)) / (capped_sizes + PRIOR)
    other_sums, other_sizes = (p.reshape(ROW_COUNT, 128, 128).sum(1) @ one_hot for p in foreign)
    overall = other_sums.sum(0) / np.maximum(other_sizes.sum(0), 1e-9)
    rate = (other_sums + GROUP_PRIOR * overall) / (other_sizes + GROUP_PRIOR)
    symbol[:, 64:] = (rate @ one_hot.T)[:, 64:]
    fallback = np.repeat(symbol[:, None, :], 128, axis=1)
    told = script_priors(sums, sizes, scripts)
    fallback[_LETTERS] = np.where(np.isnan(told), fallback[_LETTERS], told)
    prior = np.repeat([PRIOR, FOREIGN_PRIOR], 64)
    return np.asarray((sums + prior * fallback) / (sizes + prior)).reshape(-1)


_LETTERS = slice(
    sum(steps for kind, steps in STEPS_OF_KIND.items() if kind < Kind.LETTERS),
    sum(steps for kind, steps in STEPS_OF_KIND.items() if kind <= Kind.LETTERS),
)
"""The rows of words with non-ASCII letters."""
MOST = 255 / 256
"""Tokens a byte can cost."""


def script_priors(sums: Floats, sizes: Floats, scripts: Sequence[Script]) -> Floats:
    """Tokens of a byte by (previous symbol, symbol), NaN where these tell no script of `scripts`.

    A character of two bytes is told by its lead; of three by its second byte, since scripts share
    the lead, which then costs what it does in the text fitted on.
    """
    leads = sums[_LETTERS].sum((0, 1)) / np.maximum(sizes[_LETTERS].sum((0, 1)), 1e-9)
    told = np.full((128, 128), np.nan)
    for (lead, after), script in _script_of_symbols(scripts).items():
        if after:
            behind = np.clip((script.rate - leads[lead]) / 2, 0, MOST)
            told[lead, after] = told[after, 64:96] = behind
        else:
            told[:, lead] = told[lead, 64:96] = min(script.rate / 2, MOST)
    return told


def _script_of_symbols(scripts: Sequence[Script]) -> dict[tuple[int, int], Script]:
    """The script told by the symbols of a lead and a second byte, 0 where the lead alone tells it.

    Of scripts with the same symbols it is the one behind E0, whose blocks are the living ones of
    India and Thailand, else the one with more letters there.
    """
    best: dict[tuple[int, int], tuple[bool, int, Script]] = {}
    for script in scripts:
        chars = [chr(point).encode() for point in script.points]
        keys = [(c[0] >> 1, c[1] >> 1 if len(c) == 3 else 0) for c in chars]
        for lead, after in set(keys):
            rank = (chars[0][0] == 0xE0, keys.count((lead, after)))
            known = best.get((lead, after))
            if known is None or rank > known[:2]:
                best[lead, after] = (*rank, script)
    return {key: script for key, (_, _, script) in best.items()}


def quantised(costs: Floats) -> NDArray[np.uint8]:
    """`costs` in 1/256 token."""
    return np.clip(np.rint(costs * 256), 0, 255).astype(np.uint8)


class Words:
    """Every pre-token of some documents: its hash, count, tokens, and how many groups have it."""

    def __init__(self, documents: Sequence[Document]) -> None:
        hashes = np.concatenate([d.hashes for d in documents])
        tokens = np.concatenate([d.counts for d in documents])
        owners = np.repeat(np.arange(len(documents)), [len(d.hashes) for d in documents])
        self.hashes, of = np.unique(hashes, return_inverse=True)
        pairs, of_pair, counts = np.unique(
            of * np.int64(len(documents)) + owners, return_inverse=True, return_counts=True
        )
        words, mean = pairs // len(documents), np.bincount(of_pair, tokens) / counts
        weights = np.array([weight_of(d) for d in documents])[pairs % len(documents)]
        self.groups = np.bincount(words)
        # What a group repeats very often says little about other groups.
        capped = weights * np.minimum(counts, 50)
        self.mean = np.bincount(words, capped * mean) / np.bincount(words, capped)
        self.weight = np.bincount(words, weights * np.minimum(counts, 5))

    def index(self, hashes: NDArray[np.int64]) -> NDArray[np.int64]:
        """Number of each hash among the words; all must be."""
        return np.searchsorted(self.hashes, hashes)


def sum_rare_cells(documents: Sequence[Document], words: Words) -> Sums:
    """As :func:`sum_cells`, of words that a table fitted on other groups would not have known."""
    flags = [d.repeated_over(words.groups[words.index(d.hashes)] == 1) for d in documents]
    return sum_cells(documents, flags)


def word_table(
    documents: Sequence[Document], words: Words, costs: NDArray[np.uint8], runs: Sequence[Document]
) -> NDArray[np.uint16]:
    """The words whose own cost gains most over the costs of their bytes, one to a slot."""
    by_bytes = np.zeros(len(words.hashes))
    for document in documents:
        sums = np.add.reduceat(costs[document.cells].astype(np.int64), document.starts)
        by_bytes[words.index(document.hashes)] = sums / 256
    code, cost = _coded(words.mean)
    gain = words.weight * np.abs(by_bytes - cost)
    fits = (code <= 255) & (gain > 0)
    hashes, codes, gains = words.hashes[fits], code[fits], gain[fits]
    pieces, rates = _pieces(runs)
    hashes = np.concatenate([hashes, pieces])
    codes = np.concatenate([codes, rates])
    gains = np.concatenate([gains, np.full(len(pieces), np.inf)])
    order = np.argsort(-gains, kind="stable")[:MOST_WORDS]
    return _bucketed(hashes[order], codes[order].astype(np.int64))


ASTRAL_LEAD = 0xF0
"""Lead byte from which a character has four bytes."""
MOST_WORDS = 215_000
"""Words a table holds at most: keeps it under 450 KB."""


def _coded(costs: Floats) -> tuple[Floats, Floats]:
    """Codes of `costs` in tokens, over 255 where they do not fit, and the costs they stand for."""
    fine = np.maximum(np.rint(costs * 32), 1)  # 0 would mean unknown
    coarse = FINE_CODES + np.rint(costs * 4 - FINE_CODES / 8)
    code = np.where(fine <= FINE_CODES, fine, coarse)
    return code, np.maximum(code / 32, (code - FINE_CODES) / 4 + FINE_CODES / 32)


def _bucketed(hashes: NDArray[np.int64], codes: NDArray[np.int64]) -> NDArray[np.uint16]:
    """The words' table; the first of `hashes` take the places of a full bucket, and of a tag."""
    buckets = (hashes >> features.BUCKET_SHIFT) & (features.BUCKETS - 1)
    tags = (hashes >> (features.BUCKET_SHIFT - 8)) & 255
    # The empty word, closed where a text starts, has hash 0.
    _, first = np.unique(buckets << 8 | tags, return_index=True)
    kept = np.sort(first[(buckets[first] | tags[first]) != 0])
    order = kept[np.argsort(buckets[kept], kind="stable")]
    sorted_buckets = buckets[order]
    way = np.arange(len(order)) - np.searchsorted(sorted_buckets, sorted_buckets)
    fits = way < features.WAYS
    table = np.zeros(features.BUCKETS * features.WAYS, np.uint16)
    places = (sorted_buckets * features.WAYS + way)[fits]
    table[places] = (tags << 8 | codes)[order][fits].astype(np.uint16)
    return table


def _pieces(runs: Sequence[Document]) -> tuple[NDArray[np.int64], Floats]:
    """Hash and cost code of what long runs of one character consist of.

    That is 64-byte pieces; an emoji is a word of its own, and too rare in texts to be found there.
    """
    hashes, codes = [], []
    for run in runs:
        lengths = np.diff(np.append(run.starts, len(run.data)))
        unit = len(run.group.encode()) if run.data[0] >= ASTRAL_LEAD else features.PIECE
        whole = lengths == unit
        rate = run.labels[len(run.labels) // 2 :].mean()  # the head of a run may cost more
        code, _ = _coded(np.array([rate * unit]))
        if code[0] <= 255 and whole.any():
            found = np.unique(run.hashes[whole])
            hashes.append(found)
            codes.append(np.repeat(code, len(found)))
    return np.concatenate(hashes), np.concatenate(codes)
