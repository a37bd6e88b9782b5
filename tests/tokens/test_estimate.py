"""Token estimates: equal to the slow twin, the same however the text is cut, right where tested."""

from __future__ import annotations

import gc
import subprocess
import sys
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from snapcompact.errors import UnknownNameError
from snapcompact.tokens import (
    TokenCounter,
    estimate_stream,
    estimate_tokens,
    families,
    prefix_tokens,
    stated_errors,
    tokens_of_parts,
)
from snapcompact.tokens.estimate import BATCH_BYTES, UNIT
from snapcompact.tokens.machine import machine
from snapcompact.tokens.table import load_table
from snapcompact_kernels import features
from tests.reference import features as slow

FAMILIES = [
    "cl100k",
    "claude-3",
    "claude-4.7",
    "claude-legacy",
    "deepseek",
    "gemma3",
    "llama3",
    "mistral",
    "o200k",
    "qwen3",
]
WORDS = st.sampled_from(  # what machines cut in different ways
    [
        "the",
        " error",
        "camelCase",
        "HTTPServer",
        "\n",
        "\n\n    ",
        "\t\t",
        " ",
        "  12",
        "2024",
        "'s",
        ");",
        " //",
        "=" * 70,
        "─" * 50,
        "中文",
        " привет",
        "안녕",
        "😀",
        "é",
        "\r\n",
        "\x1b[0m",
        "<s>",
    ]
)
TEXT = st.one_of(
    st.binary(max_size=300),
    st.text(max_size=200).map(lambda text: text.encode("utf-8", "surrogatepass")),
    st.lists(WORDS, max_size=60).map(lambda words: "".join(words).encode()),
)
MANY = settings(deadline=None, max_examples=60)


def cuts_of(data: bytes) -> list[int]:
    return sorted({0, len(data), *range(0, len(data), 7), len(data) // 2})


def test_there_is_a_table_for_every_family() -> None:
    assert list(families()) == FAMILIES


@MANY
@given(TEXT, st.sampled_from(FAMILIES), st.booleans())
def test_equals_the_slow_twin(data: bytes, family: str, fast: bool) -> None:
    counter = TokenCounter(family, fast=fast)
    counter.feed(data)
    assert counter.total == slow.count(data, load_table(family), fast) / UNIT


@MANY
@given(TEXT, st.sampled_from(FAMILIES))
def test_prefixes_equal_the_slow_twin(data: bytes, family: str) -> None:
    cuts = cuts_of(data)
    table = load_table(family)
    expected = [slow.prefix(data, cut, table) / UNIT for cut in cuts]
    assert prefix_tokens(data, cuts, family).tolist() == expected


@MANY
@given(TEXT, st.sampled_from(FAMILIES))
def test_the_trace_cuts_the_same_words(data: bytes, family: str) -> None:
    table = load_table(family)
    signs, moves, _ = machine(table.style)
    flat = np.frombuffer(data, np.uint8)
    kinds, positions = np.zeros((2, len(flat)), np.uint8)
    hashes, ends = np.zeros((2, len(flat)), np.int64)
    count = features.trace(flat, signs, moves, kinds, positions, hashes, ends)
    words = [word for word, _ in slow.words_of(data, table)]
    assert np.diff(ends[:count], prepend=0).tolist() == [len(word) for word in words]
    assert len(set(zip(words, hashes[:count].tolist(), strict=True))) == len(set(words))


@MANY
@given(TEXT, st.booleans())
def test_prefixes_rise_to_the_whole(data: bytes, fast: bool) -> None:
    counts = prefix_tokens(data, range(len(data) + 1), fast=fast)
    assert counts[0] == 0
    assert (np.diff(counts) >= 0).all()
    assert round(float(counts[-1])) == estimate_tokens(data, fast=fast)


@MANY
@given(TEXT, st.booleans())
def test_a_part_counts_as_a_text_of_its_own(data: bytes, fast: bool) -> None:
    cuts = cuts_of(data)
    counts = tokens_of_parts(data, cuts, fast=fast)
    assert [round(c) for c in counts.tolist()] == [
        estimate_tokens(data[start:end], fast=fast) for start, end in pairwise(cuts)
    ]


@pytest.mark.parametrize("fast", [False, True])
@pytest.mark.parametrize("size", [1, 1000, 2048, 2049, BATCH_BYTES - 1, BATCH_BYTES, 300_001])
def test_a_stream_counts_as_the_whole(size: int, fast: bool) -> None:
    text = ("for name in names:\n\tprint(f'{name} 1234')  # ▬▬▬ и так\n" * 12_000).encode()
    parts = [text[at : at + size] for at in range(0, len(text), size)] if size > 999 else []
    parts = parts or [text[at : at + size] for at in range(0, 3000, size)] + [text[3000:]]
    assert estimate_stream(parts, fast=fast) == estimate_tokens(text, fast=fast)


def test_the_total_may_be_read_at_any_time() -> None:
    counter = TokenCounter()
    for part in (b"hel", b"lo wor", b"ld"):
        counter.feed(part)
        assert counter.total == counter.total
    assert round(counter.total) == estimate_tokens(b"hello world")


def test_takes_any_bytes_like_data() -> None:
    data = b"some words of text"
    flat = np.frombuffer(data, np.uint8)
    counts = {estimate_tokens(kind) for kind in (data, bytearray(data), memoryview(data), flat)}
    assert len(counts) == 1
    assert estimate_tokens(np.repeat(flat, 2)[::2]) in counts


def test_nothing_costs_nothing() -> None:
    assert estimate_tokens(b"") == 0
    assert prefix_tokens(b"", []).tolist() == []
    assert tokens_of_parts(b"", []).tolist() == []
    assert tokens_of_parts(b"abc", [1, 1]).tolist() == [0]


@pytest.mark.parametrize("cuts", [[-1, 2], [0, 4], [2, 1]])
def test_refuses_cuts_that_are_none(cuts: list[int]) -> None:
    with pytest.raises(ValueError, match="ascend within 0 to 3"):
        prefix_tokens(b"abc", cuts)


def test_an_unknown_family_names_the_known_ones() -> None:
    with pytest.raises(UnknownNameError, match="o200k"):
        estimate_tokens(b"x", "gpt-9")


# Exact counts of 60,000 bytes of one character, by the tokenizers themselves.
RUNS = {
    ("o200k", "="): 937,
    ("o200k", " "): 470,
    ("o200k", "a"): 7500,
    ("o200k", "▬"): 10000,
    ("o200k", "─"): 1250,
    ("o200k", "\n"): 3750,
}
# Each of these is a word, whose cost is its mean over all text.
WORD_RUNS = {("o200k", "中"): 20000, ("o200k", "😀"): 15000}


@pytest.mark.parametrize(("run", "exact"), RUNS.items(), ids=str)
def test_long_runs_are_right_and_linear(run: tuple[str, str], exact: int) -> None:
    family, char = run
    text = char.encode() * (60_000 // len(char.encode()))
    assert estimate_tokens(text, family) == pytest.approx(exact, rel=0.02)
    assert estimate_tokens(text * 10, family) == pytest.approx(
        10 * estimate_tokens(text, family), rel=0.01
    )


@pytest.mark.parametrize(("run", "exact"), WORD_RUNS.items(), ids=str)
def test_runs_of_words_are_near(run: tuple[str, str], exact: int) -> None:
    family, char = run
    text = char.encode() * (60_000 // len(char.encode()))
    assert estimate_tokens(text, family) == pytest.approx(exact, rel=0.12)


def test_special_tokens_are_plain_text() -> None:
    assert estimate_tokens(b"<|endoftext|>") == pytest.approx(7, abs=1)


def test_memory_stays_flat_over_a_stream() -> None:
    counter = TokenCounter()
    for _ in range(40):
        counter.feed(b"0123456789 abcdef\n" * 10_000)
    gc.collect()
    assert len(counter._waiting) < BATCH_BYTES


def test_stated_errors_keep_what_is_promised() -> None:
    for family in ("o200k", "cl100k", "claude-legacy", "claude-4.7"):
        errors = stated_errors(family)
        assert abs(errors.total) <= 1
        assert errors.p95_4k <= 4
        assert errors.worst_1m <= 2
        assert errors.p95_lines <= 14


def test_importing_loads_no_compiler() -> None:
    program = "import sys, snapcompact.tokens; print({'numba', 'zstandard'} & set(sys.modules))"
    command = [sys.executable, "-c", program]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "set()\n"
