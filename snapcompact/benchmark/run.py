"""The ratio benchmark: how much text a page and a token hold, how fast, and how well it is read.

The result is plain JSON values (``SCHEMA`` says which); reports and comparisons start from it.
"""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from snapcompact.archive.choose import chosen_by
from snapcompact.benchmark.pareto import mark_front
from snapcompact.benchmark.probing import run_probes
from snapcompact.benchmark.sample import KeptPage, Printed, print_sessions
from snapcompact.history.session import open_session
from snapcompact.legibility.eye import eye_of
from snapcompact.legibility.score import Sight, score
from snapcompact.pages.coverage import AUTO
from snapcompact.pages.shape import parse_shape
from snapcompact.providers.catalog import match, user_catalog
from snapcompact.providers.price import image_price, seen_size
from snapcompact.readback.reader import read_pages
from snapcompact.readback.score import (
    Exact,
    PageScore,
    Tally,
    add_scores,
    interval,
    score_page,
)
from snapcompact.readback.vision import VisionReader
from snapcompact.tokens import TokenCounter
from snapcompact.transcript.write import write_transcript

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from snapcompact.providers.catalog import Match
    from snapcompact.readback.reader import Reader

SCHEMA = 1
"""Of the JSON: raised when a key changes its meaning."""
DEFAULT_MODELS = ("claude-4.7", "gpt-5.4", "gemini-3")
CONFUSIONS = 40
"""Pairs listed a reading, the commonest first."""

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class BenchOptions:
    """What is measured. The same seed draws the same pages; shape ``auto`` the text chooses."""

    shapes: tuple[str, ...]
    models: tuple[str, ...] = DEFAULT_MODELS
    sample: int = 8
    seed: int = 0
    probes: int = 0
    """Of each kind, asked of vision readers; 0 asks none."""


@dataclass(frozen=True, slots=True, eq=False)
class ReadPage:
    """A page of the sample as one reader read it."""

    page: KeptPage
    score: PageScore


@dataclass(frozen=True, slots=True, eq=False)
class BenchResult:
    """``data`` is the JSON; ``pages`` are the pages read, by (shape, reader), for the report."""

    data: Json
    pages: Mapping[tuple[str, str], tuple[ReadPage, ...]]


def run_bench(
    paths: Sequence[Path],
    options: BenchOptions,
    readers: Sequence[Reader],
    *,
    tell: Callable[[str], None] = lambda line: None,
) -> BenchResult:
    """The benchmark of the sessions at `paths`; `tell` hears what is being done."""
    catalog = user_catalog()
    models = [match(catalog, name) for name in options.models]
    texts = _text_tokens(paths, models)
    if AUTO in options.shapes:
        choice = chosen_by(_transcripts(paths))
        tell(choice.reason)
        named = (choice.shape.name if name == AUTO else name for name in options.shapes)
        options = replace(options, shapes=tuple(dict.fromkeys(named)))
    shapes: list[Json] = []
    readings: list[Json] = []
    probed: list[Json] = []
    pages: dict[tuple[str, str], tuple[ReadPage, ...]] = {}
    for name in options.shapes:
        shape = parse_shape(name)
        tell(f"printing {shape.name}")
        printed = print_sessions(paths, shape, options.sample, options.seed)
        shapes.append(_shape_figures(printed, models, texts))
        for reader in readers:
            tell(f"reading {len(printed.sample)} pages of {shape.name} with {reader.name}")
            read, figures = _read(printed, reader)
            pages[shape.name, reader.name] = read
            readings.append(figures)
            if options.probes and isinstance(reader, VisionReader) and printed.sample:
                tell(f"probing {reader.name} on {shape.name}")
                probed.append(_probe(printed.sample[0], reader, options))
    data = {
        "schema": SCHEMA,
        "tool": version("snapcompact"),
        "made": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": machine(),
        "sample": options.sample,
        "seed": options.seed,
        "sessions": [{"name": path.name, "bytes": path.stat().st_size} for path in paths],
        "text_tokens": {found.id: round(texts[found.model.tokenizer]) for found in models},
        "shapes": shapes,
        "readings": readings,
        "probes": probed,
    }
    mark_front(data)
    return BenchResult(data, pages)


def _transcripts(paths: Sequence[Path]) -> Iterator[bytes]:
    for path in paths:
        with open_session(path) as session:
            yield from write_transcript(session.messages())


def _probe(page: KeptPage, reader: VisionReader, options: BenchOptions) -> Json:
    """Probes planted in the text of `page`."""
    shape, atlas = page.picture.shape, page.picture.atlas
    text = "".join(page.truth.rows).encode("utf-8", "replace")
    return run_probes(reader, text, shape, atlas, seed=options.seed, each=options.probes)


def machine() -> Json:
    """What the figures were measured on."""
    return {
        "system": f"{platform.system()} {platform.release()}",
        "processor": platform.machine(),
        "cores": len(os.sched_getaffinity(0)),
        "load": round(os.getloadavg()[0], 1),
        "python": platform.python_version(),
    }


def _text_tokens(paths: Sequence[Path], models: Sequence[Match]) -> dict[str, float]:
    """Tokens of all transcripts as text, by tokenizer family."""
    counters = {family: TokenCounter(family) for family in {m.model.tokenizer for m in models}}
    for path in paths:
        with open_session(path) as session:
            for piece in write_transcript(session.messages()):
                for counter in counters.values():
                    counter.feed(piece)
    return {family: counter.total for family, counter in counters.items()}


def _shape_figures(printed: Printed, models: Sequence[Match], texts: Mapping[str, float]) -> Json:
    return {
        "shape": printed.shape.name,
        "pages": printed.pages,
        "characters": printed.characters,
        "characters_per_page": printed.characters / max(printed.pages, 1),
        "png_bytes": printed.png_bytes,
        "png_bytes_per_character": printed.png_bytes / max(printed.characters, 1),
        "print_seconds": printed.seconds,
        "print_mb_per_second": printed.text_bytes / 1e6 / max(printed.seconds, 1e-9),
        "models": [_model_figures(printed, found, texts) for found in models],
    }


def _model_figures(printed: Printed, found: Match, texts: Mapping[str, float]) -> Json:
    low = high = 0
    whole = True
    for height, count in printed.heights_px.items():
        price = image_price(found.model, printed.shape.page_width, height)
        low, high = low + count * price.low_tokens, high + count * price.high_tokens
        whole = whole and price.whole
    return {
        "model": found.id,
        "low_tokens": low,
        "high_tokens": high,
        "characters_per_token": printed.characters / high if high else None,
        "times_fewer_tokens": texts[found.model.tokenizer] / high if high else None,
        "pixels_arrive": whole,
        "predicted_cer": _predicted_cer(printed, found) if found.model.vision else None,
    }


def _predicted_cer(printed: Printed, found: Match) -> Json | None:
    """What the model's eye gives for the sample's text (legibility/), beside what is measured."""
    if not printed.sample:
        return None
    shape = printed.shape
    texts = ["".join(page.truth.rows).encode("utf-8", "replace") for page in printed.sample]
    seen = seen_size(found.model, shape.page_width, shape.grid_rows * shape.pitch_height)
    sight = Sight(seen, eye_of(found.model.name))
    cer = score(texts, shape, printed.sample[0].picture.atlas, sight).cer
    return {"value": cer.value, "low": cer.low, "high": cer.high}


def _read(printed: Printed, reader: Reader) -> tuple[tuple[ReadPage, ...], Json]:
    begun = time.perf_counter()
    readings = list(read_pages(reader, (page.picture for page in printed.sample)))
    seconds = time.perf_counter() - begun
    read = tuple(
        ReadPage(page, score_page(page.truth, reading))
        for page, reading in zip(printed.sample, readings, strict=True)
    )
    torn = [
        {"page": page.picture.name, "note": reading.note}
        for page, reading in zip(printed.sample, readings, strict=True)
        if not reading.whole
    ]
    figures: Json = {
        "shape": printed.shape.name,
        "reader": reader.name,
        "pages": len(read),
        "seconds_per_page": seconds / max(len(read), 1),
        **score_figures([page.score for page in read]),
        "not_whole": torn,
        "by_page": [_page_figures(page) for page in read],
    }
    return read, figures


def score_figures(scores: Sequence[PageScore]) -> Json:
    """The scores of pages as JSON; rates carry the 95 % interval of a bootstrap over pages."""
    total = add_scores(scores)
    return {
        "cer": asdict(interval([(s.characters.errors, s.characters.characters) for s in scores])),
        "wer": asdict(interval([(s.words.errors, s.words.characters) for s in scores])),
        "rows_perfect": asdict(interval([(s.rows.perfect, s.rows.rows) for s in scores])),
        "exact_recall": asdict(interval([(s.exact_all.right, s.exact_all.all) for s in scores])),
        "exact_invented": asdict(
            interval([(s.exact_all.invented, s.exact_all.all) for s in scores])
        ),
        "rows": asdict(total.rows),
        "exact": {kind: _exact(found) for kind, found in sorted(total.exact.items())},
        "by_role": {role: _tally(found) for role, found in sorted(total.by_role.items())},
        "by_kind": {kind: _tally(found) for kind, found in sorted(total.by_kind.items())},
        "confusions": [
            {"printed": truth, "read": read, "times": times}
            for (truth, read), times in total.confusions.most_common(CONFUSIONS)
        ],
    }


def _page_figures(page: ReadPage) -> Json:
    score = page.score
    return {
        "session": page.page.session,
        "page": page.page.number,
        "cer": score.characters.rate,
        "exact_recall": score.exact_all.recall,
        "invented": score.exact_all.invented,
    }


def _tally(found: Tally) -> Json:
    return {"characters": found.characters, "errors": found.errors, "cer": found.rate}


def _exact(found: Exact) -> Json:
    return {**asdict(found), "recall": found.recall}
