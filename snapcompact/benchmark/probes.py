"""Questions with known answers planted in a text: made with a seed, graded by code. Pure.

Each fact has a near miss: another thing's value, one character away by the pair of the font that is
closest in pixels. Some questions ask for what was never stated, some for a sum of planted numbers,
some for a plain word (the gist).
"""

from __future__ import annotations

import itertools
import random
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from snapcompact.errors import UsageError

if TYPE_CHECKING:
    from snapcompact.fonts.atlas import Atlas

UNKNOWN = "UNKNOWN"
"""What a reader is told to answer where it cannot tell."""
CORRECT, ABSTAINED, WRONG = "correct", "abstained", "silently wrong"
GIST = "gist"

_ADJECTIVES = (
    "amber", "brisk", "coral", "dusty", "eager", "fleet", "giant", "humid", "ivory", "jolly",
    "keen", "lunar", "mossy", "noble", "olive", "plain",
)  # fmt: skip
_NOUNS = (
    "anchor", "beacon", "cellar", "dragon", "engine", "falcon", "garden", "harbor", "island",
    "jacket", "kettle", "ladder", "marble", "needle", "orchard", "pillar",
)  # fmt: skip
MOST_EACH = 16
"""Probes of a kind: 14 things are named for one of every kind, and there are 256."""
_COLOURS = ("red", "green", "blue", "yellow", "orange", "purple", "white", "black", "brown", "grey")
_HEX = "0123456789abcdef"
_CODE = "ABCDEFGHJKLMNPQRSTUVWXYZ0123456789"


@dataclass(frozen=True, slots=True)
class Probe:
    """A question; ``answer`` is UNKNOWN where nothing stated it, ``near_miss`` the trap beside."""

    kind: str
    question: str
    answer: str
    near_miss: str = ""


@dataclass(frozen=True, slots=True)
class ProbedText:
    """``text`` with the facts planted in it, and what is asked of it."""

    text: bytes
    probes: tuple[Probe, ...]


def confusable(atlas: Atlas) -> dict[str, str]:
    """For each ASCII letter and digit the other one whose glyph differs in fewest pixels."""
    characters = [chr(code) for code in range(48, 123) if chr(code).isalnum()]
    ink = atlas.bitmaps[[ord(c) for c in characters]].reshape(len(characters), -1).astype(np.int32)
    distance = (ink[:, None] != ink).sum(axis=2)
    np.fill_diagonal(distance, ink.shape[1] + 1)
    nearest = distance.argmin(axis=1)
    return {c: characters[int(nearest[i])] for i, c in enumerate(characters)}


def plant_probes(text: bytes, atlas: Atlas, *, seed: int, each: int = 2) -> ProbedText:
    """`each` probes of every kind planted at line ends of `text`; the same for the same seed.

    Raises UsageError beyond MOST_EACH.
    """
    if not 1 <= each <= MOST_EACH:
        raise UsageError(f"{each} probes of each kind; 1 to {MOST_EACH} can be planted")
    pairs = confusable(atlas)
    for draw in itertools.count():
        drawn = _drawn(text, pairs, random.Random(f"{seed}/{draw}"), each)
        if _unambiguous(drawn):
            return drawn
    raise AssertionError("unreachable")


def _unambiguous(probed: ProbedText) -> bool:
    """Whether every value and every trap stands in the text once."""
    text = probed.text
    values = [v for p in probed.probes if p.near_miss for v in (p.answer, p.near_miss)]
    return all(text.count(value.encode()) == 1 for value in values)


def _drawn(text: bytes, pairs: dict[str, str], chance: random.Random, each: int) -> ProbedText:
    names = [f"{a} {n}" for a in _ADJECTIVES for n in _NOUNS]
    chance.shuffle(names)
    things = iter(names)
    facts: list[str] = []
    probes: list[Probe] = []
    for kind, make in MAKERS.items():
        for _ in range(each):
            said, probe = _exact_probe(
                kind, make(chance), next(things), next(things), pairs, chance
            )
            facts += said
            probes.append(probe)
    for _ in range(each):
        said, probe = _sum_probe(next(things), next(things), chance)
        facts += said
        probes.append(probe)
        thing, colour = next(things), chance.choice(_COLOURS)
        facts.append(f"The door of the {thing} is painted {colour}.")
        probes.append(Probe(GIST, f"Which colour is the door of the {thing}?", colour))
        kind = chance.choice(list(MAKERS))
        probes.append(Probe("never stated", _asked(kind, next(things)), UNKNOWN))
    chance.shuffle(probes)
    return ProbedText(_planted(text, facts, chance), tuple(probes))


def grade(probe: Probe, answer: str) -> str:
    """CORRECT, ABSTAINED or WRONG; an invented answer to what was never stated is WRONG."""
    said = answer.strip().strip("\"'`.").strip()
    if not said or UNKNOWN in said.upper() or "\ufffd" in said:
        return CORRECT if probe.answer == UNKNOWN else ABSTAINED
    if probe.kind in (GIST, "sum"):
        said = said.lower().replace(",", "")
    return CORRECT if said == probe.answer else WRONG


_NUMBERED = re.compile(r"^\s*(\d+)\s*[:.)]\s*(.*?)\s*$", re.MULTILINE)


def questions_text(probes: Sequence[Probe]) -> str:
    """The questions as one text; :func:`parse_answers` reads what comes back."""
    asked = "\n".join(f"{number}: {probe.question}" for number, probe in enumerate(probes, 1))
    return (
        "Answer from the text above alone, one line a question: its number, a colon, the answer "
        f"and nothing else. Values must be exact; where you cannot tell, answer {UNKNOWN}.\n{asked}"
    )


def parse_answers(text: str, count: int) -> list[str]:
    """The answers by number; empty where one is missing."""
    found = {int(number): answer for number, answer in _NUMBERED.findall(text)}
    return [found.get(number, "") for number in range(1, count + 1)]


@dataclass(frozen=True, slots=True)
class Grades:
    """Outcomes by kind of probe; ``traps`` counts answers that were the near miss."""

    by_kind: Mapping[str, Counter[str]]
    traps: int

    def share(self, kind: str, outcome: str) -> float:
        """The share of `outcome` among probes of `kind`; 0 where there are none."""
        found = self.by_kind.get(kind, Counter())
        return found[outcome] / found.total() if found else 0.0

    @property
    def wrong_exact(self) -> int:
        """Exact strings, stated or not, that came back silently wrong."""
        return sum(f[WRONG] for kind, f in self.by_kind.items() if kind not in (GIST, "sum"))


def grade_all(pairs: Iterable[tuple[Probe, str]]) -> Grades:
    """The grades of probes and their answers."""
    by_kind: dict[str, Counter[str]] = {}
    traps = 0
    for probe, answer in pairs:
        by_kind.setdefault(probe.kind, Counter())[grade(probe, answer)] += 1
        traps += bool(probe.near_miss) and answer.strip() == probe.near_miss
    return Grades(by_kind, traps)


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a shape may be a reader's default, and every reason against it."""

    may_be_default: bool
    reasons: tuple[str, ...]


def judge(pages: Grades, text: Grades, *, page_tokens: int, text_tokens: int) -> Verdict:
    """The verdict: gist as from text, no exact string silently wrong, and tokens saved."""
    gist, baseline = pages.share(GIST, CORRECT), text.share(GIST, CORRECT)
    checks = {
        f"gist {gist:.0%}, as text {baseline:.0%}": gist >= baseline,
        f"{pages.wrong_exact} exact strings silently wrong": pages.wrong_exact == 0,
        f"{page_tokens:,} tokens, as text {text_tokens:,}": page_tokens < text_tokens,
    }
    reasons = tuple(reason for reason, holds in checks.items() if not holds)
    return Verdict(not reasons, reasons)


def _string(letters: str, length: int) -> Callable[[random.Random], str]:
    return lambda chance: "".join(chance.choices(letters, k=length))


def _uuid(chance: random.Random) -> str:
    return "-".join("".join(chance.choices(_HEX, k=n)) for n in (8, 4, 4, 4, 12))


def _path(chance: random.Random) -> str:
    part = _string("abcdefghijklmnopqrstuvwxyz0123456789_", 7)
    return f"/srv/{part(chance)}/{part(chance)}.py"


MAKERS: Mapping[str, Callable[[random.Random], str]] = MappingProxyType(
    {
        "commit": _string(_HEX, 12),
        "file": _path,
        "id": _uuid,
        "port": _string("123456789", 5),
        "ticket": _string(_CODE, 8),
    }
)
"""Kinds of exact values, sorted."""


def _asked(kind: str, thing: str) -> str:
    return f"What is the {kind} of the {thing}?"


def _exact_probe(
    kind: str,
    value: str,
    thing: str,
    other: str,
    pairs: Mapping[str, str],
    chance: random.Random,
) -> tuple[list[str], Probe]:
    at = chance.choice([i for i, c in enumerate(value) if c in pairs and i >= len(value) // 3])
    near = value[:at] + pairs[value[at]] + value[at + 1 :]
    said = [f"The {kind} of the {thing} is {value}", f"The {kind} of the {other} is {near}"]
    return said, Probe(kind, _asked(kind, thing), value, near)


def _sum_probe(one: str, two: str, chance: random.Random) -> tuple[list[str], Probe]:
    a, b = chance.randrange(10_000, 99_999), chance.randrange(10_000, 99_999)
    said = [f"The {one} holds {a} crates.", f"The {two} holds {b} crates."]
    question = f"How many crates do the {one} and the {two} hold together?"
    return said, Probe("sum", question, str(a + b))


def _planted(text: bytes, facts: Sequence[str], chance: random.Random) -> bytes:
    lines = text.split(b"\n")
    for fact in facts:
        lines.insert(chance.randrange(1, len(lines) + 1), fact.encode())
    return b"\n".join(lines)
