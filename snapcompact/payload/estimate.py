"""The estimate of a session: where its tokens are, and what its pages cost each model.

One pass over the messages; nothing is held but the counters, and nothing is drawn but a few sample
pages for the size of the files.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

from snapcompact.fonts.load import font_names
from snapcompact.pages.count import PageCounter
from snapcompact.pages.coverage import AUTO, Choice, choose_shape
from snapcompact.pages.shape import parse_shape
from snapcompact.pages.typeset import typeset
from snapcompact.payload.census import Census, CensusTaker
from snapcompact.payload.guide import guide
from snapcompact.payload.worth import Worth, judge
from snapcompact.tokens.estimate import TokenCounter, estimate_tokens, tokens_of_parts
from snapcompact.transcript.sample import Sampler
from snapcompact.transcript.write import write_transcript

if TYPE_CHECKING:
    from snapcompact.fonts.atlas import Atlas
    from snapcompact.history.model import Message
    from snapcompact.pages.shape import Shape
    from snapcompact.providers.catalog import Match

_CONTINUATION = bytes(range(0x80, 0xC0))
BATCH_BYTES = 1 << 18
"""Transcript counted at once: a message's is a few hundred bytes, and each counter's call costs as
much as these (measured: a sixth of the whole)."""


@dataclass(frozen=True, slots=True)
class ModelEstimate:
    """What the transcript costs one model, as text and as pages of each shape."""

    match: Match
    text_tokens: int
    shapes: tuple[Worth, ...]
    choice: Choice | None = None
    """Which of the model's shapes the text chose, where it was asked to."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """The result. The census counts for the first model; the transcript is what pages show."""

    census: Census
    transcript_bytes: int
    characters: int
    models: tuple[ModelEstimate, ...]


def estimate(
    messages: Iterable[Message],
    models: Sequence[Match],
    shapes: Sequence[str] = (),
    fallback: Sequence[str] = (),
) -> Estimate:
    """The estimate of `messages` for each of `models`, one or more.

    `shapes` name shapes to judge instead of each model's own; ``auto`` is the first of its own
    whose font draws the text. `fallback` fonts, by name or path, draw what a shape's own lacks.
    Page counts equal those of a real run. Raises UnknownNameError for a shape or font that is none.
    """
    first = models[0].model
    taker = CensusTaker(lambda d, c: list(tokens_of_parts(d, c, first.tokenizer)), first)
    wanted = {match.id: _wanted(match, shapes) for match in models}
    counters = {family: TokenCounter(family) for family in {m.model.tokenizer for m in models}}
    pagers = {
        name: PageCounter(*typeset(shape, fallback=fallback))
        for name in dict.fromkeys(name for names in wanted.values() for name in names)
        for shape in (parse_shape(name),)
    }
    sampler = Sampler() if AUTO in shapes else None
    size = chars = 0
    for piece in gathered(write_transcript(_seen_by(taker, messages)), BATCH_BYTES):
        size += len(piece)
        chars += len(piece.translate(None, _CONTINUATION))
        for counter in counters.values():
            counter.feed(piece)
        for pager in pagers.values():
            pager.feed(piece)
        if sampler is not None:
            sampler.feed(piece)
    sample = None if sampler is None else b"".join(sampler.result())
    pages = {name: pager.result() for name, pager in pagers.items()}
    tokens = {family: round(counter.total) for family, counter in counters.items()}
    estimates = []
    for match in models:
        text = tokens[match.model.tokenizer]
        choice = None if sample is None else _chosen(match, sample, fallback)
        judged = tuple(
            judge(
                match.model,
                shape,
                pages[name],
                chars=chars,
                text_tokens=text,
                guide_tokens=estimate_tokens(guide(shape, "exact").encode(), match.model.tokenizer),
            )
            for name in wanted[match.id]
            for shape in (parse_shape(name),)
            if choice is None or shape == choice.shape or name in shapes
        )
        estimates.append(ModelEstimate(match, text, judged, choice))
    return Estimate(taker.result(), size, chars, tuple(estimates))


def gathered(pieces: Iterable[bytes], size: int) -> Iterator[bytes]:
    """The text of `pieces` in fewer pieces, of `size` bytes or more but for the last."""
    held: list[bytes] = []
    length = 0
    for piece in pieces:
        held.append(piece)
        length += len(piece)
        if length >= size:
            yield b"".join(held)
            held.clear()
            length = 0
    if held:
        yield b"".join(held)


def _wanted(match: Match, shapes: Sequence[str]) -> tuple[str, ...]:
    """Names of the shapes to count for a model; of those ``auto`` chooses from, all."""
    own = _own_shapes(match)
    named = (own if name == AUTO else (name,) for name in shapes)
    return tuple(dict.fromkeys(chain.from_iterable(named))) if shapes else own


def _chosen(match: Match, sample: bytes, fallback: Sequence[str]) -> Choice | None:
    own = [parse_shape(name) for name in _own_shapes(match)]

    def load(shape: Shape) -> Atlas:
        return typeset(shape, fallback=fallback)[1].cover(sample)

    return choose_shape(sample, own, load) if own else None


def _own_shapes(match: Match) -> tuple[str, ...]:
    """The model's shapes whose font is shipped; none for a model that takes no images."""
    if not match.model.vision:
        return ()
    shipped = font_names()
    return tuple(name for name in match.model.shapes if parse_shape(name).font in shipped)


def _seen_by(taker: CensusTaker, messages: Iterable[Message]) -> Iterable[Message]:
    for message in messages:
        taker.add(message)
        yield message
