"""Where secrets stand in a text: what a rule is, and where in the text it is tried. Pure.

A rule is tried only around its needles, substrings that are searched for all at once, so that
ordinary text costs hardly a regular expression.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from enum import Enum
from typing import NamedTuple

from snapcompact.transcript.needles import Needles

BEFORE_BYTES = 96
AFTER_BYTES = 256
"""Text around a needle that a rule without an anchor sees; token shapes are shorter."""

Test = Callable[["re.Match[bytes]"], bool]


class Anchor(Enum):
    """Where a rule's pattern is tried."""

    NEEDLE = "at the needle"
    WORD = "at the start of the word that the needle is in"
    AROUND = "anywhere around the needle"


class Rule(NamedTuple):
    """One kind of secret. The secret is the group ``value`` of `pattern`, or all it matches."""

    kind: str
    needles: tuple[bytes, ...]
    """Lower-case substrings of three bytes or more, one of which stands in or beside every secret
    of the kind, in any case."""
    pattern: re.Pattern[bytes]
    test: Test | None = None
    anchor: Anchor = Anchor.NEEDLE


class Span(NamedTuple):
    """A secret's place."""

    start: int
    end: int
    kind: str


class Finder:
    """A set of rules, ready to be tried on any number of texts."""

    def __init__(self, rules: tuple[Rule, ...]) -> None:
        self._rules = rules
        self._needles = Needles(needle for rule in rules for needle in rule.needles)
        self._ranks: dict[bytes, list[int]] = {}
        for rank, rule in enumerate(rules):
            for needle in rule.needles:
                self._ranks.setdefault(needle, []).append(rank)

    def find(self, text: bytes) -> list[Span]:
        """Secrets in `text`, in order, none overlapping. Time is linear in the text."""
        places = self._needles.places(text.lower())
        hits: dict[int, list[int]] = {}
        for needle, found in places.items():
            for rank in self._ranks[needle]:
                hits.setdefault(rank, []).extend(found)
        spans: list[tuple[int, int, int, str]] = []
        for rank, at in hits.items():
            rule = self._rules[rank]
            spans += (
                (*_value(match), rank, rule.kind)
                for match in _MATCHES[rule.anchor](rule.pattern, text, sorted(at))
                if rule.test is None or rule.test(match)
            )
        return _merged(spans)


def _at_needles(
    pattern: re.Pattern[bytes], text: bytes, hits: list[int]
) -> Iterator[re.Match[bytes]]:
    end = 0  # hits inside a match are passed over, so that long matches cost their length once
    for hit in hits:
        if hit >= end and (match := pattern.match(text, hit)) is not None:
            end = match.end()
            yield match


def _at_words(
    pattern: re.Pattern[bytes], text: bytes, hits: list[int]
) -> Iterator[re.Match[bytes]]:
    starts = set()
    for hit in hits:
        before = text[max(0, hit - _LONGEST_NAME) : hit]
        starts.add(hit - len(before) + len(before.rstrip(_NAME_BYTES)))
    return filter(None, (pattern.match(text, start) for start in sorted(starts)))


def _around(pattern: re.Pattern[bytes], text: bytes, hits: list[int]) -> Iterator[re.Match[bytes]]:
    end = 0
    for hit in hits:
        start, end = max(end, hit - BEFORE_BYTES), max(end, hit + AFTER_BYTES)
        yield from pattern.finditer(text, start, end)


_NAME_BYTES = bytes(range(0x30, 0x3A)) + b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_.-"
_LONGEST_NAME = 48
_SHORTEST_GROUP = 16
"""A shorter group of the library's patterns is a token's prefix, not the secret."""
_MATCHES = {
    Anchor.NEEDLE: _at_needles,
    Anchor.WORD: _at_words,
    Anchor.AROUND: _around,
}


def _value(match: re.Match[bytes]) -> tuple[int, int]:
    for group in ("value", "quoted", "bare"):
        if group in match.re.groupindex and match[group] is not None:
            return _trimmed(match, group)
    if match.re.groups and match[1] and len(match[1]) >= _SHORTEST_GROUP:
        return match.span(1)
    return match.span()


def _trimmed(match: re.Match[bytes], group: str) -> tuple[int, int]:
    """The group without a sentence's full stop or comma behind it."""
    start, end = match.span(group)
    if group != "quoted":
        end = start + len(match[group].rstrip(b".,;:!?)"))
    return start, end


def _merged(found: list[tuple[int, int, int, str]]) -> list[Span]:
    """Overlapping secrets as one, of the kind that ranks first."""
    out: list[Span] = []
    ranks: list[int] = []
    for start, end, rank, kind in sorted(found):
        if start >= end:
            continue
        if out and start < out[-1].end:
            last = out[-1]
            best = kind if rank < ranks[-1] else last.kind
            out[-1] = Span(last.start, max(end, last.end), best)
            ranks[-1] = min(rank, ranks[-1])
        else:
            out.append(Span(start, end, kind))
            ranks.append(rank)
    return out
