"""A chain of fonts whose glyphs are taken up as the text asks for them.

Whole CJK fonts have more glyphs than there are ids, and drawing them all takes seconds. So an
atlas begins with what every page needs and grows by the characters seen, first come, first served.
What a page shows then depends on the text up to its end alone: pages stay as they are while a
history grows, and no text is read twice.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from hashlib import sha256
from typing import TYPE_CHECKING, Protocol

import numpy as np

from snapcompact.fonts.atlas import NO_GLYPH, Atlas, build_atlas, glyph_pixels, load_atlas
from snapcompact.fonts.bdf import bdf_text
from snapcompact.fonts.load import font_names, font_path, load_font
from snapcompact.fonts.tell_apart import ToldApart

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from snapcompact.fonts.font import Font, Glyph
    from snapcompact.fonts.foreign import Fit, ForeignFont

_LATIN = (*range(0x21, 0x7F), *range(0xA1, 0x100))
"""What a first font in a file is asked for before any text is seen."""
_RIGHT_HALF = -3
_FIRST_ASKED = 0xA0
"""Below stand ASCII and control characters, which every first font has, and what none prints."""


class GlyphSource(Protocol):
    """Gives glyphs of one cell size by code point."""

    @property
    def name(self) -> str:
        """Of the font, in ASCII and without blanks."""

    @property
    def sha256(self) -> str:
        """Hex hash of what all its glyphs depend on."""

    def glyph(self, code: int) -> Glyph | None:
        """The glyph of `code`, None where there is none."""


class Typeface:
    """The ``atlas`` of a first font, growing by what `sources` give, in their order.

    A source's glyph is passed over where it could be taken for one that is in the atlas; then the
    next source is asked. What none gives stays an escape.
    """

    def __init__(
        self, first: Atlas, sources: Sequence[GlyphSource] = (), own_sha256: str = ""
    ) -> None:
        self.atlas = first
        self.own_sha256 = own_sha256
        """Hash of the first font alone, where it is shipped and others draw what it lacks."""
        self._sources = tuple(sources)
        self._told = ToldApart(first)
        self._room = NO_GLYPH - first.codes.size
        self._open = first.glyph_of == NO_GLYPH
        self._open[:_FIRST_ASKED] = False
        self._open[0xD800:0xE000] = False

    def cover(self, text: bytes) -> Atlas:
        """The atlas with the glyphs of the characters of `text`; those it had keep their ids.

        Texts are given in their order; a character cut at the end of one must come again.
        """
        if not self._sources or text.isascii():
            return self.atlas
        codes = _code_points(text)
        new, first = np.unique(codes[self._open[codes]], return_index=True)
        self._open[new] = False
        self._grow(self._chosen(new[np.argsort(first)].tolist()))
        return self.atlas

    def take(self, glyphs: Iterable[Glyph]) -> None:
        """Add those of `glyphs` that can be told apart and are not known yet, in their order."""
        self._grow(glyph for glyph in glyphs if self._is_new(glyph.code) and self._add(glyph))

    def leave_out(self, text: bytes) -> None:
        """Characters of `text` that are not in the atlas stay escapes."""
        self._open[np.unique(_code_points(text))] = False

    def _is_new(self, code: int) -> bool:
        new = bool(self._open[code])
        self._open[code] = False
        return new

    def _chosen(self, codes: Iterable[int]) -> Iterator[Glyph]:
        """For each of `codes` the first source's glyph that can be told apart."""
        for code in codes:
            drawn = (glyph for source in self._sources if (glyph := source.glyph(code)))
            if (glyph := next(filter(self._add, drawn), None)) is not None:
                yield glyph

    def _add(self, glyph: Glyph) -> bool:
        """Whether there is room for `glyph` and it can be told apart; it is known from now on."""
        if glyph.cells > self._room or not self._told.add(glyph):
            return False
        self._room -= glyph.cells
        return True

    def _grow(self, glyphs: Iterable[Glyph]) -> None:
        if added := list(glyphs):
            self.atlas = grown(self.atlas, added)


def open_typeface(names: Sequence[str], fit: Fit) -> Typeface:
    """The typeface of fonts by name or path, the first drawing what it can.

    `fit` is the size of a first font that is a file; those behind it are fitted to its cell. Pages
    carry the glyphs of all but a first font that is shipped. Raises what ``load_font`` raises.
    """
    # Pillow is loaded only where a foreign font is used.
    from snapcompact.fonts.foreign import Fit

    if len(names) == 1 and names[0] in font_names():
        return Typeface(load_atlas(names[0]))
    sources: list[GlyphSource] = []
    own = ""
    if names[0] in font_names():
        first = load_atlas(names[0])
        own = first.sha256
        first = replace(first, first_carried=first.codes.size)
        chain = [(first.name, first.sha256)]
    else:
        file = _file_font(names[0], replace(fit, first=True))
        first = replace(build_atlas(file.font(_LATIN)), first_carried=0)
        sources, chain = [file], [(file.name, file.sha256)]
    cell = first.width, first.height
    for name in names[1:]:
        shipped = name in font_names()
        source = Drawn(load_font(name, cell)) if shipped else _file_font(name, Fit(cell))
        sources.append(source)
        chain.append((source.name, source.sha256))
    digest = sha256("\n".join(f"{cell} {found}" for _, found in chain).encode()).hexdigest()
    name = "+".join(found for found, _ in chain)
    return Typeface(replace(first, name=name, sha256=digest), sources, own)


def _file_font(name: str, fit: Fit) -> ForeignFont:
    path = font_path(name)
    stat = path.stat()
    return _opened(path, fit, (stat.st_mtime_ns, stat.st_size))


@lru_cache(maxsize=4)
def _opened(path: Path, fit: Fit, _: tuple[int, int]) -> ForeignFont:
    """The file's font; trying the sizes of an outline font takes a second."""
    from snapcompact.fonts.foreign import ForeignFont

    return ForeignFont(path, fit)


class Drawn:
    """A font held whole, as a source of glyphs."""

    def __init__(self, font: Font) -> None:
        self.name = font.name
        self.sha256 = sha256(bdf_text(font).encode()).hexdigest()
        self._glyphs = {glyph.code: glyph for glyph in font.glyphs}

    def glyph(self, code: int) -> Glyph | None:
        """See :class:`GlyphSource`."""
        return self._glyphs.get(code)


def _code_points(text: bytes) -> NDArray[np.uint32]:
    return np.frombuffer(text.decode("utf-8", "ignore").encode("utf-32-le"), "<u4")


def grown(atlas: Atlas, glyphs: Sequence[Glyph]) -> Atlas:
    """`atlas` with `glyphs` behind its own, which keep their ids.

    They must be told apart from its own and each other (:class:`ToldApart`), and find room.
    """
    glyph_of = atlas.glyph_of.copy()
    codes: list[int] = []
    halves: list[NDArray[np.uint8]] = []
    wide: list[bool] = []
    for glyph in glyphs:
        glyph_of[glyph.code] = atlas.codes.size + len(codes)
        codes += [glyph.code, _RIGHT_HALF][: glyph.cells]
        halves += glyph_pixels(glyph, atlas.width)
        wide += [glyph.cells == 2, False][: glyph.cells]
    bigger = replace(
        atlas,
        bitmaps=np.concatenate([atlas.bitmaps, np.array(halves, np.uint8)]),
        codes=np.concatenate([atlas.codes, np.array(codes, np.int32)]),
        glyph_of=glyph_of,
        wide=np.concatenate([atlas.wide, np.array(wide, np.bool_)]),
    )
    for array in (bigger.bitmaps, bigger.codes, bigger.glyph_of, bigger.wide):
        array.setflags(write=False)
    return bigger
