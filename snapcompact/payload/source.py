"""What a payload is made of: a text with its messages, cut into pages of one shape.

The text is the archive's transcript, or that transcript without the reasoning where a model must
not be sent it. Pages of the archive's own shape are taken as they are stored; others are drawn.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import IO, TYPE_CHECKING, Protocol

import numpy as np

from snapcompact.archive.fonts import drawing_atlas, has_others
from snapcompact.history.model import Thinking
from snapcompact.pages.cells import PageStart, paginate
from snapcompact.pages.coverage import MOST_ESCAPED, text_coverage
from snapcompact.pages.pipeline import render_pages
from snapcompact.transcript.write import TranscriptWriter

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from snapcompact.archive.read import Archive
    from snapcompact.fonts.atlas import Atlas
    from snapcompact.pages.shape import Shape

_THINKING = re.compile(rb"^\xc2\xb6[+*]?think\b", re.MULTILINE)
PIECE_BYTES = 1 << 18
SAMPLES, SAMPLE_BYTES = 16, 4096
"""Places of a text, and bytes at each, by which fonts are judged."""


@dataclass(frozen=True, slots=True)
class Span:
    """A message's place in the text; ``message`` is its number in the archive, from 0."""

    message: int
    role: str
    label: str
    offset: int
    length: int


@dataclass(frozen=True, slots=True, eq=False)
class DrawnPage:
    """A page as a PNG file, and the bytes of the text that it shows."""

    png: bytes
    width_px: int
    height_px: int
    offset: int
    length: int


class TextStore(Protocol):
    """A text too long to hold, with its messages."""

    size: int

    def read(self, start: int, end: int) -> bytes:
        """Bytes `start` up to `end`."""

    def spans(self) -> Iterator[Span]:
        """The messages in order."""

    def close(self) -> None:
        """Let go of files."""


class StoredText:
    """The transcript of an archive, decoded from its pages."""

    def __init__(self, archive: Archive) -> None:
        self._archive = archive
        self.size = archive.manifest.transcript_bytes

    def read(self, start: int, end: int) -> bytes:
        """Bytes `start` up to `end`."""
        return b"".join(self._archive.transcript(start, end - start))

    def spans(self) -> Iterator[Span]:
        """The messages in order."""
        for row in self._archive.message_rows():
            yield Span(row.message, row.role, row.label, row.offset, row.length)

    def close(self) -> None:
        """Nothing: the archive is the caller's."""


class WordsText:
    """The transcript of an archive written again without reasoning, in a temporary file."""

    def __init__(self, archive: Archive) -> None:
        self._file: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - closed by close()
        self._spans: list[Span] = []
        self.size = 0
        writer = TranscriptWriter()
        for number, message in enumerate(archive.messages()):
            words = tuple(b for b in message.blocks if not isinstance(b, Thinking))
            if message.blocks and not words:
                continue
            text = writer.write(replace(message, blocks=words))
            self._file.write(text)
            span = Span(number, str(message.role), message.label, self.size, len(text))
            self._spans.append(span)
            self.size += len(text)

    def read(self, start: int, end: int) -> bytes:
        """Bytes `start` up to `end`."""
        self._file.seek(start)
        return self._file.read(end - start)

    def spans(self) -> Iterator[Span]:
        """The messages in order."""
        return iter(self._spans)

    def close(self) -> None:
        """Delete the temporary file."""
        self._file.close()


class Source:
    """The text of an archive, paged in `shape`.

    `name` is how the user calls the archive, for commands that fetch what is left out.
    `thinking` keeps the reasoning; without it the text is written again if it has any.
    """

    def __init__(self, archive: Archive, name: str, shape: Shape, *, thinking: bool = True) -> None:
        self.name = name
        self.shape = shape
        self.fidelity = str(archive.manifest.options.get("fidelity", "exact"))
        self._archive = archive
        self._atlases: dict[str, Atlas] = {}
        self.store: TextStore = StoredText(archive)
        self.without_thinking = not thinking and _has_thinking(pieces(self.store))
        if self.without_thinking:
            self.store = WordsText(archive)
        self._as_stored = shape == archive.shape and not self.without_thinking

    def close(self) -> None:
        """Delete what was written beside the archive."""
        self.store.close()

    def atlas(self, shape: Shape) -> Atlas:
        """The glyphs of pages of `shape`."""
        if shape.font not in self._atlases:
            self._atlases[shape.font] = drawing_atlas(self._archive, shape)
        return self._atlases[shape.font]

    @property
    def size(self) -> int:
        """Bytes of the text."""
        return self.store.size

    def text(self, start: int, end: int) -> bytes:
        """Bytes `start` up to `end` of the text."""
        return self.store.read(start, min(end, self.size))

    @cached_property
    def borders(self) -> NDArray[np.int64]:
        """(pages + 1,) first offset of every page, then the end of the text."""
        if not self.size:
            return np.zeros(1, np.int64)
        if self._as_stored:
            starts = [row.offset for row in self._archive.pages()]
        else:
            atlas = self.atlas(self.shape)
            cells = paginate(pieces(self.store), self.shape, atlas)
            starts = [page.offset for page in cells if page.length]
        return np.array([*starts, self.size], np.int64)

    @property
    def pages(self) -> int:
        """Pages of the text in this shape."""
        return len(self.borders) - 1

    def stored_pages(self, first: int, last: int) -> Iterator[DrawnPage]:
        """Pages `first` (from 0) up to `last` in the source's own shape."""
        start, end = int(self.borders[first]), int(self.borders[last])
        if not self._as_stored:
            until = end + 4 * self.shape.page_cells + 4 if end < self.size else end
            drawn = self.drawn(self.shape, start, until, number=first + 1)
            for _, page in zip(range(first, last), drawn, strict=False):
                yield page
            return
        for row in self._archive.pages(first + 1):
            if row.page > last:
                return
            height = row.rows * self.shape.pitch_height
            png = self._archive.page_png(row)
            yield DrawnPage(png, self.shape.page_width, height, row.offset, row.length)

    def drawn(self, shape: Shape, start: int, end: int, *, number: int = 1) -> Iterator[DrawnPage]:
        """Bytes `start` up to `end` on pages of `shape`, the first called `number`."""
        atlas = self.atlas(shape)
        begin = PageStart(number=number, offset=start)
        cells = paginate(pieces(self.store, start, end), shape, atlas, begin)
        for page in render_pages(cells, shape, atlas):
            if page.page.length:
                yield DrawnPage(
                    page.png, shape.page_width, page.height, page.page.offset, page.page.length
                )


def pieces(store: TextStore, start: int = 0, end: int | None = None) -> Iterator[bytes]:
    """The text from `start` to `end` in pieces."""
    end = store.size if end is None else min(end, store.size)
    for at in range(start, end, PIECE_BYTES):
        yield store.read(at, min(at + PIECE_BYTES, end))


def _has_thinking(texts: Iterable[bytes]) -> bool:
    before = b"\n"
    for text in texts:
        if _THINKING.search(before + text):
            return True
        before = text[-16:]
    return False


def suiting_shapes(archive: Archive, shapes: Sequence[Shape]) -> tuple[Shape, ...]:
    """The first of `shapes`, and those whose font draws about as much of the text of `archive`.

    Of an archive whose fallback font draws ideographs, say, denser shapes that would print them as
    numbers are no denser.
    """
    first, *others = shapes
    if not has_others(archive):  # our fonts for shapes of models draw the same characters
        return tuple(shapes)
    size = archive.manifest.transcript_bytes
    places = range(0, size, max(size // SAMPLES, SAMPLE_BYTES))
    sample = b"".join(
        b"".join(archive.transcript(at, min(SAMPLE_BYTES, size - at))) for at in places
    )

    def escaped(shape: Shape) -> float:
        return text_coverage(sample, drawing_atlas(archive, shape)).share

    most = max(MOST_ESCAPED, escaped(first))
    return (first, *(shape for shape in others if escaped(shape) <= most))
