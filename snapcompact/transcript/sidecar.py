"""The sidecar: identifiers of the pages as text, the ones a model would misread first.

The text is lines. ``page N`` opens a page; every other line is one identifier::

    ROW IDENTIFIER ~CHECK

in the order of the pages' text, where ROW counts the rows of that page from 1 and CHECK is
:func:`check` of the identifier, so that a value copied from a page or from here can be tested by
code. With a budget of tokens the choice goes by value, not by what is short: every kind gets its
share, within a kind every page comes up in turn, and on a page what is misread most easily and
printed most rarely comes first.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from types import MappingProxyType
from zlib import crc32

from snapcompact.transcript.identifiers import Identifier  # noqa: TC001 - resolved at run time

Cost = Callable[[bytes], int]
"""Tokens of a piece of text, by the estimator of the model that is sent the sidecar."""

Locate = Callable[[int], tuple[int, int]]
"""Offset in the transcript -> page and row, both from 1."""

_ALPHABET = "acdefghjkmnpqrtuvwxy3479"
"""24 characters, none of them like another; three of them tell 13,824 values apart."""

SHARES: Mapping[str, int] = MappingProxyType(
    {
        "hash": 4, "path": 6, "url": 3, "uuid": 3, "code": 3, "number": 2, "version": 2,
        "constant": 1, "flag": 1, "name": 1,
    }
)  # fmt: skip
"""Parts of the budget by kind: what has no spelling to guess from, or names a place, most."""


@dataclass(frozen=True, slots=True)
class Entry:
    """An identifier and the first place where it is printed; page and row count from 1."""

    identifier: Identifier
    page: int
    row: int

    @property
    def line(self) -> bytes:
        """Its line in the sidecar, line end included."""
        text = self.identifier.text
        return b"%d %s ~%s\n" % (self.row, text, check(text).encode())


def check(text: bytes) -> str:
    """Three characters that change when `text` is misread (all but one time in 13,824)."""
    rest = crc32(text)
    letters = []
    for _ in range(3):
        rest, digit = divmod(rest, len(_ALPHABET))
        letters.append(_ALPHABET[digit])
    return "".join(letters)


def locator(page_offsets: Sequence[int], row_offsets: Sequence[Sequence[int]]) -> Locate:
    """Where an offset is printed, by the first offset of each page and of each row of each page."""

    def locate(offset: int) -> tuple[int, int]:
        page = max(1, bisect_right(page_offsets, offset))
        return page, max(1, bisect_right(row_offsets[page - 1], offset))

    return locate


def choose(
    identifiers: Iterable[Identifier], locate: Locate, cost: Cost, budget_tokens: int
) -> tuple[Entry, ...]:
    """The entries worth most within `budget_tokens`, in the order of the text.

    Page headings are paid from the budget too. Deterministic: equal values go by offset.
    """
    queues = _queues(identifiers, locate)
    spent: dict[str, int] = defaultdict(int)
    left = budget_tokens
    chosen: list[Entry] = []
    pages: set[int] = set()
    covered: set[bytes] = set()
    while queues:
        kind = min(queues, key=lambda k: (spent[k] / SHARES[k], -SHARES[k], k))
        entry = queues[kind].pop()
        if not queues[kind]:
            del queues[kind]
        if entry.identifier.text in covered:
            continue
        tokens = cost(entry.line)
        heading = 0 if entry.page in pages else cost(_heading(entry.page))
        if tokens + heading <= left:
            left -= tokens + heading
            chosen.append(entry)
            pages.add(entry.page)
            covered |= _parts(entry.identifier)
        spent[kind] += tokens
    return tuple(sorted(chosen, key=lambda e: (e.identifier.offset, e.identifier.text)))


def sidecar_text(entries: Iterable[Entry]) -> bytes:
    """The sidecar of `entries`, which are in the order of the text; empty for none."""
    lines: list[bytes] = []
    page = 0
    for entry in entries:
        if entry.page != page:
            page = entry.page
            lines.append(_heading(page))
        lines.append(entry.line)
    return b"".join(lines)


def all_entries(identifiers: Iterable[Identifier], locate: Locate) -> tuple[Entry, ...]:
    """An entry for every identifier: the sidecar of an archive, which has no budget."""
    return tuple(Entry(i, *locate(i.offset)) for i in identifiers)


def _heading(page: int) -> bytes:
    return b"page %d\n" % page


def _queues(identifiers: Iterable[Identifier], locate: Locate) -> dict[str, list[Entry]]:
    """Entries of each kind, the next one last: pages in turn, on each the most valuable first."""
    pages: dict[tuple[str, int], list[Entry]] = defaultdict(list)
    for identifier in identifiers:
        entry = Entry(identifier, *locate(identifier.offset))
        pages[identifier.kind, entry.page].append(entry)
    ranked: dict[str, list[tuple[int, float, int, Entry]]] = defaultdict(list)
    for (kind, _), entries in pages.items():
        valued = sorted((-_worth(e.identifier), e.identifier.offset, e) for e in entries)
        for rank, (value, offset, entry) in enumerate(valued):
            ranked[kind].append((rank, value, offset, entry))
    return {
        kind: [entry for *_, entry in sorted(rows, key=lambda r: r[:3], reverse=True)]
        for kind, rows in ranked.items()
    }


def _worth(identifier: Identifier) -> float:
    """Value against others of its kind; twice the length must bring 1.4 times the value.

    By value alone one cached module path of 140 bytes took the share of five source files.
    """
    return identifier.value / sqrt(len(identifier.text))


def _parts(identifier: Identifier) -> set[bytes]:
    """What needs no line of its own beside `identifier`: it and the ends of a path."""
    parts = {identifier.text}
    if identifier.kind == "path":
        at = identifier.text.find(b"/")
        while at >= 0:
            parts.add(identifier.text[at:])
            parts.add(identifier.text[at + 1 :])
            at = identifier.text.find(b"/", at + 1)
    return parts
