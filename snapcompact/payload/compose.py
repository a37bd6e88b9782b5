"""An archive as the parts of a request, in order, for one model; providers' formats come after.

Order: guide, oldest text, pages, index of what is left out, exact values, newest text. All up to
the last full page stays byte for byte the same while a history grows between two steps of
select.py.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from snapcompact.history.model import shown
from snapcompact.payload.budget import Shares, page_budget, payload_shapes, shape_cost, shares
from snapcompact.payload.edges import newest_words, oldest_words
from snapcompact.payload.guide import WITHOUT_PAGES, guide
from snapcompact.payload.index import Count, Missing, find_missing, index_text
from snapcompact.payload.select import PagePlan, Region, plan_pages
from snapcompact.payload.source import DrawnPage, Source, Span, suiting_shapes
from snapcompact.payload.values import values_text
from snapcompact.providers.price import image_price

if TYPE_CHECKING:
    from snapcompact.archive.read import Archive
    from snapcompact.pages.shape import Shape
    from snapcompact.providers.rows import Model


_MANY = 9_999_999, 9_999_999
"""Message numbers longer than any: the guide that names them is the longest there is."""


@dataclass(frozen=True, slots=True)
class TextPart:
    """Words of a payload; ``kind`` is guide, oldest, heading, index, values, newest or text."""

    kind: str
    text: str


@dataclass(frozen=True, slots=True, eq=False)
class ImagePart:
    """A page of a payload; ``full`` says that a longer history would have the same page."""

    png: bytes
    width_px: int
    height_px: int
    full: bool

    @property
    def base64(self) -> str:
        """The PNG file in base64."""
        return b64encode(self.png).decode()


Part = TextPart | ImagePart


@dataclass(frozen=True, slots=True)
class Payload:
    """The parts in order, and what they cost; image tokens are the dear end."""

    model: str
    """Name of the catalog's row it was made by."""
    parts: tuple[Part, ...]
    text_tokens: int
    image_tokens: int
    whole_text_tokens: int | None
    """Tokens of the whole transcript as text; None where it was too long to count for nothing."""
    plan: PagePlan | None
    """None where the transcript goes as text."""
    notes: tuple[str, ...] = field(default=())
    page_tokens: int = 0
    """What goes as text would have cost so much on pages, with guide and values; else 0."""

    @property
    def images(self) -> tuple[ImagePart, ...]:
        """The pages."""
        return tuple(p for p in self.parts if isinstance(p, ImagePart))

    @property
    def tokens(self) -> int:
        """Tokens of everything."""
        return self.text_tokens + self.image_tokens


def compose(
    archive: Archive,
    name: str,
    model: Model,
    count: Count,
    *,
    tokens: int | None = None,
    other_images: int = 0,
    thinking: bool | None = None,
) -> Payload:
    """The payload of `archive` for `model` within `tokens` (half the window by default).

    `name` is how the user calls the archive; `count` counts text for the model; `other_images` of
    the same request come off the model's cap first. A transcript that costs no more as text goes as
    text. A text-only model gets edges, index and no pages. `thinking` overrides the model's row.
    """
    limits = shares(model.window_tokens // 2 if tokens is None else tokens)
    keep = model.thinking if thinking is None else thinking
    shapes = suiting_shapes(archive, payload_shapes(archive.shape, model))
    with closing(Source(archive, name, shapes[0], thinking=keep)) as source:
        return _compose(_Job(source, model, shapes, count, limits, keep, other_images))


def _compose(job: _Job) -> Payload:
    as_text = _text_tokens(job)
    plan = job.plan()
    if as_text is not None and _text_is_no_dearer(job, as_text, plan):
        return _text_payload(job, as_text, plan)
    parts = _page_parts(job, plan)
    while plan.images and _base64_bytes(parts) > job.model.caps.request_bytes.low:
        plan = job.plan(from_step=plan.step + 1)
        parts = _page_parts(job, plan)
    return Payload(
        job.model.name,
        parts,
        text_tokens=sum(job.count(p.text.encode()) for p in parts if isinstance(p, TextPart)),
        image_tokens=sum(_image_tokens(job.model, p) for p in parts if isinstance(p, ImagePart)),
        whole_text_tokens=as_text,
        plan=plan,
        notes=job.notes,
    )


@dataclass(frozen=True, slots=True)
class _Job:
    """What all parts are made from."""

    source: Source
    model: Model
    shapes: tuple[Shape, ...]
    count: Count
    limits: Shares
    thinking: bool
    other_images: int

    @property
    def notes(self) -> tuple[str, ...]:
        """What the caller should know."""
        return ("reasoning is left out",) if self.source.without_thinking else ()

    @property
    def opening_tokens(self) -> int:
        """Tokens of the guide, at its longest: pages are planned before it is known."""
        return self.count(self.opening(_MANY).encode())

    def opening(self, gone: tuple[int, int] | None) -> str:
        """The guide, where no picture shows the messages `gone`."""
        return guide(self.source.shape, self.source.fidelity, thinking=self.thinking, gone=gone)

    def plan(self, from_step: int = 0) -> PagePlan:
        """The pages that fit, from this step on."""
        costs = [shape_cost(self.model, shape) for shape in self.shapes]
        tokens = self.limits.pages - self.opening_tokens
        budget = page_budget(self.model, tokens, self.other_images)
        return plan_pages(self.source.pages, costs, budget, from_step=from_step)


def _text_tokens(job: _Job) -> int | None:
    """Tokens of the whole text, or None where it has so many bytes that they cannot fit."""
    # No tokenizer averages over 16 bytes a token on any text of the corpus (2.3 to 3.8).
    size = job.source.size
    return job.count(job.source.text(0, size)) if size <= 16 * job.limits.total else None


def _text_is_no_dearer(job: _Job, as_text: int, plan: PagePlan) -> bool:
    return as_text <= job.limits.total and (
        as_text <= _page_tokens(job, plan) or bool(plan.left_out)
    )


def _page_tokens(job: _Job, plan: PagePlan) -> int:
    return job.opening_tokens + plan.tokens + job.limits.values


def _text_payload(job: _Job, as_text: int, plan: PagePlan) -> Payload:
    text = shown(job.source.text(0, job.source.size))
    notes = (*job.notes, "sent as text: pages would cost as much or more")
    parts = (TextPart("text", text),) if text else ()
    return Payload(
        job.model.name, parts, as_text, 0, as_text, None,
        notes if text else job.notes, _page_tokens(job, plan),
    )  # fmt: skip


def _page_parts(job: _Job, plan: PagePlan) -> tuple[Part, ...]:
    source, limits, count = job.source, job.limits, job.count
    missing = _missing(source, plan, limits.words + limits.pages)
    gone = (missing.first, missing.last - 1) if missing and missing.messages else None
    opening = job.opening(gone) if plan.images else WITHOUT_PAGES
    parts: list[Part] = [TextPart("guide", opening)]
    parts += _titled("oldest", "The first words:", oldest_words(source, limits.oldest, count))
    shown_pages, places = _pages(job, plan)
    parts += shown_pages
    spare = _left_over(job, plan, opening, shown_pages)
    index = _index(missing, source.name, count, limits.words + spare)
    spare -= max(0, count(index.encode()) - limits.words)
    parts += _titled("index", "", index)
    values = values_text(source.text, places, source.atlas, count, limits.values)
    parts += _titled("values", "Exact values:", values)
    if _reaches_beyond(job, plan, spare):
        limits = replace(limits, newest=limits.newest + spare)
    parts += _titled("newest", "The newest words:", newest_words(source, limits.newest, count))
    return tuple(parts)


def _left_over(job: _Job, plan: PagePlan, opening: str, pages: list[Part]) -> int:
    """Tokens set aside for pages that these do not take, where something is left out of them."""
    if not plan.left_out:
        return 0
    texts = [opening, *(part.text for part in pages if isinstance(part, TextPart))]
    taken = sum(job.count(text.encode()) for text in texts) if plan.images else 0
    taken += sum(_image_tokens(job.model, part) for part in pages if isinstance(part, ImagePart))
    return max(0, job.limits.pages - taken)


def _reaches_beyond(job: _Job, plan: PagePlan, tokens: int) -> bool:
    """Whether `tokens` of newest words say more than the newest pages, which show them already."""
    if not tokens or not plan.left_out:
        return False
    source = job.source
    start = int(source.borders[plan.left_out[-1].last])
    size = source.size - start
    return size <= 16 * tokens and job.count(source.text(start, source.size)) < tokens


def _pages(job: _Job, plan: PagePlan) -> tuple[list[Part], list[tuple[DrawnPage, Shape]]]:
    """The pages with their headings, and each page with its shape."""
    parts: list[Part] = []
    places: list[tuple[DrawnPage, Shape]] = []
    level: int | None = None
    for region in plan.regions:
        if region.level is not None:
            if region.level != level:
                parts.append(TextPart("heading", _heading(region)))
            for page in _draw(job.source, shape := job.shapes[region.level], region):
                places.append((page, shape))
                # The last bytes of a text may join with what comes: see pages.cells.paginate.
                full = page.offset + page.length + 3 < job.source.size
                parts.append(ImagePart(page.png, page.width_px, page.height_px, full))
        level = region.level
    return parts, places


def _base64_bytes(parts: tuple[Part, ...]) -> int:
    return sum(-(-len(p.png) // 3) * 4 for p in parts if isinstance(p, ImagePart))


def _image_tokens(model: Model, part: ImagePart) -> int:
    return image_price(model, part.width_px, part.height_px).high_tokens


def _titled(kind: str, title: str, text: str) -> list[Part]:
    return [TextPart(kind, f"{title}\n{text}" if title else text)] if text else []


def _heading(region: Region) -> str:
    return "Pages printed smaller:\n" if region.level else "Pages:\n"


def _draw(source: Source, shape: Shape, region: Region) -> Iterator[DrawnPage]:
    if region.level == 0:
        return source.stored_pages(region.first, region.last)
    start, end = int(source.borders[region.first]), int(source.borders[region.last])
    return source.drawn(shape, start, end)


def _index(missing: Missing | None, name: str, count: Count, budget: int) -> str:
    return index_text(missing, name, count, budget) if missing else ""


def _missing(source: Source, plan: PagePlan, budget: int) -> Missing | None:
    """What is in the regions that are left out or printed smaller; None where there are none."""
    small = [_bytes_of(source, r) for r in plan.regions if r.level != 0]
    if not small:
        return None
    gone = [_bytes_of(source, r) for r in plan.regions if r.level is None]

    def inside(ranges: list[tuple[int, int]]) -> Callable[[Span], bool]:
        # A message that only begins or ends there has its other half on a page; it counts as there.
        return lambda s: any(
            s.offset < end and s.offset + s.length > start for start, end in ranges
        )

    # 16 bytes a token are more than any text has: what is not held here could not be listed.
    return find_missing(source.store.spans(), source.text, inside(gone), inside(small), 16 * budget)


def _bytes_of(source: Source, region: Region) -> tuple[int, int]:
    return int(source.borders[region.first]), int(source.borders[region.last])
