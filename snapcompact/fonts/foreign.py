"""Fonts of others, drawn by Pillow: BDF and PCF at their own size, TTF and OTF to fit a cell.

Measured with Pillow 13: ``ImageFont.truetype`` gives the bitmaps of BDF, PCF (gzipped too) and OTB
files pixel for pixel; its own BDF and PCF parsers fail on non-ASCII headers or stop at 192 glyphs.
A glyph is as wide as the font says; wcwidth disagrees with Unifont on 6,758 code points.
"""

from __future__ import annotations

import gzip
import re
import zlib
from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from io import BytesIO
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from snapcompact.errors import InputError
from snapcompact.fonts.bdf import MAX_CELL
from snapcompact.fonts.font import Font, Glyph, glyph_name
from snapcompact.fonts.load import font_names
from snapcompact.fonts.signs import MIN_CELL, sign_glyphs

if TYPE_CHECKING:
    from PIL import ImageFont

    from snapcompact.fonts.drawing import Rows

_CODES = (range(0x21, 0x7F), range(0xA1, 0xD800), range(0xE000, 0x33480))
"""What is looked for: planes 0 to 3, where all that is printed has been assigned."""
MAX_UNPACKED_BYTES = 256 << 20
_ABSENT = "\U0010ffff"
"""A noncharacter: what is drawn for it is drawn for all a font lacks."""
_RARE_SIZES = (5, 59, 61)
"""Sizes in px that no bitmap font has all of."""
_ASCII = "".join(map(chr, range(0x21, 0x7F)))
_SAMPLE = "ÅÑ|gjpqy_()[]{}@W"
"""Letters that reach far up, down or aside, to size an outline font by."""
_WIDE_SAMPLE = "漢語한글"


@dataclass(frozen=True)
class _Strike:
    """A font at one size, and where its baseline is put in the cell."""

    font: ImageFont.FreeTypeFont
    width: int
    height: int
    baseline: int


@dataclass(frozen=True, slots=True)
class Fit:
    """The size a font is wanted at; all are width and height in px.

    ``cell``: that cell exactly. Where it is None, a bitmap font keeps its own, the largest
    ``within`` those px where they are given, and an outline font fills ``outline``. Of an outline
    font that stands ``first`` in a chain all of ASCII fits, of others what the first may lack.
    """

    cell: tuple[int, int] | None = None
    within: tuple[int, int] | None = None
    outline: tuple[int, int] = (8, 16)
    first: bool = False


class ForeignFont:
    """The font in a file, at one size, with our special cells and control glyphs in its cell.

    Glyphs are drawn when they are asked for. ``name`` is made of the file's, in ASCII; ``sha256``
    is the hex hash of the file's bytes, unzipped.
    """

    def __init__(self, path: Path, fit: Fit) -> None:
        """The font in the file at `path`, at the size that `fit` asks for.

        Raises InputError where the file is no font, or no size of it fits.
        """
        data = _unpacked(path)
        try:
            self._strike = strike = _strike(path, data, fit)
            self._absent = _drawn(strike.font, _ABSENT)
        except OSError as error:  # FreeType's, of a glyph
            raise InputError(f"{path}: a broken font: {error}") from error
        if strike.width < MIN_CELL[0] or strike.height < MIN_CELL[1]:
            raise InputError(
                f"{path}: cells of {strike.width}x{strike.height} px are too small; "
                f"{MIN_CELL[0]}x{MIN_CELL[1]} is the least"
            )
        self.name = _plain_name(path)
        self.sha256 = sha256(data).hexdigest()
        self._signs = sign_glyphs(strike.width, strike.height)

    @cached_property
    def _sign_of(self) -> dict[int, Glyph]:
        return {glyph.code: glyph for glyph in self._signs if glyph.code >= 0}

    @property
    def cell(self) -> tuple[int, int]:
        """Width and height of its cell in px."""
        return self._strike.width, self._strike.height

    def glyph(self, code: int) -> Glyph | None:
        """The glyph of `code`; None where the file has none, a broken one, or one too large."""
        return self._sign_of.get(code) or self._file_glyph(code)

    def font(self, codes: Iterable[int]) -> Font:
        """A font of the signs, the space and the glyphs of `codes`."""
        signed = {32, *self._sign_of}
        found = (self._file_glyph(code) for code in codes if code not in signed)
        strike = self._strike
        space = Glyph(glyph_name(32), 32, (0,) * strike.height)
        glyphs = (space, *self._signs, *(glyph for glyph in found if glyph is not None))
        return Font(self.name, strike.width, strike.height, strike.baseline, glyphs)

    def _file_glyph(self, code: int) -> Glyph | None:
        try:
            return self._drawn_glyph(code)
        except OSError:  # FreeType cannot draw it, so the file has as good as none
            return None

    def _drawn_glyph(self, code: int) -> Glyph | None:
        """The file's glyph, if it has ink and fits one cell or two."""
        font, what = self._strike.font, chr(code)
        drawn = _drawn(font, what)
        # What FreeType draws for the lacking may be a letter: the first glyph of the file.
        if (drawn == self._absent and code > 0x7F) or not any(drawn[1]):
            return None
        cells = max(1, round(font.getlength(what) / self._strike.width))
        rows = _placed(self._strike, what, cells) if cells <= 2 else None
        return None if rows is None else Glyph(glyph_name(code), code, rows, cells)


def _plain_name(path: Path) -> str:
    """A name for a file's font that can stand in a shape's, and is no shipped font's."""
    name = re.sub(r"[^A-Za-z0-9._-]", "_", path.name.split(".")[0])[:40] or "font"
    return f"{name}-file" if name in font_names() else name


def rendered_font(path: Path, cell: tuple[int, int] | None) -> Font:
    """All of the font in a file, in `cell` or its own; raises as :class:`ForeignFont`."""
    return ForeignFont(path, Fit(cell, first=cell is None)).font(chain.from_iterable(_CODES))


def _unpacked(path: Path) -> bytes:
    """The font file, unzipped: FreeType would unzip it again for every glyph."""
    data = path.read_bytes()
    if not data.startswith(b"\x1f\x8b"):
        return data
    with gzip.open(path) as stream:
        try:
            data = stream.read(MAX_UNPACKED_BYTES + 1)
        except (OSError, EOFError, zlib.error) as error:
            raise InputError(f"{path}: broken gzip: {error}") from error
    if len(data) > MAX_UNPACKED_BYTES:
        raise InputError(f"{path}: more than {MAX_UNPACKED_BYTES} bytes when unzipped")
    return data


def _opened(path: Path, data: bytes, size: int) -> ImageFont.FreeTypeFont | None:
    """The font at a size in px, or None where it has none."""
    from PIL import ImageFont  # most pages are set in our own fonts alone

    try:
        return ImageFont.truetype(BytesIO(data), size, layout_engine=ImageFont.Layout.BASIC)
    except OSError as error:
        if "pixel size" in str(error):
            return None
        raise InputError(f"{path}: not a font Pillow can open: {error}") from error


def _strike(path: Path, data: bytes, fit: Fit) -> _Strike:
    # A bitmap font has a few sizes, an outline font all. Each open size holds a copy of the file.
    if all(_opened(path, data, size) for size in _RARE_SIZES):
        return _outline_strike(path, data, fit)
    best = None
    for size in range(4, MAX_CELL + 1):
        font = _opened(path, data, size)
        best = font if font is not None and _fits(font, fit) else best
    if best is None:
        width, height = fit.cell or fit.within or (MAX_CELL, MAX_CELL)
        raise InputError(f"{path}: has no size that fits a cell of {width}x{height} px")
    ascent, descent = best.getmetrics()
    width, height = fit.cell or (round(best.getlength("n")), ascent + descent)
    return _Strike(best, width, height, ascent + (height - ascent - descent) // 2)


def _fits(font: ImageFont.FreeTypeFont, fit: Fit) -> bool:
    """Whether a bitmap font is low enough, and for its own cell also narrow enough."""
    height = sum(font.getmetrics())
    if fit.cell is not None:
        return height <= fit.cell[1]
    if fit.within is None:
        return True
    return round(font.getlength("n")) <= fit.within[0] and height <= fit.within[1]


def _outline_strike(path: Path, data: bytes, fit: Fit) -> _Strike:
    """The largest size whose sample letters fit the cell, centred in it.

    Of a font that has none of them (emoji, rare scripts) the largest whose lines fit.
    """
    width, height = fit.cell or fit.outline

    def too_large(size: int) -> bool:
        font = _opened(path, data, size)
        assert font is not None  # an outline font
        top, bottom, wide = _extent(font, first=fit.first)
        return wide > width or bottom - top > height

    size = 3 + bisect_left(range(4, MAX_CELL + 1), True, key=too_large)
    font = _opened(path, data, size) if size > 3 else None
    if font is None:
        raise InputError(f"{path}: no size of the font fits a cell of {width}x{height} px")
    top, bottom, _ = _extent(font, first=fit.first)
    return _Strike(font, width, height, round(-top + (height - bottom + top) // 2))


def _extent(font: ImageFont.FreeTypeFont, *, first: bool) -> tuple[float, float, float]:
    """How far sample letters reach up (negative) and down from the baseline, and across a cell.

    An advance may be half a pixel wider than the cell.
    """
    wide_ones = [what for what in _WIDE_SAMPLE if not _lacks(font, what)]
    letters = _ASCII + _SAMPLE if first else "" if wide_ones else _SAMPLE
    sample = [*wide_ones, *(what for what in letters if not _lacks(font, what))]
    if not sample:
        ascent, descent = font.getmetrics()
        return -ascent, descent, 0
    boxes = [font.getbbox(what, mode="1", anchor="ls") for what in sample]
    cells = [1 + (what in _WIDE_SAMPLE) for what in sample]
    across = [
        max(font.getlength(what) - 0.5, box[2] - box[0]) / count
        for what, box, count in zip(sample, boxes, cells, strict=True)
    ]
    return min(box[1] for box in boxes), max(box[3] for box in boxes), max(across)


def _drawn(font: ImageFont.FreeTypeFont, what: str) -> tuple[tuple[int, int], bytes]:
    mask = font.getmask(what, "1")
    return mask.size, bytes(mask)


def _lacks(font: ImageFont.FreeTypeFont, what: str) -> bool:
    return _drawn(font, what) == _drawn(font, _ABSENT)


def _placed(strike: _Strike, what: str, cells: int) -> Rows | None:
    """The glyph on its baseline, moved into its cells where it stands beside; None if too large."""
    from PIL import Image

    width = strike.width * cells
    left, top, right, bottom = map(round, strike.font.getbbox(what, mode="1", anchor="ls"))
    if right - left > width or bottom - top > strike.height:
        return None
    x = min(max(0, left), width - (right - left))
    y = min(max(0, strike.baseline + top), strike.height - (bottom - top))
    canvas = Image.new("1", (width, strike.height))
    mask = strike.font.getmask(what, "1")
    size, pixels = mask.size, bytes(mask)
    canvas.paste(Image.frombytes("L", size, pixels).convert("1"), (x, y))
    row_bytes = (width + 7) // 8
    data = canvas.tobytes()
    return tuple(
        int.from_bytes(data[at : at + row_bytes]) >> (row_bytes * 8 - width)
        for at in range(0, len(data), row_bytes)
    )
