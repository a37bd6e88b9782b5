"""Exact counts need an installed tokenizer, and say so where there is none."""

from __future__ import annotations

import sys

import pytest

from snapcompact.errors import MissingExtraError, UnknownNameError
from snapcompact.tokens import estimate_tokens, families
from snapcompact.tokens.exact import CTOK, SPLINTR, _counter, exact_count, has_exact

TEXT = b"def main() -> None:\n    print('hello, world', 12345)\n" * 200


def test_every_name_is_a_family() -> None:
    assert {*SPLINTR, *CTOK} == set(families()) - {"claude-legacy"}


def test_an_unknown_family_is_refused() -> None:
    with pytest.raises(UnknownNameError, match="gpt-9"):
        exact_count(b"x", "gpt-9")


def test_a_family_without_a_tokenizer_says_so() -> None:
    assert not has_exact("claude-legacy")
    with pytest.raises(MissingExtraError, match="claude-legacy"):
        exact_count(b"x", "claude-legacy")


@pytest.mark.parametrize(("family", "module"), [("o200k", "splintr"), ("claude-3", "ctok")])
def test_a_missing_package_names_the_extra(
    family: str, module: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    _counter.cache_clear()
    with pytest.raises(MissingExtraError, match=r"snapcompact\[tokenizers\]"):
        exact_count(b"x", family)


@pytest.mark.parametrize("family", sorted({*SPLINTR, *CTOK}))
def test_exact_counts_are_near_the_estimate(family: str) -> None:
    if not has_exact(family):
        pytest.skip("no exact tokenizer for this family is installed")
    assert exact_count(TEXT, family) == pytest.approx(estimate_tokens(TEXT, family), rel=0.1)
    assert exact_count(b"<|endoftext|>", family) > 1
    assert exact_count(b"\xff\xfe", family) == exact_count("\ufffd\ufffd".encode(), family)
