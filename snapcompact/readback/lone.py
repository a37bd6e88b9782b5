"""Pages as they lie about: lone files from any folder, or those of an archive."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from snapcompact.errors import PageError, SnapcompactError, UnknownNameError, UsageError
from snapcompact.files import read_bounded

if TYPE_CHECKING:
    from snapcompact.fonts.atlas import Atlas
    from snapcompact.pages.metadata import PageMetadata
    from snapcompact.pages.shape import Shape
    from snapcompact.readback.reader import PagePicture

MOST_FILE_BYTES = 64 << 20
"""A page of 8192 × 8192 px at 4 bits, stored, is 32 MiB."""
PICTURES = frozenset({".gif", ".jpeg", ".jpg", ".png", ".webp"})
"""Endings of files that a folder stands for."""


@dataclass(frozen=True, slots=True)
class PageText:
    """The text of one page, as exactly as its picture shows it.

    ``unsure`` are the cells (row, column, from 1) whose glyph is a guess, in order; there are none
    on a page whose every pixel is as printed. ``other`` is true where this is not the text whose
    hash the page carries, or its archive.
    """

    name: str
    text: bytes
    unsure: tuple[tuple[int, int], ...] = ()
    other: bool = False


@dataclass(frozen=True, slots=True)
class _LonePage:
    path: Path
    place: tuple[int, int]
    """(0, offset) of pages that say where they belong, (1, position) of the others."""


def read_lone_pages(
    paths: Iterable[Path], *, shape: str = "", glyphs: Path | None = None
) -> Iterator[PageText]:
    """The text of each page, decoded from its pixels: archives first, then in the pages' order.

    A folder stands for the pictures below it. `shape` names the shape and `glyphs` a BDF file where
    the pages do not say it or their font is not ours. Raises PageError naming the file.
    """
    from snapcompact.pages.shape import parse_shape

    load = _atlases(glyphs, shape)
    said = parse_shape(shape) if shape else None
    lone: list[Path] = []
    for path in paths:
        if not is_archive(path):
            lone.append(path)
            continue
        for page, sha256 in _archived(path):
            yield _page_text(page.name, page.data, page.shape, partial(_glyphs_of, page), sha256)
    for file in lone_files(lone):
        with _named(file):
            yield _page_text(str(file), read_bounded(file, MOST_FILE_BYTES), said, load)


def picture_pages(
    paths: Iterable[Path], *, shape: str = "", glyphs: Path | None = None
) -> Iterator[PagePicture]:
    """Each page of `paths` with its shape and glyphs, for any reader; archives are opened.

    Raises PageError where a page does not say its shape and none is given.
    """
    load = _atlases(glyphs, shape)
    for path in paths:
        if is_archive(path):
            yield from (page for page, _ in _archived(path))
        else:
            for file in lone_files([path]):
                with _named(file):
                    yield _picture(file, shape, load)


def is_archive(path: Path) -> bool:
    """Whether an archive's folder or zip is at `path`."""
    from snapcompact.archive.names import MANIFEST

    return (path / MANIFEST).is_file() or (path.is_file() and path.suffix == ".zip")


def lone_files(paths: Iterable[Path]) -> list[Path]:
    """The files of pages at `paths`, in the order the pages name."""
    return [page.path for page in sorted(_collected(paths), key=lambda page: page.place)]


def _archived(path: Path) -> Iterator[tuple[PagePicture, str]]:
    """Each page of the archive at `path`, and the hash of its text."""
    from snapcompact.archive.read import open_archive
    from snapcompact.readback.reader import PagePicture

    with open_archive(path) as archive:
        for row in archive.pages():
            data = archive.page_png(row)
            yield PagePicture(row.file, data, archive.shape, archive.atlas), row.text_sha256


def _page_text(
    name: str, data: bytes, shape: Shape | None, load: Callable[[str], Atlas], sha256: str = ""
) -> PageText:
    """The text of the picture in `data`; `sha256` is what its archive, if any, says of it."""
    from snapcompact.readback.exact import see_cells
    from snapcompact.readback.loose import loose_text

    seen = see_cells(data, load, shape=shape)
    text = loose_text(seen.cells, seen.shape, seen.atlas)
    places = tuple((row + 1, column + 1) for row, column in seen.unsure_places())
    told = sha256 or seen.sha256
    return PageText(name, text, places, bool(told) and hashlib.sha256(text).hexdigest() != told)


def _glyphs_of(page: PagePicture, _: str) -> Atlas:
    return page.atlas


def _picture(path: Path, shape: str, load: Callable[[str], Atlas]) -> PagePicture:
    from snapcompact.pages.carried import page_atlas
    from snapcompact.pages.decode import find_shape
    from snapcompact.pages.png import decode
    from snapcompact.pages.shape import parse_shape
    from snapcompact.readback.reader import PagePicture

    data = read_bounded(path, MOST_FILE_BYTES)
    image = decode(data)
    found = parse_shape(shape) if shape else find_shape(image, load)
    return PagePicture(str(path), data, found, page_atlas(image, found, load))


@contextmanager
def _named(path: Path) -> Iterator[None]:
    """Errors of the body name `path`."""
    try:
        yield
    except SnapcompactError as error:
        raise type(error)(f"{path}: {error}") from error


def _collected(paths: Iterable[Path]) -> Iterator[_LonePage]:
    position = 0
    for path in paths:
        files = _pictures_below(path) if path.is_dir() else [path]
        if not files:
            raise UsageError(f"{path} holds no picture of a page")
        for file in files:
            position += 1
            said = _said(file)
            yield _LonePage(file, (1, position) if said is None else (0, said.offset))


def _pictures_below(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.suffix.lower() in PICTURES)


def _said(path: Path) -> PageMetadata | None:
    """What a page says of itself; None if it says nothing that can be read."""
    from snapcompact.pages.png import read_metadata

    try:
        return read_metadata(read_bounded(path, MOST_FILE_BYTES))
    except PageError:
        return None


class _Atlases:
    """Atlases by font name; a glyph file stands for every name.

    Pages are not trusted: the name one gives is that of a shipped font, and never opens a file,
    unless the user `said` it.
    """

    def __init__(self, given: Atlas | None, said: str) -> None:
        self._given = given
        self._said = said

    def __call__(self, name: str) -> Atlas:
        from snapcompact.fonts.atlas import load_atlas
        from snapcompact.fonts.load import font_names

        if self._given is not None:
            return self._given
        if name != self._said and name not in font_names():
            raise UnknownNameError(
                f"the page is printed with font {name!r}, which is not shipped, and does not carry "
                "its glyphs: give them as --glyphs FILE"
            )
        return load_atlas(name)


def _atlases(glyphs: Path | None, shape: str) -> _Atlases:
    from snapcompact.pages.shape import parse_shape

    said = parse_shape(shape).font if shape else ""
    if glyphs is None:
        return _Atlases(None, said)
    from snapcompact.fonts.atlas import build_atlas
    from snapcompact.fonts.bdf import parse_bdf

    text = read_bounded(glyphs, MOST_FILE_BYTES).decode("utf-8", "replace")
    return _Atlases(build_atlas(parse_bdf(text, str(glyphs))), said)
