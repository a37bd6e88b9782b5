"""What reading met besides messages: damage, skipped records, dropped copies, facts of the file."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from snapcompact.errors import DamageError

if TYPE_CHECKING:
    from snapcompact.history.resume import Trail

FIRST_LINES = 5
"""Line numbers kept for each kind of damage."""

MOST_KINDS = 1000
"""Kinds counted apart; all further ones count as OTHERS."""

OTHERS = "others"
KIND_CHARACTERS = 100
MOST_BRANCHES = 10_000
"""Branches named; further ones are still read and counted as skipped records."""

DAMAGE = {
    "bad-line": "a line that is no JSON, dropped",
    "control-character": "a raw control character inside a JSON string, kept",
    "cut-stream": "compressed data that ends or breaks early, the rest is missing",
    "deep-nesting": "a line nested too deeply to parse, dropped",
    "huge-number": "a number too large for any JSON reader, kept as text",
    "invalid-utf8": "bytes that are no UTF-8, kept as they stand",
    "joined-records": "several records on one line, each whole one read",
    "line-too-long": "a line over the size limit, dropped",
    "lone-surrogate": "half of a surrogate pair, kept",
    "not-an-object": "a line that is JSON but no record, dropped",
    "not-finite": "NaN or Infinity, which JSON lacks, kept",
    "nul-bytes": "NUL bytes around or instead of a line, ignored",
    "torn-tail": "a last line that was cut off, dropped",
}
"""Every kind of damage and what becomes of it."""


@dataclass(slots=True)
class DamageReport:
    """Damage by kind (see DAMAGE), with the first lines where each was met.

    With `strict`, the first damage raises DamageError instead, naming file and line.
    """

    name: str = ""
    strict: bool = False
    counts: Counter[str] = field(default_factory=Counter)
    lines: dict[str, list[int]] = field(default_factory=dict)

    def add(self, kind: str, line: int) -> None:
        """Count one damage of `kind` at `line` (from 1, 0 where lines mean nothing)."""
        if self.strict:
            raise DamageError(f"{self.name}, line {line}: {DAMAGE[kind]} (refused: strict)")
        self.counts[kind] += 1
        first = self.lines.setdefault(kind, [])
        if len(first) < FIRST_LINES:
            first.append(line)

    @property
    def total(self) -> int:
        """All damages counted."""
        return sum(self.counts.values())


class Tally(Counter[str]):
    """Counts by kind, of at most MOST_KINDS kinds: files name kinds, and may be hostile."""

    def __missing__(self, kind: str) -> int:
        return self[kind[:KIND_CHARACTERS]] if len(kind) > KIND_CHARACTERS else 0

    def __setitem__(self, kind: str, count: int) -> None:
        kind = kind[:KIND_CHARACTERS]
        if kind not in self and len(self) >= MOST_KINDS:
            kind, count = OTHERS, self[OTHERS] + count
        super().__setitem__(kind, count)


@dataclass(slots=True)
class Report:
    """All that one reading of a session has to say beside its messages; whole once it has ended.

    `skipped` counts bookkeeping records by kind, `duplicates` copies that were dropped by kind,
    `info` holds facts of the session (``id``, ``title``, ``cwd``, ``version``, ``model``),
    `branches` the ids of branch leaves other than the active one, `notes` remarks for a person.
    `trail` is there where the reader shall say how a later reading can go on.
    """

    damage: DamageReport = field(default_factory=DamageReport)
    skipped: Counter[str] = field(default_factory=Tally)
    duplicates: Counter[str] = field(default_factory=Tally)
    info: dict[str, str] = field(default_factory=dict)
    branches: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    trail: Trail | None = None

    def learn(self, key: str, value: object) -> None:
        """Keep the first non-empty text `value` for `key`."""
        if isinstance(value, str) and value:
            self.info.setdefault(key, value)
