"""The glyphs of one font as arrays, numbered the way cells are.

A *cell* is a ``uint16`` glyph id. Ids 0–127 are ASCII itself and 160–255 are Latin-1 itself, so
that cells of plain text equal its bytes; 128–159 (C1 controls, which text does not print) are the
special cells below; from 256 on, glyphs follow in order of their code points.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from functools import cache, lru_cache
from hashlib import sha256
from typing import TYPE_CHECKING

import numpy as np

from snapcompact.errors import InputError
from snapcompact.fonts.bdf import bdf_text
from snapcompact.fonts.font import Font, Glyph, glyph_name
from snapcompact.fonts.load import font_names, load_font

if TYPE_CHECKING:
    from numpy.typing import NDArray

NO_GLYPH = 0xFFFF
"""In ``glyph_of``: the code point is printed as an escape."""


class Special(IntEnum):
    """Cells that print no character. In BDF they are named ``snap.<name>``, encoding -1."""

    END = 128
    """The text ends here; what follows on the page is paper."""
    PAD = 129
    """Nothing: stands where a wide glyph, or a whole escape, did not fit."""
    POINT_OPEN = 130
    """Opens a code point escape: upper-case hex digits (glyphs 0–9 A–F), then CLOSE."""
    CLOSE = 131
    BYTE_OPEN = 132
    """Opens a byte escape: exactly two upper-case hex digits, nothing behind."""


@dataclass(frozen=True, eq=False)
class Atlas:
    """Bitmaps of a font by glyph id; arrays are read-only.

    A glyph id without a bitmap has ``codes[id] == -1``. Ids 0–31 and 127 are visible glyphs for the
    control characters where the font has them (line end 10 and tab 9 always); a control character
    without a glyph is an escape. A wide glyph takes two ids, the right half at ``id + 1``.
    No two single glyphs, and no two pairs of wide halves, are alike; and cells decode from left to
    right in one way only: where a cell and the next are the halves of a wide glyph, they are that
    glyph, else the cell is a single glyph. The only blank glyph is the space.
    """

    name: str
    width: int
    height: int
    bitmaps: NDArray[np.uint8]
    """(glyphs, height, width), 1 is ink."""
    codes: NDArray[np.int32]
    """(glyphs,) code point printed by each id; -1 none, -2 special, -3 right half of a wide one."""
    glyph_of: NDArray[np.uint16]
    """(0x110000,) glyph id of each code point, NO_GLYPH where it is an escape."""
    wide: NDArray[np.bool_]
    """(glyphs,) the glyph takes this cell and the next."""
    sha256: str
    """Hex hash of the font, as its canonical BDF text."""
    ascent: int = 0
    """Scanlines above the baseline."""
    first_carried: int = NO_GLYPH
    """Pages carry the glyphs of ids from here on; a reader has those below by the font's name."""


FIRST_FREE_ID = 256
"""Ids from here on follow the order of code points."""
_UNPRINTED = range(0x80, 0xA0)
"""C1 controls: their ids belong to the special cells, so they are always escapes."""
_SURROGATES = range(0xD800, 0xE000)


@cache
def load_atlas(*names: str, codes: frozenset[int] | None = None) -> Atlas:
    """The atlas of the named fonts or font files, the first drawing what it can; cached.

    Fallback fonts are fitted to the first one's cell; ``codes`` is as in :func:`build_atlas`.
    Pages carry all glyphs, unless the first is a shipped font and alone. Raises what ``load_font``
    raises.
    """
    atlas = build_atlas(_chain(names), codes)
    shipped = len(names) == 1 and names[0] in font_names()
    return atlas if shipped else replace(atlas, first_carried=0)


@lru_cache(maxsize=4)
def _chain(names: tuple[str, ...]) -> list[Font]:
    first = load_font(names[0])
    cell = (first.width, first.height)
    return [first, *(load_font(name, cell) for name in names[1:])]


def build_atlas(
    fonts: Font | Sequence[Font],
    codes: Collection[int] | None = None,
    *,
    complete: bool = True,
) -> Atlas:
    """The atlas of a font, or of a chain where each next font draws what those before lack.

    A glyph that looks like one of higher rank, or could be mistaken for two, is dropped, so that
    its character becomes an escape; rank is: space, other ASCII, special cells, control glyphs,
    Latin-1, then fonts in their order, then code points. ``codes`` keeps only those beyond Latin-1,
    which changes no other glyph: ids are 16 bit, and of a whole CJK font only the first in order of
    code points have one. Raises InputError where cells differ in size, or where a font lacks ASCII
    or special cells; with ``complete`` false it may lack them, and serves to read only.
    """
    chain = [fonts] if isinstance(fonts, Font) else list(fonts)
    first = chain[0]
    glyphs = _distinct(_ranked(chain), first.width)
    name = "+".join(font.name for font in chain)
    kept = Font(name, first.width, first.height, first.ascent, tuple(glyphs))
    if complete:
        _check_needed(kept)
    digest = sha256(bdf_text(kept).encode()).hexdigest()
    if codes is not None:
        glyphs = [g for g in glyphs if g.code < FIRST_FREE_ID or g.code in codes]
    return _arrays(kept, glyphs, digest)


def atlas_to_bdf(atlas: Atlas, ids: Iterable[int]) -> str:
    """Canonical BDF text of the glyphs ``ids`` and of what escapes and ends need.

    ``build_atlas(parse_bdf(text))`` gives an atlas that decodes pages printed with these glyphs.
    Glyphs that pages carry stand last, by their ids: an archive that grows numbers them alike.
    """
    wanted = {int(i) for i in ids} | {9, 10, *range(32, 127)} | {int(s) for s in Special}
    found = [i for i in sorted(wanted) if atlas.codes[i] not in {-1, -3}]
    named = tuple(
        glyph_of_id(atlas, i) for i in found if i < max(atlas.first_carried, FIRST_FREE_ID)
    )
    carried = [glyph_of_id(atlas, i) for i in found if i >= max(atlas.first_carried, FIRST_FREE_ID)]
    font = Font(atlas.name, atlas.width, atlas.height, atlas.ascent, named)
    return bdf_text(font, behind=carried)


def glyph_of_id(atlas: Atlas, glyph_id: int) -> Glyph:
    """The glyph of an id, both halves where it is wide."""
    cells = 2 if atlas.wide[glyph_id] else 1
    pixels = np.concatenate(atlas.bitmaps[glyph_id : glyph_id + cells], axis=1)
    rows = tuple(int("".join(map(str, row)), 2) for row in pixels.tolist())
    code = int(atlas.codes[glyph_id])
    if code == -2:
        return Glyph(special_name(Special(glyph_id)), -1, rows)
    return Glyph(glyph_name(code), code, rows, cells)


def special_name(special: Special) -> str:
    """The BDF name of a special cell."""
    return f"snap.{special.name.lower()}"


SPECIAL_OF = {special_name(special): special for special in Special}


def _rank(glyph: Glyph) -> tuple[int, int]:
    """Sort key: who keeps the bitmap where two glyphs are alike."""
    code = glyph.code
    classes = (code == 32, 32 < code < 127, code < 0, code < 128, code < FIRST_FREE_ID, True)
    return classes.index(True), code


def _ranked(chain: Sequence[Font]) -> list[Glyph]:
    """Glyphs of all fonts by rank, each character and special cell once."""
    size = (chain[0].width, chain[0].height)
    seen: dict[str | int, Glyph] = {}
    for font in chain:
        if (font.width, font.height) != size:
            raise InputError(
                f"font {font.name} has cells of {font.width}x{font.height} px, "
                f"{chain[0].name} of {size[0]}x{size[1]}: load it with that cell"
            )
        for glyph in sorted(font.glyphs, key=_rank):
            if glyph.code in _UNPRINTED or glyph.code in _SURROGATES:
                continue
            if glyph.code >= 0 or glyph.name in SPECIAL_OF:
                seen.setdefault(glyph.code if glyph.code >= 0 else glyph.name, glyph)
    ranked = list(seen.values())
    below = [glyph for glyph in ranked if glyph.code < FIRST_FREE_ID]
    return sorted(below, key=_rank) + [g for g in ranked if g.code >= FIRST_FREE_ID]


def _halves(glyph: Glyph, width: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    mask = (1 << width) - 1
    return tuple(row >> width for row in glyph.rows), tuple(row & mask for row in glyph.rows)


def _distinct(ranked: Sequence[Glyph], width: int) -> list[Glyph]:
    """The glyphs that can be told apart, in the order given."""
    if not ranked:
        return []
    blank = (0,) * len(ranked[0].rows)
    singles: set[tuple[int, ...]] = set()
    pairs: set[tuple[int, ...]] = set()
    kept = []
    for glyph in ranked:
        taken = singles if glyph.cells == 1 else pairs
        if glyph.rows in taken or (glyph.rows == blank and glyph.code != 32):
            continue
        taken.add(glyph.rows)
        kept.append(glyph)
    lefts = {_halves(glyph, width)[0] for glyph in kept if glyph.cells == 2}

    def told_apart(glyph: Glyph) -> bool:
        left, right = _halves(glyph, width)
        return left not in singles or (right not in singles and right not in lefts)

    return [glyph for glyph in kept if glyph.cells == 1 or told_apart(glyph)]


def _check_needed(font: Font) -> None:
    """Raises InputError where a glyph is missing that no escape can stand for."""
    have = {glyph.code for glyph in font.glyphs} | {glyph.name for glyph in font.glyphs}
    missing = [special for special in SPECIAL_OF if special not in have]
    missing += [glyph_name(code) for code in (*range(32, 127), 9, 10) if code not in have]
    if missing:
        raise InputError(
            f"font {font.name} has no glyph of its own for {', '.join(missing[:8])}"
            f"{' and more' if len(missing) > 8 else ''}: put one of the shipped fonts before it"
        )


def _arrays(font: Font, glyphs: Sequence[Glyph], digest: str) -> Atlas:
    """The atlas of glyphs that are known to be distinct."""
    ids: dict[int, Glyph] = {}
    free = FIRST_FREE_ID
    for glyph in sorted(glyphs, key=lambda glyph: glyph.code):
        if glyph.code < FIRST_FREE_ID and glyph.cells == 1:
            ids[glyph.code if glyph.code >= 0 else SPECIAL_OF[glyph.name]] = glyph
        elif free + glyph.cells <= NO_GLYPH:
            ids[free] = glyph
            free += glyph.cells
    bitmaps = np.zeros((free, font.height, font.width), np.uint8)
    codes = np.full(free, -1, np.int32)
    glyph_of = np.full(0x110000, NO_GLYPH, np.uint16)
    wide = np.zeros(free, np.bool_)
    for glyph_id, glyph in ids.items():
        for half, pixels in enumerate(glyph_pixels(glyph, font.width)):
            bitmaps[glyph_id + half] = pixels
            codes[glyph_id + half] = -3 if half else glyph.code if glyph.code >= 0 else -2
        wide[glyph_id] = glyph.cells == 2
        if glyph.code >= 0:
            glyph_of[glyph.code] = glyph_id
    for array in (bitmaps, codes, glyph_of, wide):
        array.setflags(write=False)
    return Atlas(
        font.name, font.width, font.height, bitmaps, codes, glyph_of, wide, digest, font.ascent
    )


def glyph_pixels(glyph: Glyph, width: int) -> list[NDArray[np.uint8]]:
    """One bitmap a cell."""
    row_bytes = (glyph.cells * width + 7) // 8
    packed = np.frombuffer(b"".join(row.to_bytes(row_bytes) for row in glyph.rows), np.uint8)
    bits = np.unpackbits(packed.reshape(-1, row_bytes), axis=1)[:, -glyph.cells * width :]
    return [bits[:, cell * width : (cell + 1) * width] for cell in range(glyph.cells)]
