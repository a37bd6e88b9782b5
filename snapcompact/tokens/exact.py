"""Exact counts, where a real tokenizer is installed: ``pip install snapcompact[tokenizers]``."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from importlib import import_module
from importlib.util import find_spec

from snapcompact.errors import MissingExtraError, UnknownNameError
from snapcompact.tokens.table import families

Counter = Callable[[str], int]

SPLINTR = {
    "cl100k": "cl100k_base",
    "deepseek": "deepseek_v3",
    "gemma3": "gemma3",
    "llama3": "llama3",
    "mistral": "mistral_v3",
    "o200k": "o200k_base",
    "qwen3": "qwen3",
}
"""Names in splintr, whose package holds the vocabularies: nothing is downloaded. It counts 75 MB/s,
beside tiktoken's 19, which has no vocabulary without the network."""
CTOK = {"claude-3": "3.0", "claude-4.7": "4.8"}
"""Versions in ctok, a reconstruction of Anthropic's counts; its accuracy is its author's claim."""


def exact_count(data: bytes, family: str) -> int:
    """Tokens in `data` by a real tokenizer; special tokens in it are plain text.

    Bytes that are no UTF-8 count as U+FFFD, as they would be sent. Raises UnknownNameError for an
    unknown family, MissingExtraError where no tokenizer for it is installed or exists.
    """
    return _counter(family)(data.decode("utf-8", "replace"))


def has_exact(family: str) -> bool:
    """True if :func:`exact_count` can count the family on this machine."""
    module = _module_of(family)
    return bool(module) and find_spec(module) is not None


def _module_of(family: str) -> str:
    return "splintr" if family in SPLINTR else "ctok" if family in CTOK else ""


@cache
def _counter(family: str) -> Counter:
    """Loads the tokenizer of `family`."""
    if family not in families():
        known = ", ".join(families())
        raise UnknownNameError(f"no tokenizer family {family!r}; there are: {known}")
    name = _module_of(family)
    if not name:
        raise MissingExtraError(
            f"no package has an exact tokenizer for {family}; count it without --exact"
        )
    try:
        module = import_module(name)
    except ImportError as error:
        needs = " and Python 3.12 or newer" if name == "ctok" else ""
        raise MissingExtraError(
            f"exact counts for {family} need the package {name}{needs}: "
            "pip install 'snapcompact[tokenizers]', or count without --exact"
        ) from error
    if name == "ctok":
        frame = module.token_count("", CTOK[family])  # what a request adds around one message
        return lambda text: int(module.token_count(text, CTOK[family])) - frame
    tokenizer = module.Tokenizer.from_pretrained(SPLINTR[family])
    return partial(_splintr_count, tokenizer.encode_ordinary)


def _splintr_count(encode: Callable[[str], list[int]], text: str) -> int:
    return len(encode(text))
