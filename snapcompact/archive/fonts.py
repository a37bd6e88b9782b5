"""The fonts that an archive was printed with, to print more pages of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from snapcompact.errors import UsageError
from snapcompact.fonts.atlas import NO_GLYPH, Special, load_atlas
from snapcompact.fonts.load import font_names
from snapcompact.fonts.typeface import Typeface, open_typeface

if TYPE_CHECKING:
    from snapcompact.archive.read import Archive
    from snapcompact.fonts.atlas import Atlas
    from snapcompact.fonts.font import Glyph
    from snapcompact.pages.shape import Shape


@dataclass(frozen=True, slots=True)
class Fonts:
    """Fonts by name or path: in place of the shape's, and for what the first lacks."""

    font: str = ""
    fallback: tuple[str, ...] = ()


def typeface_of(archive: Archive, fonts: Fonts) -> Typeface:
    """The typeface that `archive` is printed in, with the glyphs of its pages taken up.

    Without `fonts` the glyphs in the archive serve; a character that needs another raises
    UsageError once it is met. Raises UsageError too where the fonts are not those it was made with.
    """
    font = archive.manifest.font
    own = archive.shape.font
    if own not in font_names() and not fonts.font:
        raise UsageError(
            f"the archive is printed with font {font.get('name')}; give its files again, the first "
            "with --font, others with --fallback"
        )
    if fonts != Fonts():
        typeface = _opened(archive, fonts)
    elif "own" in font:
        first = load_atlas(own)
        named = replace(
            first,
            name=font.get("name", ""),
            sha256=font.get("sha256", ""),
            first_carried=first.codes.size,
        )
        typeface = Typeface(named, [_NotGiven(font.get("name", ""))], first.sha256)
    else:
        typeface = Typeface(load_atlas(own))
    made_with = font.get("sha256"), font.get("own", "")
    if made_with != (typeface.atlas.sha256, typeface.own_sha256):
        raise UsageError(
            f"the archive is printed with font {font.get('name')}, and not with this or this "
            f"version of it ({typeface.atlas.name}); archive the session anew under another name"
        )
    if has_others(archive):
        typeface.take(glyph for glyph in archive.font.glyphs if glyph.code >= 0)
        if fonts == Fonts() and (last := archive.manifest.last_page) is not None:
            typeface.leave_out(archive.page_text(last))
    return typeface


def _opened(archive: Archive, fonts: Fonts) -> Typeface:
    from snapcompact.fonts.foreign import Fit

    names = fonts.font or archive.shape.font, *fonts.fallback
    return open_typeface(names, Fit(archive_cell(archive)))


def used_ids(archive: Archive, typeface: Typeface) -> list[int]:
    """Ids, as `typeface` numbers them, of the glyphs that the pages of `archive` use."""
    codes = archive.atlas.codes
    ids = typeface.atlas.glyph_of[codes[codes >= 0]]
    return [*ids[ids != NO_GLYPH].tolist(), *Special]


def drawing_atlas(archive: Archive, shape: Shape) -> Atlas:
    """The glyphs to draw text of `archive` with, on pages of `shape`.

    Those of the shape's own font, and of others on the archive's pages that have its cell. Raises
    UnknownNameError where the font is neither shipped nor the archive's.
    """
    if shape.font == archive.shape.font and shape.font not in font_names():
        return archive.atlas
    first = load_atlas(shape.font)
    if not has_others(archive) or (first.width, first.height) != archive_cell(archive):
        return first
    typeface = Typeface(first)
    typeface.take(glyph for glyph in archive.font.glyphs if glyph.code >= 0)
    return typeface.atlas


def has_others(archive: Archive) -> bool:
    """Whether pages of `archive` show glyphs that are not of a shipped font."""
    return "own" in archive.manifest.font or archive.shape.font not in font_names()


def archive_cell(archive: Archive) -> tuple[int, int]:
    """Width and height in px of the glyphs of `archive`."""
    return archive.font.width, archive.font.height


class _NotGiven:
    """Stands for fonts that were not given again."""

    sha256 = ""

    def __init__(self, name: str) -> None:
        self.name = name

    def glyph(self, code: int) -> Glyph | None:
        """Raises UsageError: only those fonts know."""
        raise UsageError(
            f"the new text holds U+{code:04X}, which no page has shown yet; give the fonts that "
            f"the archive is printed with ({self.name}) again, with --fallback"
        )
