"""Error and speed of the token estimates on held-out text, beside rules of thumb and tokenizers.

    python bench/tokens.py TEXT --cache CACHE [--anthropic-wheel WHEEL] [--speed FILE] [--json OUT]

TEXT and CACHE are those of calibrate_tokens.py, which says what to install. Errors are in percent
of exact counts; nothing measured here was fitted on. Speed is in MB per CPU second on one core, all
rows in one run, best of some.
"""

from __future__ import annotations

import argparse
import json
import platform
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from token_errors import Floats, errors_of, joined, relative, total_error
from token_labels import FAMILIES
from token_text import UNSEEN, Corpus, Document

from snapcompact.tokens.estimate import prefix_tokens
from snapcompact.tokens.table import Errors, load_table

ROUNDS = 5
PART_CHARS = 500_000
"""What a tokenizer is given at once: bpe-openai refuses a million characters."""
LEAST_KIND_BYTES = 8000
"""Less held-out text of a kind says nothing about its total."""
Counter = Callable[[NDArray[np.uint8]], NDArray[np.float64]]


def rule_errors(documents: Sequence[Document], count: Counter) -> Errors:
    """Errors of a rule of thumb that gives every byte a count."""

    def chunks(documents: Sequence[Document], size: int) -> Floats:
        errors = []
        for d in documents:
            whole = len(d.data) // size * size
            estimates = count(d.data[:whole]).reshape(-1, size).sum(1)
            exact = d.labels[:whole].reshape(-1, size).sum(1, dtype=np.int64)
            errors.append(relative(estimates, exact.astype(np.float64)))
        return np.concatenate(errors)

    def lines() -> Floats:
        errors = []
        for d in documents:
            cuts = np.concatenate([[0], np.flatnonzero(d.data == 10) + 1])
            estimates = np.diff(np.concatenate([[0], np.cumsum(count(d.data))])[cuts])
            exact = np.diff(np.concatenate([[0], np.cumsum(d.labels, dtype=np.int64)])[cuts])
            lengths = np.diff(cuts)
            kept = (lengths >= 20) & (lengths <= 199)
            errors.append(relative(estimates, exact.astype(np.float64))[kept])
        return np.concatenate(errors)

    whole = joined(documents)
    total = 100 * (float(count(whole.data).sum()) / int(whole.labels.sum(dtype=np.int64)) - 1)
    p95 = [float(np.quantile(np.abs(e), 0.95)) for e in (chunks(documents, 4096), lines())]
    return Errors(
        total=round(total, 2),
        p95_4k=round(p95[0], 2),
        p95_64k=round(float(np.quantile(np.abs(chunks(documents, 65536)), 0.95)), 2),
        worst_1m=round(float(np.abs(chunks([whole], 1 << 20)).max()), 2),
        p95_lines=round(p95[1], 2),
    )


RULES: dict[str, Counter] = {
    "chars/4": lambda data: ((data & 0xC0) != 0x80) / 4.0,
    "bytes/3.7": lambda data: np.full(len(data), 1 / 3.7),
}


def family_rows(corpus: Corpus) -> Iterator[dict[str, Any]]:
    """A row of errors per setting and rule, on held-out transcripts."""
    documents = [d for d in corpus.documents(held_out=True) if d.kind == "transcript"]
    table = load_table(corpus.family)
    rows = {name: rule_errors(documents, count) for name, count in RULES.items()}
    rows["accurate"] = errors_of(table, documents, fast=False)
    rows["fast"] = errors_of(table, documents, fast=True)
    for name, errors in rows.items():
        yield {"family": corpus.family, "by": name} | asdict(errors)


def kind_rows(corpus: Corpus) -> Iterator[dict[str, Any]]:
    """The total error per kind of held-out text and per language."""
    table = load_table(corpus.family)
    documents = corpus.documents(held_out=True)
    for kind in sorted({d.kind for d in documents}):
        of_kind = [d for d in documents if d.kind == kind]
        size = sum(len(d.data) for d in of_kind)
        if size < LEAST_KIND_BYTES:
            continue
        yield {
            "family": corpus.family,
            "kind": kind + (" (never seen)" if kind in UNSEEN else ""),
            "bytes": size,
            "accurate": round(total_error(table, of_kind, fast=False), 2),
            "fast": round(total_error(table, of_kind, fast=True), 2),
        }


def tokenizers() -> Iterator[tuple[str, Callable[[str], object]]]:
    """Exact o200k tokenizers that are installed, each as a function that tokenizes a text."""
    try:
        import quicktok

        yield "quicktok-v1", quicktok.get_encoding("o200k_base").count
    except ImportError:
        pass
    try:
        import splintr

        yield "splintr-rs", splintr.Tokenizer.from_pretrained("o200k_base").encode_flat
    except ImportError:
        pass
    try:
        import bpe_openai

        yield "bpe-openai", bpe_openai.get_encoding("o200k_base").encode
    except ImportError:
        pass
    try:
        import tiktoken

        yield "tiktoken", tiktoken.get_encoding("o200k_base").encode_ordinary
    except (ImportError, OSError):  # it downloads its vocabulary
        pass


def speed_rows(data: bytes) -> Iterator[dict[str, Any]]:
    """CPU speed of each way to count `data`, the estimator's with a prefix sum at every line."""
    flat = np.frombuffer(data, np.uint8)
    cuts = np.flatnonzero(flat == 10) + 1
    ways: dict[str, Callable[[], object]] = {
        "accurate, prefix per line": lambda: prefix_tokens(flat, cuts),
        "fast, prefix per line": lambda: prefix_tokens(flat, cuts, fast=True),
        "accurate, total only": lambda: prefix_tokens(flat, [len(flat)]),
        "fast, total only": lambda: prefix_tokens(flat, [len(flat)], fast=True),
    }
    text = data.decode("utf-8", "replace")
    parts = [text[at : at + PART_CHARS] for at in range(0, len(text), PART_CHARS)]
    ways |= {
        name: (lambda count=count: [count(part) for part in parts])  # type: ignore[misc]
        for name, count in tokenizers()
    }
    for name, way in ways.items():
        way()
        best = min(_cpu_seconds(way) for _ in range(ROUNDS))
        yield {"way": name, "mb_per_cpu_second": round(len(data) / best / 1e6, 1)}


def _cpu_seconds(way: Callable[[], object]) -> float:
    start = time.process_time()
    way()
    return time.process_time() - start


def show(rows: Sequence[dict[str, Any]]) -> None:
    """Print `rows` as a table."""
    names = list(rows[0])
    cells = [names, *([str(row[name]) for name in names] for row in rows)]
    widths = [max(len(line[at]) for line in cells) for at in range(len(names))]
    for line in cells:
        print("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)))
    print()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("text", type=Path)
    parser.add_argument("--cache", type=Path, required=True)
    parser.add_argument("--anthropic-wheel", type=Path)
    parser.add_argument("--speed", type=Path, help="a text to measure speed on")
    parser.add_argument("--family", action="append", choices=FAMILIES, help="all by default")
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    results: dict[str, list[dict[str, Any]]] = {"errors": [], "kinds": [], "speed": []}
    for family in args.family or FAMILIES:
        corpus = Corpus(args.text, args.cache, family, args.anthropic_wheel)
        results["errors"] += family_rows(corpus)
        results["kinds"] += kind_rows(corpus)
    if args.speed:
        results["speed"] += speed_rows(args.speed.read_bytes())
    for rows in filter(None, results.values()):
        show(rows)
    if args.json:
        machine = {"machine": platform.processor() or platform.machine()}
        date = {"date": datetime.now(UTC).date().isoformat()}
        args.json.write_text(json.dumps(machine | date | results, indent=1) + "\n")


if __name__ == "__main__":
    main()
