"""What reading met besides messages."""

from __future__ import annotations

import pytest

from snapcompact.errors import DamageError
from snapcompact.history.report import (
    DAMAGE,
    KIND_CHARACTERS,
    MOST_KINDS,
    OTHERS,
    DamageReport,
    Report,
)


@pytest.mark.parametrize("kind", sorted(DAMAGE))
def test_strict_says_what_became_of_each_kind(kind: str) -> None:
    with pytest.raises(DamageError, match=r"a\.jsonl, line 7: .*\(refused: strict\)"):
        DamageReport("a.jsonl", strict=True).add(kind, 7)
    lenient = DamageReport("a.jsonl")
    lenient.add(kind, 7)
    assert (lenient.total, lenient.lines) == (1, {kind: [7]})


def test_a_hostile_file_names_only_so_many_kinds() -> None:
    report = Report()
    for number in range(MOST_KINDS + 50):
        report.skipped[f"kind {number}"] += 1
    report.skipped["kind 3"] += 1
    report.skipped["x" * 10_000] += 2
    assert len(report.skipped) == MOST_KINDS + 1
    assert report.skipped[OTHERS] == 52
    assert report.skipped["kind 3"] == 2
    long = Report()
    long.duplicates["y" * 10_000] += 1
    long.duplicates["y" * 10_000] += 1
    assert long.duplicates == {"y" * KIND_CHARACTERS: 2}


def test_facts_are_learned_once() -> None:
    report = Report()
    for value in (None, 5, "", "first", "second"):
        report.learn("title", value)
    assert report.info == {"title": "first"}
