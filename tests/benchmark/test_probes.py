"""Probes: planted where they say, graded by code, the same for the same seed."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from snapcompact.benchmark.probes import (
    ABSTAINED,
    CORRECT,
    UNKNOWN,
    WRONG,
    Probe,
    confusable,
    grade,
    grade_all,
    judge,
    parse_answers,
    plant_probes,
    questions_text,
)
from snapcompact.errors import UsageError
from snapcompact.fonts.atlas import load_atlas

ATLAS = load_atlas("8x16")
TEXT = b"\n".join(b"line %d of a transcript" % n for n in range(40))


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 2**32), each=st.integers(1, 16))
def test_answers_stand_in_the_text_and_traps_are_one_character_off(seed: int, each: int) -> None:
    probed = plant_probes(TEXT, ATLAS, seed=seed, each=each)
    assert probed == plant_probes(TEXT, ATLAS, seed=seed, each=each)
    text = probed.text.decode()
    assert [line for line in text.split("\n") if line.startswith("line ")] == TEXT.decode().split(
        "\n"
    )
    assert len({probe.question for probe in probed.probes}) == len(probed.probes) == 8 * each
    for probe in probed.probes:
        if probe.near_miss:
            assert text.count(probe.answer) == text.count(probe.near_miss) == 1
            pairs = zip(probe.answer, probe.near_miss, strict=True)
            assert sum(a != b for a, b in pairs) == 1
        if probe.kind == "never stated":
            assert probe.answer == UNKNOWN
            assert probe.question.removeprefix("What is the ").rstrip("?") not in text


def test_confusable_pairs_are_the_nearest_in_pixels() -> None:
    pairs = confusable(ATLAS)
    ink = ATLAS.bitmaps.astype(int)

    def apart(a: str, b: str) -> int:
        return int(abs(ink[ord(a)] - ink[ord(b)]).sum())

    for one, other in pairs.items():
        assert one != other
        assert apart(one, other) == min(apart(one, third) for third in pairs if third != one)


@pytest.mark.parametrize(
    ("kind", "answer", "said", "outcome"),
    [
        ("commit", "abc123", "abc123", CORRECT),
        ("commit", "abc123", "`abc123`.", CORRECT),
        ("commit", "abc123", "abc124", WRONG),
        ("commit", "abc123", "ABC123", WRONG),
        ("commit", "abc123", "unknown", ABSTAINED),
        ("commit", "abc123", "abc�23", ABSTAINED),
        ("commit", "abc123", "", ABSTAINED),
        ("never stated", UNKNOWN, "UNKNOWN", CORRECT),
        ("never stated", UNKNOWN, "48123", WRONG),
        ("gist", "green", "Green.", CORRECT),
        ("sum", "73211", "73,211", CORRECT),
    ],
)
def test_grades(kind: str, answer: str, said: str, outcome: str) -> None:
    assert grade(Probe(kind, "?", answer), said) == outcome


def test_answers_are_found_by_number() -> None:
    assert parse_answers("Sure:\n2: b\n 1. a \n4) d\n9: x", 4) == ["a", "b", "", "d"]
    probes = plant_probes(TEXT, ATLAS, seed=1).probes
    asked = questions_text(probes)
    assert all(f"{n}: {probe.question}" in asked for n, probe in enumerate(probes, 1))


def test_the_verdict_names_every_reason() -> None:
    gist, exact = Probe("gist", "?", "red"), Probe("commit", "?", "abc", "abd")
    good = grade_all([(gist, "red"), (exact, "abc")])
    bad = grade_all([(gist, "blue"), (exact, "abd")])
    assert bad.traps == 1
    assert judge(good, good, page_tokens=10, text_tokens=20).may_be_default
    assert len(judge(bad, good, page_tokens=30, text_tokens=20).reasons) == 3
    careful = grade_all([(gist, "red"), (exact, "UNKNOWN")])
    assert judge(careful, good, page_tokens=10, text_tokens=20).may_be_default


def test_too_many_probes_are_refused() -> None:
    with pytest.raises(UsageError, match="1 to 16"):
        plant_probes(TEXT, ATLAS, seed=1, each=17)
