"""What a script costs that the fit has no text of, told from the vocabulary.

    python bench/token_scripts.py TEXT --cache CACHE [--anthropic-wheel WHEEL]

A tokenizer that hardly knows a script spends what its letters cost alone; one that knows it well
has long pieces of it. So tokens a character are taken to be ``SCALE * alone / length ** POWER``:

- ``alone``: tokens a character of random words of the script's letters, the letters drawn by
  1/(4 + rank), ranked by how early the vocabulary has pieces with them;
- ``length``: mean characters of the vocabulary's pieces of the script, weighed by 1/(20 + rank).

No text of any language is looked at for it. The two constants were fitted over all families on the
scripts whose languages are fitted on (Greek, Cyrillic, Arabic, Devanagari, Bengali, Telugu, Thai,
Burmese), this form having the least error with one script left out at a time; the command above
fits them anew, and prints that error and those on the languages never seen.
"""

from __future__ import annotations

import argparse
import random
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from token_labels import CTOK, SPLINTR, Labeler, labeler, vocabulary
from token_text import UNSEEN, Corpus, is_held_out

SCALE = 1.08
POWER = 0.84
FIRST_CHAR, END_CHAR = 0x370, 0x2000
"""Alphabets of two and three bytes a character; those of one lead byte each behave as one."""
LETTERS = 30
"""Of a script are taken, the most common ones: no language uses all that its block has. With 20 to
40 the error with one script left out is the same."""
WORDS, WORD_CHARS = 2000, 5
LANGUAGES = {
    "GREEK": ("lang-el",),
    "CYRILLIC": ("lang-ru", "lang-uk", "lang-bg"),
    "HEBREW": ("lang-he",),
    "ARABIC": ("lang-ar", "lang-fa"),
    "DEVANAGARI": ("lang-hi",),
    "BENGALI": ("lang-bn",),
    "TAMIL": ("lang-ta",),
    "TELUGU": ("lang-te",),
    "THAI": ("lang-th",),
    "MYANMAR": ("lang-my",),
    "GEORGIAN": ("lang-ka",),
}
"""Kinds of text in each script; the constants are fitted on those that are not in UNSEEN."""


@dataclass(frozen=True, slots=True)
class Script:
    """What a family's vocabulary says of a script."""

    name: str
    points: tuple[int, ...]
    """Code points of its letters and marks, ascending."""
    alone: float
    length: float
    measured: float | None = None
    """Tokens a character of text that is fitted on; None where there is none."""

    @property
    def rate(self) -> float:
        """Tokens a character of text, without those that start at the blank before a word."""
        if self.measured is not None:
            return self.measured
        return float(SCALE * self.alone / self.length**POWER)


def alphabets() -> dict[str, tuple[int, ...]]:
    """Letters and marks of each script between FIRST_CHAR and END_CHAR, by the script's name."""
    found: dict[str, list[int]] = {}
    for point in range(FIRST_CHAR, END_CHAR):
        name = unicodedata.name(chr(point), "").split(" ")[0]
        if name and unicodedata.category(chr(point)) in ("Lo", "Ll", "Mn", "Mc"):
            found.setdefault(name, []).append(point)
    # Phonetic extensions and the like are no script of their own.
    return {name: tuple(points) for name, points in found.items() if name not in NO_SCRIPTS}


NO_SCRIPTS = ("LATIN", "COMBINING", "MODIFIER", "VEDIC")


def scripts(family: str, wheel: Path | None) -> tuple[Script, ...]:
    """Every script of :func:`alphabets` as the family's vocabulary knows it.

    None for ctok's families, which have no ranked vocabulary: their cells fall back as before.
    """
    if family in CTOK:
        return ()
    label = labeler(family, wheel)
    known = alphabets()
    script_of = {point: name for name, points in known.items() for point in points}
    pieces: dict[str, list[str]] = {name: [] for name in known}
    for piece in vocabulary(family, wheel):
        if piece and (name := script_of.get(ord(piece[0]))):
            pieces[name].append(piece)
    return tuple(
        Script(name, points, _alone(label, points, pieces[name]), _length(pieces[name]))
        for name, points in known.items()
    )


def scripts_of(corpus: Corpus) -> tuple[Script, ...]:
    """The scripts of the corpus's family, with what the text fitted on costs."""
    found = scripts(corpus.family, corpus.wheel)
    rates = dict(rates_of_text(corpus, held_in=True)) if found else {}
    return tuple(replace(script, measured=rates.get(script.name)) for script in found)


def _alone(label: Labeler, points: Sequence[int], pieces: Sequence[str]) -> float:
    weight = dict.fromkeys(map(chr, points), 0.0)
    for rank, piece in enumerate(pieces):
        for char in piece:
            if char in weight:
                weight[char] += 1 / (5 + rank)
    letters = sorted(weight, key=lambda c: (-weight[c], unicodedata.category(c)))[:LETTERS]
    shares = [1 / (4 + rank) for rank in range(len(letters))]
    draw = random.Random(1)
    words = ("".join(draw.choices(letters, shares, k=WORD_CHARS)) for _ in range(WORDS))
    text = unicodedata.normalize("NFC", " ".join(words))
    return rate_of(np.frombuffer(text.encode(), np.uint8), label(text))


def _length(pieces: Sequence[str]) -> float:
    if not pieces:
        return 1.0
    weights = 1 / (20.0 + np.arange(len(pieces)))
    return float(np.average([len(piece) for piece in pieces], weights=weights))


def rate_of(data: np.ndarray, labels: np.ndarray) -> float:
    """Tokens that start inside the non-ASCII characters of `data`, a character."""
    return float(labels[data >= 0x80].sum()) / max(1, int((data >= 0xC0).sum()))


def rates_of_text(corpus: Corpus, *, held_in: bool) -> Iterator[tuple[str, float]]:
    """(script, tokens a character) of each script's text, the fitted part of it or the unseen."""
    for name, kinds in LANGUAGES.items():
        if held_in == any(kind in UNSEEN for kind in kinds):
            continue
        paths = [p for kind in kinds for p in sorted((corpus.text / kind).glob("*.txt"))]
        paths = [path for path in paths if not held_in or not is_held_out(path)]
        if paths:
            data = [path.read_bytes() for path in paths]
            labels = np.concatenate([corpus.label(part) for part in data])
            yield name, rate_of(np.frombuffer(b"".join(data), np.uint8), labels)


Row = tuple[str, str, Script, float]


def fitted(rows: Sequence[Row]) -> tuple[float, float]:
    """SCALE and POWER of least squared error in the logarithm."""
    lengths = np.log([script.length for _, _, script, _ in rows])
    ratios = np.log([rate / script.alone for _, _, script, rate in rows])
    slope, offset = np.polyfit(lengths, ratios, 1)
    return float(np.exp(offset)), -float(slope)


def errors(rows: Sequence[Row], scale: float, power: float) -> np.ndarray:
    """Errors in percent."""
    guessed = [scale * script.alone / script.length**power for _, _, script, _ in rows]
    return 100 * (np.array(guessed) / [rate for *_, rate in rows] - 1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("text", type=Path)
    parser.add_argument("--cache", type=Path, required=True)
    parser.add_argument("--anthropic-wheel", type=Path)
    parser.add_argument("--family", action="append", choices=(*SPLINTR, "claude-legacy"))
    args = parser.parse_args()
    seen: list[Row] = []
    unseen: list[Row] = []
    for family in args.family or (*SPLINTR, "claude-legacy"):
        corpus = Corpus(args.text, args.cache, family, args.anthropic_wheel)
        by_name = {script.name: script for script in scripts(family, args.anthropic_wheel)}
        for rows, held_in in ((seen, True), (unseen, False)):
            found = rates_of_text(corpus, held_in=held_in)
            rows += [(family, name, by_name[name], rate) for name, rate in found]
    left_out = []
    for name in {row[1] for row in seen}:
        fit = fitted([row for row in seen if row[1] != name])
        left_out += list(errors([row for row in seen if row[1] == name], *fit))
    scale, power = fitted(seen)
    print(f"SCALE = {scale:.2f}, POWER = {power:.2f}")
    print(f"one script left out: root mean square {np.sqrt(np.mean(np.square(left_out))):.0f} %")
    for row, error in zip(unseen, errors(unseen, scale, power), strict=True):
        print(f"never seen: {row[0]} {row[1]} {error:+.0f} %")


if __name__ == "__main__":
    main()
