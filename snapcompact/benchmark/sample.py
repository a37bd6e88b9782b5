"""Sessions printed in a shape: totals of all pages, and some pages kept with their truth."""

from __future__ import annotations

import random
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from snapcompact.fonts.atlas import load_atlas
from snapcompact.history.session import open_session
from snapcompact.pages.cells import paginate
from snapcompact.pages.pipeline import render_pages
from snapcompact.readback.loose import loose_text
from snapcompact.readback.reader import PagePicture
from snapcompact.readback.truth import FIRST_SCOPE, Truth, find_scopes, page_truth
from snapcompact.transcript.write import write_transcript

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from snapcompact.fonts.atlas import Atlas
    from snapcompact.pages.pipeline import PagePng
    from snapcompact.pages.shape import Shape

_CONTINUATION = bytes(range(0x80, 0xC0))
_GATHER_BYTES = 1 << 20


@dataclass(frozen=True, slots=True, eq=False)
class KeptPage:
    """A page of the sample: where it is from, its picture, what it prints."""

    session: str
    number: int
    picture: PagePicture
    truth: Truth


@dataclass(slots=True)
class Printed:
    """All pages of all sessions in one shape. ``heights_px`` counts pages by height."""

    shape: Shape
    pages: int = 0
    characters: int = 0
    text_bytes: int = 0
    png_bytes: int = 0
    seconds: float = 0.0
    heights_px: Counter[int] = field(default_factory=Counter)
    sample: list[KeptPage] = field(default_factory=list)


def print_sessions(paths: Sequence[Path], shape: Shape, sample: int, seed: int) -> Printed:
    """The sessions at `paths` printed in `shape`, `sample` of all pages kept, drawn with `seed`.

    Memory is that of the sample (reservoir sampling). Raises what opening a session raises.
    """
    atlas = load_atlas(shape.font)
    printed = Printed(shape)
    chance = random.Random(f"{seed} {shape.name}")
    for path in paths:
        _print_session(path, printed, atlas, sample, chance)
    printed.sample.sort(key=lambda page: (page.session, page.number))
    return printed


def _print_session(
    path: Path, printed: Printed, atlas: Atlas, most: int, chance: random.Random
) -> None:
    scope = FIRST_SCOPE
    begun = time.perf_counter()
    with open_session(path) as session:
        text = _counted(write_transcript(session.messages()), printed)
        pages = render_pages(paginate(text, printed.shape, atlas), printed.shape, atlas)
        for made in pages:
            printed.seconds += time.perf_counter() - begun
            slot = _slot(printed, most, chance)
            if slot is not None:
                kept = _kept(path.name, made, printed.shape, atlas, scope)
                printed.sample[slot : slot + 1] = [kept]
            scope = _scope_behind(made, printed.shape, atlas, scope)
            printed.heights_px[made.height] += 1
            printed.png_bytes += len(made.png)
            begun = time.perf_counter()
        printed.seconds += time.perf_counter() - begun


def _counted(pieces: Iterator[bytes], printed: Printed) -> Iterator[bytes]:
    for piece in pieces:
        printed.text_bytes += len(piece)
        printed.characters += len(piece.translate(None, _CONTINUATION))
        yield piece


def _slot(printed: Printed, most: int, chance: random.Random) -> int | None:
    """Where the next page goes in the sample, by Vitter's algorithm R; None for nowhere."""
    printed.pages += 1
    if len(printed.sample) < most:
        return len(printed.sample)
    slot = chance.randrange(printed.pages)
    return slot if slot < most else None


def _kept(session: str, made: PagePng, shape: Shape, atlas: Atlas, scope: str) -> KeptPage:
    name = f"{session} page {made.page.number}"
    picture = PagePicture(name, made.png, shape, atlas)
    return KeptPage(
        session, made.page.number, picture, page_truth(made.page.cells, shape, atlas, scope)
    )


def _scope_behind(made: PagePng, shape: Shape, atlas: Atlas, scope: str) -> str:
    text = loose_text(made.page.cells, shape, atlas).decode("utf-8", "replace")
    scopes = find_scopes(text, scope)
    return scopes[-1].name if scopes else scope
