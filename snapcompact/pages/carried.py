"""The glyphs that a page carries with it, so that it can be read where its font is not.

The body of the chunk is a zlib stream of: one byte each for the layout's version (1) and the width
and height of a cell in px; two bytes, the number of glyphs; for each, in ascending order, four
bytes: its code point (special cells: 0x110000 and on, in the order of ``atlas.Special``), plus
2^31 if it takes two cells; then for each cell of each glyph its pixels, row by row, leftmost
highest, 1 is ink, the last byte filled with zeros. Numbers are big-endian. The space, which is
blank, is left out. A page of Chinese with 430 different characters carries 9 kB, 21 bytes a glyph.
"""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

import deflate
import numpy as np

from snapcompact.errors import PageError, UnknownNameError, VersionError
from snapcompact.fonts.atlas import (
    NO_GLYPH,
    SPECIAL_OF,
    Special,
    build_atlas,
    glyph_of_id,
    special_name,
)
from snapcompact.fonts.bdf import MAX_CELL
from snapcompact.fonts.font import Font, Glyph, glyph_name
from snapcompact.fonts.tell_apart import ToldApart
from snapcompact.fonts.typeface import grown

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from snapcompact.fonts.atlas import Atlas
    from snapcompact.pages.png import PageImage
    from snapcompact.pages.shape import Shape

VERSION = 1
MAX_BYTES = 16 << 20
"""Unpacked. A page shows all that it carries, and the largest has 8 MiB of pixels."""
_HEAD = struct.Struct(">BBBH")
_WIDE = 1 << 31
_FIRST_SPECIAL = 0x110000
_PRINTED_WIDE = 0xA0
"""Wide glyphs have code points from here on; what stands below has ids of its own."""


def carried_glyphs(cells: NDArray[np.uint16], atlas: Atlas) -> bytes:
    """The chunk of a page of `cells`; empty where its reader has all glyphs by the font's name."""
    if atlas.first_carried >= atlas.codes.size:
        return b""
    shown = np.zeros(atlas.codes.size, np.bool_)
    shown[cells] = True
    shown[: atlas.first_carried] = False
    shown[32] = False
    ids = np.flatnonzero(shown & (atlas.codes != _NO_CODE) & (atlas.codes != _RIGHT_HALF))
    return dump_glyphs(atlas, ids) if ids.size else b""


_NO_CODE, _SPECIAL, _RIGHT_HALF = -1, -2, -3
"""In ``Atlas.codes``."""


def dump_glyphs(atlas: Atlas, ids: NDArray[np.intp]) -> bytes:
    """The chunk with the glyphs `ids`, one or more, of `atlas`."""
    codes = atlas.codes[ids].astype(np.int64)
    codes = np.where(codes == _SPECIAL, _FIRST_SPECIAL + ids - int(min(Special)), codes)
    order = np.argsort(codes)
    ids, codes = ids[order], codes[order]
    wide = atlas.wide[ids]
    cells = np.repeat(ids, 1 + wide)
    cells[np.cumsum(1 + wide)[wide] - 1] += 1  # the last cell of a wide glyph is its right half
    pixels = np.packbits(atlas.bitmaps[cells].reshape(cells.size, -1), axis=1)
    head = _HEAD.pack(VERSION, atlas.width, atlas.height, ids.size)
    marks = (codes + np.where(wide, _WIDE, 0)).astype(">u4")
    return bytes(deflate.zlib_compress(head + marks.tobytes() + pixels.tobytes(), 9))


@dataclass(frozen=True, slots=True, eq=False)
class _Table:
    """A chunk as arrays: ``codes`` and ``wide`` (glyphs,), ``pixels`` (cells, height, width)."""

    codes: NDArray[np.int64]
    wide: NDArray[np.bool_]
    pixels: NDArray[np.uint8]

    @property
    def first(self) -> NDArray[np.int64]:
        """The first cell of each glyph."""
        return np.asarray(np.cumsum(1 + self.wide) - 1 - self.wide, np.int64)


def parse_glyphs(chunk: bytes) -> Font:
    """The font of the glyphs in a `chunk`; it may lack what escapes need.

    Raises PageError where the chunk is not as :func:`dump_glyphs` writes it, VersionError where a
    newer version wrote it. Memory is bounded by MAX_BYTES.
    """
    table = _parsed(chunk)
    _, height, width = table.pixels.shape
    places = zip(table.codes.tolist(), table.first.tolist(), (1 + table.wide).tolist(), strict=True)
    glyphs = tuple(_glyph(code, table.pixels[at : at + cells]) for code, at, cells in places)
    return Font("carried", width, height, height, glyphs)


def agrees(chunk: bytes, atlas: Atlas) -> bool:
    """Whether all glyphs in `chunk` are in `atlas` and look the same; raises as parse_glyphs."""
    table = _parsed(chunk)
    special = table.codes >= _FIRST_SPECIAL
    ids = np.where(
        special,
        table.codes - _FIRST_SPECIAL + int(min(Special)),
        atlas.glyph_of[np.where(special, 0, table.codes)],
    )
    if (ids == NO_GLYPH).any() or (atlas.wide[ids] != table.wide).any():
        return False
    if table.pixels.shape[1:] != atlas.bitmaps.shape[1:]:
        return False
    cells = np.repeat(ids, 1 + table.wide)
    cells[table.first[table.wide] + 1] += 1
    return bool((atlas.bitmaps[cells] == table.pixels).all())


def _parsed(chunk: bytes) -> _Table:
    data = _unpacked(chunk)
    if data[:1] > bytes([VERSION]):
        raise VersionError(f"page glyphs have layout {data[0]}, newer than {VERSION}: update")
    if len(data) < _HEAD.size:
        raise PageError(f"page glyphs are cut off at byte {len(data)}")
    version, width, height, count = _HEAD.unpack_from(data)
    if version != VERSION or not (0 < width <= MAX_CELL and 0 < height <= MAX_CELL):
        raise PageError(f"page glyphs: layout {version} with cells of {width}x{height} px is none")
    if len(data) < _HEAD.size + 4 * count:
        raise PageError(f"page glyphs are cut off at byte {len(data)}, in {count} code points")
    marks = np.frombuffer(data, ">u4", count, _HEAD.size).astype(np.int64)
    wide, codes = marks >= _WIDE, marks % _WIDE
    cell_bytes = (width * height + 7) // 8
    expected = _HEAD.size + 4 * count + cell_bytes * (count + int(wide.sum()))
    if len(data) != expected:
        raise PageError(f"page glyphs have {len(data)} bytes, {count} glyphs need {expected}")
    _check_codes(codes, wide)
    packed = np.frombuffer(data, np.uint8, offset=_HEAD.size + 4 * count).reshape(-1, cell_bytes)
    pixels = np.unpackbits(packed, axis=1, count=width * height).reshape(-1, height, width)
    return _Table(codes, wide, pixels)


def page_atlas(image: PageImage, shape: Shape, load_atlas: Callable[[str], Atlas]) -> Atlas:
    """The glyphs that `image`, a page of `shape`, is printed with.

    Those of the font that its shape names, as far as `load_atlas` knows it, and what it carries. A
    carried glyph adds a character, and never says another of what a known glyph looks like: then,
    and where the two do not fit together, PageError is raised.
    """
    if not image.glyphs:
        return load_atlas(shape.font)
    font = parse_glyphs(image.glyphs)
    if font.width > shape.pitch_width or font.height > shape.pitch_height:
        raise PageError(f"page glyphs of {font.width}x{font.height} px do not fit {shape.name}")
    try:
        known = load_atlas(shape.font)
    except UnknownNameError:
        blank = Glyph(glyph_name(32), 32, (0,) * font.height)
        whole = Font(shape.font, font.width, font.height, font.ascent, (blank, *font.glyphs))
        return build_atlas(whole, complete=False)
    return _added(known, font)


def _added(known: Atlas, font: Font) -> Atlas:
    """`known` and the glyphs of `font` that it lacks."""
    if (known.width, known.height) != (font.width, font.height):
        raise PageError(
            f"page glyphs have cells of {font.width}x{font.height} px, its font "
            f"{known.name} of {known.width}x{known.height}"
        )
    told = ToldApart(known)
    new = [glyph for glyph in font.glyphs if not _is_known(glyph, known)]
    for glyph in new:
        if not told.add(glyph):
            raise PageError(f"page glyphs: {glyph.name} looks like another glyph")
    if known.codes.size + sum(glyph.cells for glyph in new) > NO_GLYPH:
        raise PageError(f"page glyphs: {len(new)} glyphs are more than find room")
    return grown(known, new) if new else known


def _is_known(glyph: Glyph, known: Atlas) -> bool:
    """Whether `known` has `glyph`. Raises PageError where it draws it in another way."""
    glyph_id = SPECIAL_OF[glyph.name] if glyph.code < 0 else int(known.glyph_of[glyph.code])
    if glyph_id == NO_GLYPH:
        return False
    if glyph_of_id(known, glyph_id) != glyph:
        raise PageError(f"page glyphs: {glyph.name} is not as font {known.name} draws it")
    return True


def _unpacked(chunk: bytes) -> bytes:
    inflate = zlib.decompressobj()
    try:
        data = inflate.decompress(chunk, MAX_BYTES + 1)
    except zlib.error as error:
        raise PageError(f"page glyphs do not unpack: {error}") from error
    if len(data) > MAX_BYTES or not inflate.eof or inflate.unused_data:
        raise PageError(f"page glyphs are cut off, or more than {MAX_BYTES} bytes")
    return data


def _check_codes(codes: NDArray[np.int64], wide: NDArray[np.bool_]) -> None:
    """Raise PageError unless `codes` ascend and each can have such a glyph."""
    if (np.diff(codes) <= 0).any():
        raise PageError("page glyphs are not in the order of their code points")
    special = (codes >= _FIRST_SPECIAL) & (codes < _FIRST_SPECIAL + len(Special))
    printed = (codes < 0x80) | ((codes >= _PRINTED_WIDE) & (codes < 0xD800))
    printed |= (codes >= 0xE000) & (codes < _FIRST_SPECIAL)
    wrong = (codes == 32) | ~(special | printed) | (wide & (special | (codes < _PRINTED_WIDE)))
    if wrong.any():
        raise PageError(f"page glyphs: code {int(codes[wrong][0]):X} has no glyph of its own")


def _glyph(code: int, pixels: NDArray[np.uint8]) -> Glyph:
    """The glyph of a `code` of the chunk; `pixels` are (cells, height, width)."""
    bits = np.concatenate(list(pixels), axis=1)
    rows = tuple(int("".join(map(str, row)), 2) for row in bits.tolist())
    if code < _FIRST_SPECIAL:
        return Glyph(glyph_name(code), code, rows, len(pixels))
    return Glyph(special_name(Special(code - _FIRST_SPECIAL + min(Special))), -1, rows)
