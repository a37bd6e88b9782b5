"""Readers of pages behind one contract: a picture and its shape in, rows of text out.

A reader is found by name (``exact``, ``tesseract``, ``rapid``, ``vision:MODEL``); the table below
says where it is.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Protocol, cast

from snapcompact.errors import UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from snapcompact.fonts.atlas import Atlas
    from snapcompact.pages.shape import Shape


@dataclass(frozen=True, slots=True, eq=False)
class PagePicture:
    """A page as it is given to a reader.

    ``data`` is the picture's file, from anywhere and not to be trusted; ``name`` is for messages
    and file names.
    """

    name: str
    data: bytes = field(repr=False)
    shape: Shape
    atlas: Atlas


@dataclass(frozen=True, slots=True)
class Reading:
    """What was read: one text a grid row, in reading order (newspaper column by column).

    A character that cannot be told is ``truth.GAP``. ``unsure`` are places in the joined rows whose
    character is a guess. ``whole`` is false where part of the page was not read (a cut answer, a
    refusal); ``note`` says why, fit to print.
    """

    rows: tuple[str, ...]
    unsure: frozenset[int] = frozenset()
    whole: bool = True
    note: str = ""


class Reader(Protocol):
    """Reads one page at a time, from any thread."""

    @property
    def name(self) -> str:
        """As on the command line."""

    @property
    def jobs(self) -> int:
        """Pages it should be given at once."""

    def read_page(self, page: PagePicture) -> Reading:
        """The reading of `page`. Raises PageError where the picture is none that is read."""


@dataclass(frozen=True, slots=True)
class ReaderOptions:
    """What can be set from outside. `jobs` 0 leaves it to the reader."""

    jobs: int = 0
    languages: str = "eng"
    """Of tesseract, joined by plus signs."""
    page_mode: int = 6
    """``psm`` of tesseract: 6 is one block of text."""
    enlarge: int = 2
    """Times that tesseract's picture is enlarged."""


OPTIONS = ReaderOptions()

READERS: Mapping[str, str] = MappingProxyType(
    {
        "exact": "snapcompact.readback.decoder:open_exact",
        "rapid": "snapcompact.readback.rapid:open_rapid",
        "tesseract": "snapcompact.readback.tesseract:open_tesseract",
    }
)
"""``module:function`` by name, sorted; the function takes ReaderOptions."""
VISION = "vision:"


def open_reader(name: str, options: ReaderOptions = OPTIONS) -> Reader:
    """The reader called `name`, ready to read; ``vision:MODEL`` is opened by ``vision.py``.

    Raises UnknownNameError, MissingExtraError, MissingProgramError.
    """
    if name not in READERS:
        raise UnknownNameError(
            f"unknown reader {name!r}; known are {', '.join(READERS)} and {VISION}MODEL"
        )
    module, _, function = READERS[name].partition(":")
    open_one = cast("Callable[[ReaderOptions], Reader]", getattr(import_module(module), function))
    return open_one(options)


def read_pages(reader: Reader, pages: Iterable[PagePicture]) -> Iterator[Reading]:
    """The readings of `pages` in their order; at most a few pages are held at once."""
    from snapcompact.pages.parallel import in_order

    return in_order(reader.read_page, pages, jobs=reader.jobs, batch=1)
