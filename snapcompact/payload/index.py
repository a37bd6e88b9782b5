"""What is left out of the pictures, as text: the user's words, and how to fetch the rest."""

from __future__ import annotations

import shlex
from collections import Counter, deque
from collections.abc import Callable, Iterable
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

    message: int
    text: bytes
    followed: str


@dataclass(frozen=True, slots=True)
class Missing:
    """What no picture shows: messages ``first`` up to ``last`` and bytes of text; and the words.

    ``words`` are the newest of the user there and on pages printed smaller, ``older`` how many
    more there are.
    """

    messages: int
    first: int
    last: int
    bytes: int
    words: tuple[Word, ...]
    older: int


def find_missing(
    spans: Iterable[Span],
    read: Callable[[int, int], bytes],
    gone: Callable[[Span], bool],
    small: Callable[[Span], bool],
    most_bytes: int,
) -> Missing:
    """What is `gone`, and the words of the user in what is `small`, at most `most_bytes` of them.

    One pass; what is kept does not grow with the history.
    """
    messages = first = last = size = older = held = 0
    words: deque[tuple[int, bytes, Counter[str]]] = deque()
    for span in spans:
        if gone(span):
            first = first if messages else span.message
            messages, last, size = messages + 1, span.message + 1, size + span.length
        if span.role == Role.USER and small(span):
            text = _body(read(span.offset, span.offset + span.length))
            words.append((span.message, text, Counter()))
            held += len(text)
            while held > most_bytes and len(words) > 1:
                held -= len(words.popleft()[1])
                older += 1
        elif words:
            words[-1][2][span.role] += 1
    listed = tuple(Word(number, text, _roles(roles)) for number, text, roles in words)
    return Missing(messages, first, last, size, listed, older)


def index_text(missing: Missing, name: str, count: Count, budget: int) -> str:
    """The list, within `budget` tokens but for its head; empty where there is nothing to say.

    Words are cut evenly, head and tail, until they fit; where even short ones do not, the oldest
    give way to a line that says how many.
    """
    if not missing.messages and not missing.words:
        return ""
    head = _head(missing, name)
    left = budget - count(head.encode())
    for most in WORD_BYTES:
        lines = [_line(word, most) for word in missing.words]
        if sum(count(line.encode()) for line in lines) <= left:
            return head + _older(missing.older) + "".join(lines)
    kept: list[str] = []
    for line in reversed(lines):
        left -= count(line.encode())
        if left < 0:
            break
        kept.append(line)
    return head + _older(missing.older + len(lines) - len(kept)) + "".join(reversed(kept))


def _older(number: int) -> str:
    return f"[{number:,} older messages of the user are not listed]\n" if number else ""


def _head(missing: Missing, name: str) -> str:
    if not missing.messages:
        return "What the user said on the pages printed smaller:\n"
    command = FETCH.format(name=shlex.quote(name), first=missing.first, last=missing.last)
    words = "What the user said there and on the pages printed smaller:\n" if missing.words else ""
    return (
        f"No picture shows messages {missing.first} to {missing.last - 1} ({missing.messages:,} "
        f"messages, {missing.bytes:,} bytes of text). To read any of them:\n  {command}\n"
        f"{words}"
    )


def _line(word: Word, most: int) -> str:
    text = _cut(word.text, most)
    tail = f"\n[then {word.followed}]" if word.followed else ""
    return f"[message {word.message}] {text}{tail}\n"


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
