"""Errors of token estimates against exact labels, over texts, chunks and lines."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from token_text import Document

from snapcompact.tokens.estimate import UNIT
from snapcompact.tokens.machine import machine
from snapcompact.tokens.table import Errors, Table
from snapcompact_kernels import features

Floats = NDArray[np.float64]


def prefix_counts(
    table: Table, data: NDArray[np.uint8], cuts: NDArray[np.int64], fast: bool
) -> Floats:
    """Estimated tokens of data[:cut] for each cut, by a table that need not be installed."""
    counts, carry = np.zeros(len(cuts), np.int64), features.new_carry()
    text = (data, 0, len(data), 10, 0, *machine(table.style))
    if fast:
        cut = features.count_by_bytes(*text, table.costs, carry, cuts, 0, counts)
        counts[cut:] = carry[5]
    else:
        scratch = features.new_scratch()
        costs = (table.rare_costs, table.words, carry, scratch)
        cut = features.count_by_words(*text, *costs, cuts, 0, counts)
        features.finish_words(len(data), table.words, carry, scratch, cuts, cut, counts)
    return counts / UNIT


def exact_prefix(document: Document, cuts: NDArray[np.int64]) -> Floats:
    """Exact tokens that start before each cut."""
    sums = np.concatenate([[0], np.cumsum(document.labels, dtype=np.int64)])
    return sums[cuts].astype(np.float64)


def relative(estimates: Floats, exact: Floats) -> Floats:
    """Errors in percent of the exact counts."""
    return 100 * (estimates / np.maximum(exact, 1) - 1)


def by_chunk(table: Table, documents: Sequence[Document], size: int, fast: bool) -> Floats:
    """Error of each whole chunk of `size` bytes; small documents give none."""
    found = []
    for document in documents:
        cuts = np.arange(0, len(document.data) + 1, size)
        estimates = np.diff(prefix_counts(table, document.data, cuts, fast))
        found.append(relative(estimates, np.diff(exact_prefix(document, cuts))))
    return np.concatenate(found)


def joined(documents: Sequence[Document]) -> Document:
    """`documents` as one text."""
    data = np.concatenate([d.data for d in documents])
    return Document(
        documents[0].style, "joined", "", data, np.concatenate([d.labels for d in documents])
    )


def by_line(table: Table, documents: Sequence[Document], fast: bool) -> Floats:
    """Error of each line of 20 to 199 bytes, line end included."""
    found = []
    for document in documents:
        cuts = np.concatenate([[0], np.flatnonzero(document.data == 10) + 1])
        lengths = np.diff(cuts)
        estimates = np.diff(prefix_counts(table, document.data, cuts, fast))
        errors = relative(estimates, np.diff(exact_prefix(document, cuts)))
        found.append(errors[(lengths >= 20) & (lengths <= 199)])
    return np.concatenate(found)


def total_error(table: Table, documents: Sequence[Document], fast: bool) -> float:
    """Signed error over all of the documents, in percent."""
    estimate = sum(
        float(prefix_counts(table, d.data, np.array([len(d.data)]), fast)[0]) for d in documents
    )
    return 100 * (estimate / sum(int(d.labels.sum(dtype=np.int64)) for d in documents) - 1)


def errors_of(table: Table, documents: Sequence[Document], fast: bool) -> Errors:
    """All the errors of a setting of `table` on `documents`."""

    def p95(errors: Floats) -> float:
        return round(float(np.quantile(np.abs(errors), 0.95)), 2)

    whole = [joined(documents)]
    return Errors(
        total=round(total_error(table, documents, fast), 2),
        p95_4k=p95(by_chunk(table, documents, 4096, fast)),
        p95_64k=p95(by_chunk(table, documents, 65536, fast)),
        worst_1m=round(float(np.abs(by_chunk(table, whole, 1 << 20, fast)).max()), 2),
        p95_lines=p95(by_line(table, documents, fast)),
    )
