"""Exact tokenizers as labels: how many tokens start at each byte of a text.

Families and the PyPI packages they come from, none of them a dependency of snapcompact:
o200k, cl100k, llama3, qwen3, gemma3, deepseek, mistral: splintr-rs; claude-legacy: tokenizers, with
the tokenizer.json inside the wheel anthropic==0.38.0; claude-3, claude-4.7: ctok (Python >= 3.12),
a reconstruction of counts whose accuracy is its author's claim.
"""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Labels = NDArray[np.uint8]
Labeler = Callable[[str], Labels]

SPLINTR = {
    "o200k": "o200k_base",
    "cl100k": "cl100k_base",
    "llama3": "llama3",
    "qwen3": "qwen3",
    "gemma3": "gemma3",
    "deepseek": "deepseek_v3",
    "mistral": "mistral_v3",
}
CTOK = {"claude-3": "3.0", "claude-4.7": "4.8"}
FAMILIES = (*SPLINTR, "claude-legacy", *CTOK)
SKIP_CHARS = 3
"""How far an aligned token may lie behind the one before: a space between two words is dropped."""


MOST_AT_ONE_CHAR = 30
"""More tokens of ctok's at one character mean that they could not be aligned with the text; then
they are spread evenly, so that the count is kept."""


def labeler(family: str, anthropic_wheel: Path | None = None) -> Labeler:
    """Function from a text to its labels, uint8 per byte of its UTF-8."""
    if family in SPLINTR:
        return _splintr(SPLINTR[family])
    if family in CTOK:
        return _ctok(CTOK[family])
    return _legacy(anthropic_wheel)


def vocabulary(family: str, anthropic_wheel: Path | None = None) -> list[str]:
    """The pieces of the family's vocabulary that are text, blanks around them cut off, by rank."""
    if family in SPLINTR:
        import splintr

        tokenizer: Any = splintr.Tokenizer.from_pretrained(SPLINTR[family])
        raw = [_piece(tokenizer, token) for token in range(tokenizer.vocab_size)]
    else:
        raw = _legacy_pieces(anthropic_wheel)
    texts = (piece.decode("utf-8", "replace") for piece in raw)
    return [text.strip(" \u2581") for text in texts if "\ufffd" not in text]


def _piece(tokenizer: Any, token: int) -> bytes:
    try:
        return bytes(tokenizer.decode_token_bytes(token))
    except ValueError:  # numbers between the vocabulary and its special tokens
        return b""


def _legacy_pieces(wheel: Path | None) -> list[bytes]:
    """The vocabulary of a byte-level BPE, whose file writes bytes as printable characters."""
    ids: dict[str, int] = _legacy_tokenizer(wheel).get_vocab()
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    byte_of = {chr(byte): byte for byte in plain}
    others = [byte for byte in range(256) if byte not in plain]
    byte_of |= {chr(256 + at): byte for at, byte in enumerate(others)}
    ranked = sorted(ids, key=lambda piece: ids[piece])
    return [bytes(byte_of.get(char, 0xFF) for char in piece) for piece in ranked]


def _splintr(name: str) -> Labeler:
    import splintr

    tokenizer: Any = splintr.Tokenizer.from_pretrained(name)
    lengths: dict[int, int] = {}

    def length(token: int) -> int:
        if token not in lengths:
            lengths[token] = len(tokenizer.decode_token_bytes(token))
        return lengths[token]

    def label(text: str) -> Labels:
        if name == "gemma3":  # SentencePiece takes U+2581 for a space
            text = text.replace("\u2581", "___")
        size = len(text.encode())
        ids = tokenizer.encode_ordinary(text)
        ends = np.cumsum([length(token) for token in ids])
        if len(ids) and ends[-1] != size:
            raise ValueError(f"{name}: tokens cover {ends[-1]} of {size} bytes")
        return _counted(np.concatenate([[0], ends[:-1]]), size)

    return label


def _legacy_tokenizer(wheel: Path | None) -> Any:
    from tokenizers import Tokenizer

    if wheel is None:
        raise SystemExit("claude-legacy needs --anthropic-wheel anthropic-0.38.0-…whl")
    with zipfile.ZipFile(wheel) as pack:
        return Tokenizer.from_str(pack.read("anthropic/tokenizer.json").decode())


def _legacy(wheel: Path | None) -> Labeler:
    tokenizer = _legacy_tokenizer(wheel)
    tokenizer.encode_special_tokens = True

    def label(part: str) -> Labels:
        offsets = _byte_offsets(part)
        found = tokenizer.encode(part, add_special_tokens=False).offsets
        return _counted(offsets[[start for start, _ in found]], int(offsets[-1]))

    return partial(_in_parts, label, part_chars=200_000)


def _ctok(version: str) -> Labeler:
    from ctok import engine
    from ctok.main import _family, _model

    model = _model(_family(version))
    # The end of a part is not the end of the message: its line ends cost what they do inside.
    engine.frame_tail = lambda count, _model: ["\n" * count] if count else []

    def label(part: str) -> Labels:
        _, tokens = engine.tile(part, model)
        offsets = _byte_offsets(part)
        starts = np.array(_aligned(tokens, part), np.int64)
        if len(starts) and np.bincount(starts).max() > MOST_AT_ONE_CHAR:  # lost its way
            starts = np.arange(len(starts)) * len(part) // len(starts)
        return _counted(offsets[starts], int(offsets[-1]))

    return partial(_in_parts, label, part_chars=20_000)


def _aligned(tokens: list[str | bytes], text: str) -> list[int]:
    """Character of `text` each ctok token starts at; markers go with what follows them."""
    from ctok.constants import MARKER_GLYPHS
    from ctok.normalize import nfc

    # ctok sees the normalised text: some characters dropped, some changed, none moved.
    kept = [(at, nfc(char, fold_quotes=False)) for at, char in enumerate(text)]
    origins = [at for at, char in kept if char]
    seen = "".join(char for _, char in kept if char)
    found: list[int] = []
    at, pending, held = 0, 0, b""
    for token in tokens:
        if isinstance(token, bytes):  # part of a character
            found.append(at)
            held += token
            if _is_whole(held):
                at, held = seen.find(held.decode(), at) + 1 or at + 1, b""
            continue
        core = "".join(char for char in token if char not in MARKER_GLYPHS)
        if not core:
            pending += 1
            continue
        at = _find(core[0], seen, at)
        found += [at] * (1 + pending)
        pending = 0
        at += len(core)
    found += [at] * pending
    return [origins[min(place, len(origins) - 1)] for place in found]


def _is_whole(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def _find(char: str, seen: str, at: int) -> int:
    """Index of the character ctok made `char` of, at most a few dropped blanks after `at`."""
    for place in range(at, min(at + SKIP_CHARS, len(seen))):
        if seen[place].lower() == char.lower():
            return place
    return at


def _in_parts(label: Labeler, text: str, part_chars: int) -> Labels:
    parts = [label(part) for part in _parts(text, part_chars)]
    return np.concatenate(parts) if parts else np.zeros(0, np.uint8)


def _parts(text: str, part_chars: int) -> Iterator[str]:
    """`text` in parts, cut where a line starts with no blank, if any does."""
    start = 0
    while start < len(text):
        end = min(len(text), start + part_chars)
        cut = text.rfind("\n", start, end)
        while cut > start and text[cut + 1 : cut + 2].isspace():
            cut = text.rfind("\n", start, cut)
        end = cut + 1 if start < cut and end < len(text) else end
        yield text[start:end]
        start = end


def _byte_offsets(text: str) -> NDArray[np.int64]:
    """Offset in UTF-8 of each character, and of the end."""
    points = np.frombuffer(text.encode("utf-32-le"), np.uint32)
    sizes = 1 + (points > 0x7F) + (points > 0x7FF) + (points > 0xFFFF)
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def _counted(starts: NDArray[np.int64], size: int) -> Labels:
    counts = np.bincount(np.minimum(starts, size - 1), minlength=size) if size else np.zeros(0)
    if counts.max(initial=0) > 255:
        raise ValueError("tokens could not be aligned with the text")
    return counts.astype(np.uint8)
