"""Lone pages, from any folder and without a manifest, read exactly."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from snapcompact.errors import PageError, SnapcompactError, UsageError
from snapcompact.files import read_bounded

if TYPE_CHECKING:
    from snapcompact.fonts.atlas import Atlas
    from snapcompact.pages.metadata import PageMetadata

MOST_FILE_BYTES = 64 << 20
"""A page of 8192 × 8192 px at 4 bits, stored, is 32 MiB."""


@dataclass(frozen=True, slots=True)
class _LonePage:
    path: Path
    place: tuple[int, int]
    """(0, offset) of pages that say where they belong, (1, position) of the others."""


def read_lone_pages(
    paths: Iterable[Path], *, shape: str = "", glyphs: Path | None = None
) -> Iterator[bytes]:
    """The text of each page, decoded from its pixels, in the order the pages name.

    A folder stands for the PNG files below it. `shape` names the shape and `glyphs` a BDF file
    where the pages do not say it or their font is not ours. Raises PageError naming the file, and
    the row and column of the first cell that is not as printed.
    """
    from snapcompact.pages.decode import find_shape, read_text
    from snapcompact.pages.png import decode
    from snapcompact.pages.shape import parse_shape

    load = _atlases(glyphs)
    for page in sorted(_collected(paths), key=lambda p: p.place):
        try:
            image = decode(read_bounded(page.path, MOST_FILE_BYTES))
            found = parse_shape(shape) if shape else find_shape(image, load)
            yield read_text(image, found, load(found.font))
        except SnapcompactError as error:
            raise type(error)(f"{page.path}: {error}") from error


def _collected(paths: Iterable[Path]) -> Iterator[_LonePage]:
    position = 0
    for path in paths:
        files = sorted(path.rglob("*.png")) if path.is_dir() else [path]
        if not files:
            raise UsageError(f"{path} holds no PNG file")
        for file in files:
            position += 1
            said = _said(file)
            yield _LonePage(file, (1, position) if said is None else (0, said.offset))


def _said(path: Path) -> PageMetadata | None:
    """What a page says of itself; None if it says nothing that can be read."""
    from snapcompact.pages.png import read_metadata

    try:
        return read_metadata(read_bounded(path, MOST_FILE_BYTES))
    except PageError:
        return None


class _Atlases:
    """Atlases by font name; a glyph file stands for every name."""

    def __init__(self, given: Atlas | None) -> None:
        self._given = given

    def __call__(self, name: str) -> Atlas:
        from snapcompact.fonts.atlas import load_atlas

        return self._given or load_atlas(name)


def _atlases(glyphs: Path | None) -> _Atlases:
    if glyphs is None:
        return _Atlases(None)
    from snapcompact.fonts.atlas import build_atlas
    from snapcompact.fonts.bdf import parse_bdf

    text = read_bounded(glyphs, MOST_FILE_BYTES).decode("utf-8", "replace")
    return _Atlases(build_atlas(parse_bdf(text, str(glyphs))))
