"""Refits the token tables from text, with real tokenizers, and writes their measured errors.

    python bench/token_corpus.py TEXT --transcripts training-transcripts.zip TREE...
    python bench/calibrate_tokens.py TEXT --cache CACHE [--anthropic-wheel WHEEL] [--family NAME]

Needs the packages named in token_labels.py (ctok: Python 3.12). Labels are cached, so that a second
run fits without tokenizing. Held-out groups (token_text.py) are measured, never fitted on.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

import numpy as np
from token_errors import errors_of
from token_fit import Words, backed_off, quantised, sum_cells, sum_rare_cells, word_table
from token_labels import FAMILIES
from token_scripts import scripts_of
from token_text import Corpus, Document

from snapcompact.tokens.table import FOLDER, Errors, Table, encode_table

RUN_BYTES = 6144
"""Length of the runs of one character that are fitted: 96 pieces."""
RUN_CHARS = (
    [chr(c) for c in range(32, 127)]
    + ["\n", "\t", "\r"]
    + [chr(c) for c in (*range(0xA0, 0x100), *range(0x2010, 0x2028), *range(0x2190, 0x21A0))]
    + [chr(c) for c in (*range(0x2500, 0x25D0), *range(0x2600, 0x2610), *range(0x2700, 0x2770))]
    + list("。、　・ー─一あア가абиоеαωéà😀🚀✅❌⚠✨🔥👍🎉💡📁📝🔧🐛🤖👀🟢🔴🟡📊🔍⣿⠿⋯∙⎯⏤￣＿＝－")
)


def runs_of(corpus: Corpus) -> list[Document]:
    """Long runs of each character that programs draw lines and fill space with."""
    texts = [(char * (RUN_BYTES // len(char.encode()))).encode() for char in RUN_CHARS]
    labels = corpus.label(b"\f".join(texts))
    documents, start = [], 0
    for char, text in zip(RUN_CHARS, texts, strict=True):
        part = labels[start : start + len(text)]
        documents.append(Document(corpus.style, "run", char, np.frombuffer(text, np.uint8), part))
        start += len(text) + 1
    return documents


def emoji(corpus: Corpus) -> Document:
    """Every emoji, alone and after a space: texts have few of them each, and not the same."""
    blocks = (*range(0x1F300, 0x1F650), *range(0x1F680, 0x1F700), *range(0x1F900, 0x1FA00))
    text = "".join(f"{chr(c)} {chr(c)}\n" for c in blocks).encode()
    return Document(corpus.style, "emoji", "", np.frombuffer(text, np.uint8), corpus.label(text))


def fit(corpus: Corpus) -> Table:
    """The table of the corpus's family, without its errors."""
    documents = [*corpus.documents(held_out=False), emoji(corpus)]
    runs = runs_of(corpus)
    words = Words(documents)
    foreign = sum_cells([d for d in documents if d.kind.startswith("lang-")])
    known = scripts_of(corpus)
    rare = quantised(backed_off(sum_rare_cells(documents, words), foreign, known))
    unknown = Errors(0, 0, 0, 0, 0)
    return Table(
        family=corpus.family,
        style=corpus.style,
        source="",
        errors=unknown,
        errors_fast=unknown,
        costs=quantised(backed_off(sum_cells([*documents, *runs]), foreign, known)),
        rare_costs=rare,
        words=word_table(documents, words, rare, runs),
    )


def measured(table: Table, corpus: Corpus) -> Table:
    """`table` with its errors on held-out transcripts."""
    held_out = [d for d in corpus.documents(held_out=True) if d.kind == "transcript"]
    groups = sum(d.kind == "transcript" for d in corpus.documents(held_out=False))
    size = sum(len(d.data) for d in held_out)
    return replace(
        table,
        source=f"{groups} repositories fitted on, {len(held_out)} others of {size:,} bytes tested",
        errors=errors_of(table, held_out, fast=False),
        errors_fast=errors_of(table, held_out, fast=True),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("text", type=Path)
    parser.add_argument("--cache", type=Path, required=True)
    parser.add_argument("--anthropic-wheel", type=Path)
    parser.add_argument("--out", type=Path, default=FOLDER)
    parser.add_argument("--family", action="append", choices=FAMILIES, help="all by default")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    for family in args.family or FAMILIES:
        corpus = Corpus(args.text, args.cache, family, args.anthropic_wheel)
        table = measured(fit(corpus), corpus)
        data = encode_table(table)
        (args.out / f"{family}.tokens").write_bytes(data)
        print(f"{family}: {len(data):,} bytes\n  {table.errors}\n  fast {table.errors_fast}")


if __name__ == "__main__":
    main()
