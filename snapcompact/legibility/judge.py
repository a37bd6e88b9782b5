"""All shapes of a session judged for a model, in one pass over its transcript."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from snapcompact.errors import UnknownNameError, UsageError
from snapcompact.fonts.atlas import load_atlas
from snapcompact.legibility.choice import pareto
from snapcompact.legibility.downscale import FILTERS
from snapcompact.legibility.eye import eye_of
from snapcompact.legibility.score import Score, Sight, misread_chances, score
from snapcompact.pages.count import PageCounter
from snapcompact.pages.coverage import Coverage, text_coverage
from snapcompact.providers.price import image_price, seen_size
from snapcompact.transcript.identifiers import find_identifiers
from snapcompact.transcript.sample import Sampler

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from snapcompact.pages.count import PageCount
    from snapcompact.pages.shape import Shape
    from snapcompact.providers.rows import Model
    from snapcompact.transcript.identifiers import Identifier

AT_RISK = 0.05
"""An identifier is at risk where it is misread more often than once in twenty."""
TOP_RISKS = 10


@dataclass(frozen=True, slots=True)
class Risk:
    """An identifier and the chance that it is not read exactly."""

    identifier: Identifier
    chance: float


@dataclass(frozen=True, slots=True)
class Judged:
    """One shape: its score, pages, tokens at both ends of the price, and what is at risk.

    ``identifiers_right`` is the expected share of the text's identifiers that are read exactly;
    ``risks`` are those read worst; ``best`` marks the Pareto front of dear tokens and CER.
    """

    score: Score
    pages: int
    low_tokens: int
    high_tokens: int
    whole: bool
    coverage: Coverage
    identifiers_right: float
    identifiers_at_risk: int
    risks: tuple[Risk, ...]
    best: bool


@dataclass(frozen=True, slots=True)
class Judgement:
    """The shapes of a text, cheapest first."""

    transcript_bytes: int
    sample_bytes: int
    identifiers: int
    shapes: tuple[Judged, ...]


def judge(
    text: Iterable[bytes],
    shapes: Sequence[Shape],
    model: Model,
    *,
    how: str = "lanczos",
    jpeg: int = 0,
) -> Judgement:
    """The judgement of `shapes`, one or more, for a transcript that `text` gives in pieces.

    Memory is that of the sample and of the identifiers (``identifiers.MOST_KEPT``). Raises
    UsageError where `model` takes no images or a font does not fit, UnknownNameError for `how`.
    """
    if how not in FILTERS:
        raise UnknownNameError(f"unknown downscale {how!r}; known are {', '.join(FILTERS)}")
    if not model.vision:
        raise UsageError(f"{model.name} takes no images: no page is read by it")
    sampler = Sampler()
    counters = [PageCounter(shape, load_atlas(shape.font)) for shape in shapes]
    size = 0

    def watched() -> Iterator[bytes]:
        nonlocal size
        for piece in text:
            size += len(piece)
            sampler.feed(piece)
            for counter in counters:
                counter.feed(piece)
            yield piece

    identifiers = find_identifiers(_whole_lines(watched()))
    sample = sampler.result()
    judged = [
        _judged(shape, counter.result(), sample, identifiers, (model, how, jpeg))
        for shape, counter in zip(shapes, counters, strict=True)
    ]
    front = pareto([(one.high_tokens, one.score.cer.value) for one in judged])
    marked = [replace(one, best=best) for one, best in zip(judged, front, strict=True)]
    marked.sort(key=lambda one: (one.high_tokens, one.score.cer.value))
    return Judgement(size, sum(map(len, sample)), len(identifiers), tuple(marked))


def _judged(
    shape: Shape,
    count: PageCount,
    sample: Sequence[bytes],
    identifiers: Sequence[Identifier],
    sent: tuple[Model, str, int],
) -> Judged:
    model, how, jpeg = sent
    atlas = load_atlas(shape.font)
    seen = seen_size(model, shape.page_width, shape.grid_rows * shape.pitch_height)
    scored = score(sample, shape, atlas, Sight(seen, eye_of(model.name), how, jpeg))
    chances = misread_chances([one.text for one in identifiers], scored.ascii_rates)
    worst = np.argsort(-chances, kind="stable")[:TOP_RISKS].tolist()
    prices = [
        (number, image_price(model, shape.page_width, height))
        for height, number in count.heights_px
    ]
    return Judged(
        score=scored,
        pages=count.pages,
        low_tokens=sum(number * price.low_tokens for number, price in prices),
        high_tokens=sum(number * price.high_tokens for number, price in prices),
        whole=all(price.whole for _, price in prices),
        coverage=sum((text_coverage(block, atlas) for block in sample), Coverage(0, 0)),
        identifiers_right=1 - float(chances.sum()) / max(chances.size, 1),
        identifiers_at_risk=int((chances > AT_RISK).sum()),
        risks=tuple(Risk(identifiers[at], float(chances[at])) for at in worst),
        best=False,
    )


def _whole_lines(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """The same text, each piece but the last ending with a line end."""
    rest = b""
    for piece in pieces:
        text = rest + piece
        end = text.rfind(b"\n") + 1
        rest = text[end:]
        if end:
            yield text[:end]
    if rest:
        yield rest
