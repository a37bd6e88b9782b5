"""Probes asked of a vision model, over pages and over the same text as text, and the verdict."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from snapcompact.archive.guide import guide
from snapcompact.benchmark.probes import (
    Grades,
    ProbedText,
    grade_all,
    judge,
    parse_answers,
    plant_probes,
    questions_text,
)
from snapcompact.errors import PartialResultError
from snapcompact.llm.contract import Picture, Request, user
from snapcompact.pages.cells import paginate
from snapcompact.pages.pipeline import render_page
from snapcompact.providers.price import image_price
from snapcompact.readback.answers import answer_key
from snapcompact.readback.spend import Bill, usd
from snapcompact.tokens import estimate_tokens

if TYPE_CHECKING:
    from snapcompact.fonts.atlas import Atlas
    from snapcompact.llm.contract import Part
    from snapcompact.pages.shape import Shape
    from snapcompact.readback.vision import VisionReader

Json = dict[str, Any]
ANSWER_TOKENS = 4096
_EVERY_GLYPH = range(1 << 16)


def run_probes(
    reader: VisionReader, text: bytes, shape: Shape, atlas: Atlas, *, seed: int, each: int
) -> Json:
    """Grades over pages of `shape` and over text, and the verdict, as JSON values.

    Raises ModelError, and PartialResultError where the spend limit is reached.
    """
    probed = plant_probes(text, atlas, seed=seed, each=each)
    model = reader.found.model
    words = guide(shape, _EVERY_GLYPH)
    pages = [render_page(page, shape, atlas) for page in paginate([probed.text], shape, atlas)]
    pictures = [Picture("image/png", page.png, model.detail) for page in pages]
    text_tokens = estimate_tokens(probed.text, model.tokenizer)
    page_tokens = estimate_tokens(words.encode(), model.tokenizer) + sum(
        image_price(model, shape.page_width, page.height).high_tokens for page in pages
    )
    over_pages = _ask(reader, [words, *pictures], probed, page_tokens)
    whole = probed.text.decode("utf-8", "replace")
    over_text = _ask(reader, [whole], probed, text_tokens)
    verdict = judge(over_pages, over_text, page_tokens=page_tokens, text_tokens=text_tokens)
    return {
        "shape": shape.name,
        "reader": reader.name,
        "probes": len(probed.probes),
        "pages": _figures(over_pages),
        "text": _figures(over_text),
        "page_tokens": page_tokens,
        "text_tokens": text_tokens,
        "verdict": asdict(verdict),
    }


def _ask(reader: VisionReader, given: list[Part], probed: ProbedText, tokens: int) -> Grades:
    """The grades of the model's answers about `given`; an answer kept before is used again."""
    asked = questions_text(probed.probes)
    parts = [part.encode() if isinstance(part, str) else part.data for part in given]
    key = answer_key(reader.model.encode(), asked.encode(), *parts)
    kept = reader.answers.get(key)
    if kept is None:
        if reader.client is None:
            raise PartialResultError(f"{reader.name}: no answer to these probes is kept")
        bill = _bill(reader, tokens + estimate_tokens(asked.encode(), reader.found.model.tokenizer))
        if not reader.budget.set_aside(bill):
            raise PartialResultError(f"{reader.name}: probes not asked: the spend limit is reached")
        turn = user(asked)
        turn = type(turn)(turn.role, (*given, *turn.parts))
        kept = reader.client.complete(Request((turn,), max_tokens=ANSWER_TOKENS))
        reader.answers.put(key, "probes", kept)
        reader.budget.settle(bill, kept.usage)
    answers = parse_answers(kept.text, len(probed.probes))
    return grade_all(zip(probed.probes, answers, strict=True))


def _bill(reader: VisionReader, tokens: int) -> Bill:
    return Bill(1, tokens, ANSWER_TOKENS, usd(reader.found, tokens, ANSWER_TOKENS))


def _figures(grades: Grades) -> Json:
    return {
        "by_kind": {kind: dict(found) for kind, found in sorted(grades.by_kind.items())},
        "wrong_exact": grades.wrong_exact,
        "near_misses_taken": grades.traps,
    }
