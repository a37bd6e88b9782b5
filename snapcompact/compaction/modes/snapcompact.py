"""The past on pages: an archive of what is removed, and the pages as parts of a message.

No model is called and no socket opened. What an earlier pass of ours put on pages is read back from
its archive and printed again with the rest, so that no page is ever a picture of pages.
"""

from __future__ import annotations

import asyncio
import hashlib
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from snapcompact.archive import names
from snapcompact.archive.read import open_archive
from snapcompact.archive.write import ArchiveOptions, write_archive
from snapcompact.compaction.entries import Item, blobs_of, is_summary
from snapcompact.compaction.files import file_lists, files_text
from snapcompact.compaction.modes.choose import PageForecast
from snapcompact.compaction.modes.job import Made
from snapcompact.compaction.modes.pointer import HEAD_START, find_pointer, pointer_text
from snapcompact.errors import InputError, SnapcompactError
from snapcompact.files import disk_errors
from snapcompact.fonts.atlas import NO_GLYPH, load_atlas
from snapcompact.history.blocks import messages as one_by_one
from snapcompact.history.model import Message, Meta, Role
from snapcompact.history.report import DamageReport, Report
from snapcompact.history.session import Session
from snapcompact.llm.contract import Part, Picture
from snapcompact.pages.shape import parse_shape
from snapcompact.payload.compose import ImagePart, compose
from snapcompact.tokens import estimate_tokens, families

if TYPE_CHECKING:
    from snapcompact.archive.read import Archive
    from snapcompact.compaction.modes.job import Job
    from snapcompact.payload.compose import Payload
    from snapcompact.providers.rows import Model

_HEAD = (
    HEAD_START + "; nothing was rephrased. "
    "{place} What follows the pages is the conversation as it went on."
)


@dataclass(frozen=True, slots=True)
class Drawn:
    """An archive in a temporary folder, and the parts that show it."""

    archive: Path
    payload: Payload
    forecast: PageForecast
    manifest_sha256: str
    messages: int


@dataclass(slots=True)
class _Chosen(Session):
    """A session of which only some messages are archived; its source is kept whole."""

    chosen: tuple[Message, ...] = ()

    def messages(self) -> Iterator[Message]:
        """The chosen messages."""
        info = self.report.info
        self.report = Report(DamageReport(self.source.name, self.strict))
        self.report.info.update(info)
        return iter(self.chosen)


@contextmanager
def drawing(job: Job, *, beside: bool = True) -> Iterator[Callable[[], Drawn]]:
    """A function that draws the archive of `job`, once; at the end it is gone unless moved.

    It is drawn `beside` its place, so that it can be moved there, or where temporary files are.
    Nothing is made before the first call, which raises DiskError where that cannot be written.
    """
    folder = job.archive.parent if job.archive and beside else None
    with ExitStack() as stack:
        drawn: list[Drawn] = []

        def draw() -> Drawn:
            if not drawn:
                with disk_errors("write", job.archive or "a temporary folder"):
                    held = tempfile.TemporaryDirectory(prefix=".snapcompact-", dir=folder)
                stack.enter_context(held)
                drawn.append(_draw(job, Path(held.name) / "archive"))
            return drawn[0]

        yield draw


async def run(job: Job, draw: Callable[[], Drawn]) -> Made:
    """The pages of what `job` removes, from `draw`, and the words around them.

    Raises InputError, DiskError. Cancelled, it waits for the page under way.
    """
    drawn = await asyncio.to_thread(draw)
    preparation = job.plan.preparation
    assert preparation is not None
    name = job.archive.name if job.archive else "archive"
    pointer = pointer_text(name, drawn.manifest_sha256)
    lists = file_lists(preparation.ops, job.policy.files)
    head = _HEAD.format(
        place=f"All of it, {drawn.messages} messages, is in the {pointer}."
    ) + files_text(lists, job.policy.files)
    shown = (_reference(drawn, name),) if job.reference else _pieces(drawn.payload)
    pieces = (f"[{pointer}]\n", *shown)
    return Made(
        "snapcompact", head, pieces, files=lists, archive=drawn.archive,
        pages=0 if job.reference else len(drawn.payload.images), notes=drawn.payload.notes,
    )  # fmt: skip


def _pieces(payload: Payload) -> tuple[Part, ...]:
    return tuple(
        Picture("image/png", part.png) if isinstance(part, ImagePart) else part.text
        for part in payload.parts
    )


def _reference(drawn: Drawn, name: str) -> str:
    """Words that stand for the pages: how to read them when they are needed."""
    command = f"snapcompact restore {name} --as transcript --messages FIRST:LAST"
    return (
        f"The past is not shown here. It is on {drawn.forecast.pages} pages in the archive {name}, "
        f"beside this session. Read what you need of it with: {command}"
    )


# --- the archive


def _draw(job: Job, folder: Path) -> Drawn:
    session = job.stored.session
    chosen = tuple(_messages(job))
    part = _Chosen(
        session.source,
        session.format,
        session.options,
        session.strict,
        session.report,
        chosen=chosen,
    )
    shapes = [name for name in job.row.shapes if parse_shape(name).font in _shipped()]
    options = ArchiveOptions(shape=shapes[0]) if shapes else ArchiveOptions()
    if write_archive(part, folder, options) is None:
        raise InputError(f"{session.source.name}: nothing to print")
    family = _family(job.row)
    kept = [*job.plan.partition.kept, *job.plan.partition.pinned, *job.plan.partition.before]
    others = sum(len(blobs_of(item.message)) for item in kept)
    with open_archive(folder) as archive:
        payload = compose(
            archive,
            job.archive.name if job.archive else "archive",
            job.row,
            lambda text: estimate_tokens(text, family),
            tokens=max(job.room, 1000) if job.room else None,
            other_images=others,
            thinking=True,
        )
        text = b"".join(archive.transcript())
        forecast = _forecast(job, payload, archive.manifest.pages, text, others)
        messages = archive.manifest.messages
    manifest = (folder / names.MANIFEST).read_bytes()
    return Drawn(folder, payload, forecast, hashlib.sha256(manifest).hexdigest(), messages)


def _family(row: Model) -> str:
    return row.tokenizer if row.tokenizer in families() else "o200k"


def _shipped() -> list[str]:
    from snapcompact.fonts.load import font_names

    return font_names()


def _forecast(job: Job, payload: Payload, pages: int, text: bytes, others: int) -> PageForecast:
    """What printing costs; `pages` are all pages where not all of them fit."""
    shown = len(payload.images)
    gone = payload.plan.left_out if payload.plan is not None else ()
    left_out = sum(region.pages for region in gone)
    as_text = payload.whole_text_tokens
    kept = job.plan.kept_tokens(job.estimator)
    return PageForecast(
        pages=pages if left_out else shown,
        tokens=max(payload.tokens, payload.page_tokens),
        text_tokens=estimate_tokens(text, _family(job.row)) if as_text is None else as_text,
        bytes=sum(len(image.png) for image in payload.images),
        unrenderable=_unrenderable(text, job.row),
        image_cap=max(0, int(job.row.caps.images.low) - others),
        left_out=left_out,
        room=job.room,
        must_shrink=job.plan.tokens_before - 1 - kept <= job.room,
    )


def _unrenderable(text: bytes, row: Model) -> float:
    """Share of characters that are printed as escapes in the model's own shape."""
    fonts = [parse_shape(name).font for name in row.shapes]
    font = next((font for font in fonts if font in _shipped()), _shipped()[0])
    glyph_of = load_atlas(font).glyph_of
    counts = Counter(text.decode("utf-8", "replace"))
    bad = sum(count for char, count in counts.items() if glyph_of[ord(char)] == NO_GLYPH)
    return bad / max(1, sum(counts.values()))


def _messages(job: Job) -> Iterator[Message]:
    """What is archived: the previous summary, then all that goes, each with its entry's id."""
    part = job.plan.partition
    items = [*([part.previous] if part.previous else []), *part.summarised]
    folder = job.archive.parent if job.archive else None
    source = job.stored.session.source.path
    folders = [f for f in (source.parent if source else None, folder) if f is not None]
    yield from archived_messages(items, folders, job.say)


def archived_messages(
    items: Sequence[Item], folders: Sequence[Path], say: Callable[[str], None]
) -> Iterator[Message]:
    """`items` as messages to print; a summary of ours in front is what its archive holds.

    The archive is looked for in `folders` only, and must have the manifest it was named with. Where
    it is not there, `say` is told, and the item's own words and pictures are archived.
    """
    rest = list(items)
    first = rest[0].message.text if rest and is_summary(rest[0].message) else ""
    found = find_pointer(first) if first.startswith(HEAD_START) else None
    inner = _opened(found, folders, say) if found else None
    if found and inner is not None:
        with inner as archive:
            yield from archive.messages(blobs=True)
        mark = f"[{pointer_text(*found)}]"
        shows = len(rest) > 1 and rest[1].message.text.startswith(mark)
        rest = rest[2 if shows else 1 :]
    for item in rest:
        yield from _split(item)


def _opened(
    found: tuple[str, str], folders: Sequence[Path], say: Callable[[str], None]
) -> Archive | None:
    name, digest = found
    for folder in folders:
        path = folder / name
        try:
            manifest = (path / names.MANIFEST).read_bytes()
            if hashlib.sha256(manifest).hexdigest() == digest:
                return open_archive(path)
        except (OSError, SnapcompactError):
            continue
    say(f"the archive {name} of an earlier pass is not here; its pages stay pictures")
    return None


def _split(item: Item) -> Iterator[Message]:
    """A message of an entry, each tool result by itself, as an archive holds them."""
    message = item.message
    meta = message.meta._replace(id=item.id) if message.meta != Meta() else Meta(item.id)
    role = Role.USER if message.role is Role.TOOL else message.role
    yield from one_by_one(role, list(message.blocks), message.label, meta)
