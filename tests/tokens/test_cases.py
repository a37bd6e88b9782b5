"""Hostile inputs: Chinese, Japanese and Korean text; runs and special tokens."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from snapcompact.tokens import estimate_tokens

CASES = Path(__file__).parents[1] / "cases"

# Exact counts by the tokenizers named in bench/token_labels.py.
CJK = {
    "o200k": 11085,
    "cl100k": 17329,
    "claude-legacy": 17166,
    "claude-3": 18639,
    "claude-4.7": 18638,
    "gemma3": 9675,
    "qwen3": 11323,
    "llama3": 12133,
    "deepseek": 11292,
    "mistral": 13187,
}
TRAPS = {
    "o200k": 15890,
    "cl100k": 15732,
    "claude-legacy": 8113,
    "claude-4.7": 122810,
    "qwen3": 15736,
    "llama3": 15732,
    "deepseek": 15898,
}


def text_of(name: str) -> bytes:
    lines = (CASES / name).read_text("utf-8").splitlines()
    contents = [json.loads(line)["content"] for line in lines]
    return "\n".join(c for c in contents if isinstance(c, str)).encode()


@pytest.mark.parametrize(("family", "exact"), CJK.items())
def test_chinese_japanese_korean(family: str, exact: int) -> None:
    # 49 messages that repeat a few sentences: wider than the 10 % of a whole language.
    text = text_of("26_cjk_heavy_estimate.jsonl")
    assert estimate_tokens(text, family) == pytest.approx(exact, rel=0.15)


@pytest.mark.parametrize(("family", "exact"), TRAPS.items())
def test_runs_and_special_tokens(family: str, exact: int) -> None:
    text = text_of("34_tokenizer_traps.jsonl")
    assert estimate_tokens(text, family) == pytest.approx(exact, rel=0.05)
