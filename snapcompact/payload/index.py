"""What is left out of the pictures, as text: the user's words, and how to fetch the rest."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from snapcompact.history.model import Role, shown

if TYPE_CHECKING:
    from snapcompact.payload.source import Span

Count = Callable[[bytes], int]
"""Tokens of a text, for the model that is sent it."""

WORD_BYTES = (1 << 20, 16_000, 8_000, 4_000, 2_000, 1_000, 500, 250, 120)
"""Most bytes of one user message, tried in turn until all of them fit."""

FETCH = "snapcompact restore {name} --as transcript --messages {first}:{last}"


@dataclass(frozen=True, slots=True)
class Word:
    """What the user said in one message, as transcript bytes, and what followed it."""

    span: Span
    text: bytes
    followed: str


def index_text(
    left_out: Sequence[Span], words: Sequence[Word], name: str, count: Count, budget: int
) -> str:
    """The list, within `budget` tokens but for its head; empty where there is nothing to say.

    `left_out` are the messages on no picture. Words are cut evenly, head and tail, until they fit;
    where even short ones do not, the oldest give way to a line that says how many.
    """
    if not left_out and not words:
        return ""
    head = _head(left_out, name)
    left = budget - count(head.encode())
    for most in WORD_BYTES:
        lines = [_line(word, most) for word in words]
        if sum(count(line.encode()) for line in lines) <= left:
            return head + "".join(lines)
    kept: list[str] = []
    for line in reversed(lines):
        left -= count(line.encode())
        if left < 0:
            break
        kept.append(line)
    missing = len(lines) - len(kept)
    note = f"[{missing} older messages of the user: fetch them as above]\n" if missing else ""
    return head + note + "".join(reversed(kept))


def words_of(
    spans: Iterable[Span], read: Callable[[int, int], bytes], wanted: Callable[[Span], bool]
) -> tuple[Word, ...]:
    """The user's messages among `spans` that are `wanted`, with what stands between them."""
    found: list[tuple[Span, Counter[str]]] = []
    for span in spans:
        if span.role == Role.USER and wanted(span):
            found.append((span, Counter()))
        elif found:
            found[-1][1][span.role] += 1
    return tuple(
        Word(span, _body(read(span.offset, span.offset + span.length)), _roles(followed))
        for span, followed in found
    )


def _head(left_out: Sequence[Span], name: str) -> str:
    if not left_out:
        return "What the user said on the pages printed smaller:\n"
    first, last = left_out[0].message, left_out[-1].message + 1
    size = sum(span.length for span in left_out)
    command = FETCH.format(name=shlex.quote(name), first=first, last=last)
    return (
        f"No picture shows messages {first} to {last - 1} ({len(left_out)} messages, {size:,} bytes"
        f" of text). To read any of them:\n  {command}\n"
        "What the user said there and on the pages printed smaller:\n"
    )


def _line(word: Word, most: int) -> str:
    text = _cut(word.text, most)
    tail = f"\n[then {word.followed}]" if word.followed else ""
    return f"[message {word.span.message}] {text}{tail}\n"


def _cut(text: bytes, most: int) -> str:
    """`text` fit to print, its middle replaced by a count where it is longer than `most` bytes."""
    if len(text) <= most:
        return shown(text)
    half = most // 2
    head, tail = shown(text[:half]).rstrip("\ufffd"), shown(text[-half:]).lstrip("\ufffd")
    return f"{head} […{len(text) - 2 * half:,} bytes…] {tail}"


def _body(text: bytes) -> bytes:
    """A message's transcript without its marker line."""
    return text.partition(b"\n")[2].rstrip(b"\n")


def _roles(counts: Counter[str]) -> str:
    return ", ".join(f"{number} × {role}" for role, number in sorted(counts.items()))
