"""Fonts of others, drawn by Pillow: BDF and PCF at their own size, TTF and OTF to fit a cell.

Measured with Pillow 13: ``ImageFont.truetype`` gives the bitmaps of BDF, PCF (gzipped too) and OTB
files pixel for pixel; its own BDF and PCF parsers fail on non-ASCII headers or stop at 192 glyphs.
A glyph is as wide as the font says; wcwidth disagrees with Unifont on 6,758 code points.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from PIL import Image, ImageFont

from snapcompact.errors import InputError
from snapcompact.fonts.bdf import MAX_CELL
from snapcompact.fonts.font import Font, Glyph, glyph_name
from snapcompact.fonts.signs import MIN_CELL, sign_glyphs

if TYPE_CHECKING:
    from snapcompact.fonts.drawing import Rows

_CODES = (*range(0x21, 0x7F), *range(0xA1, 0xD800), *range(0xE000, 0x33480))
"""What is looked for: planes 0 to 3, where all that is printed has been assigned."""
MAX_UNPACKED_BYTES = 256 << 20
_ABSENT = "\U0010ffff"
"""A noncharacter: what is drawn for it is drawn for all a font lacks."""
_DEFAULT_CELL = (8, 16)
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


def rendered_font(path: Path, cell: tuple[int, int] | None) -> Font:
    """The font in a file, with our special cells and control glyphs in its cell.

    Raises InputError where it is no font, or no size of it fits the cell.
    """
    strike = _strike(path, cell)
    if strike.width < MIN_CELL[0] or strike.height < MIN_CELL[1]:
        raise InputError(
            f"{path}: cells of {strike.width}x{strike.height} px are too small; "
            f"{MIN_CELL[0]}x{MIN_CELL[1]} is the least"
        )
    signs = sign_glyphs(strike.width, strike.height)
    signed = {glyph.code for glyph in signs}
    glyphs = (glyph for glyph in _glyphs(strike) if glyph.code not in signed)
    space = Glyph(glyph_name(32), 32, (0,) * strike.height)
    name = path.name.split(".")[0].replace(" ", "_").encode("ascii", "replace").decode()
    return Font(name, strike.width, strike.height, strike.baseline, (space, *signs, *glyphs))


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
    try:
        return ImageFont.truetype(BytesIO(data), size, layout_engine=ImageFont.Layout.BASIC)
    except OSError as error:
        if "pixel size" in str(error):
            return None
        raise InputError(f"{path}: not a font Pillow can open: {error}") from error


def _strike(path: Path, cell: tuple[int, int] | None) -> _Strike:
    data = _unpacked(path)
    sizes = {size: font for size in range(4, MAX_CELL + 1) if (font := _opened(path, data, size))}
    # A bitmap font has a few sizes, an outline font all.
    if len(sizes) > MAX_CELL // 2:
        return _outline_strike(sizes, *(cell or _DEFAULT_CELL))
    fitting = [font for font in sizes.values() if cell is None or sum(font.getmetrics()) <= cell[1]]
    if not fitting:
        raise InputError(f"{path}: has no size that fits a cell of {cell} px")
    font = fitting[-1]
    ascent, descent = font.getmetrics()
    width, height = cell or (round(font.getlength("n")), ascent + descent)
    return _Strike(font, width, height, ascent + (height - ascent - descent) // 2)


def _outline_strike(sizes: dict[int, ImageFont.FreeTypeFont], width: int, height: int) -> _Strike:
    """The largest size whose sample letters fit the cell, centred in it."""
    best = None
    for font in sizes.values():
        sample = [what for what in _SAMPLE + _WIDE_SAMPLE if not _lacks(font, what)]
        if not sample:
            continue
        boxes = [font.getbbox(what, mode="1", anchor="ls") for what in sample]
        top, bottom = min(box[1] for box in boxes), max(box[3] for box in boxes)
        wide = max(font.getlength(what) / (1 + (what in _WIDE_SAMPLE)) for what in sample)
        if wide <= width + 0.5 and bottom - top <= height:
            best = _Strike(font, width, height, round(-top + (height - bottom + top) // 2))
    if best is None:
        raise InputError(f"no size of the font fits a cell of {width}x{height} px")
    return best


def _drawn(font: ImageFont.FreeTypeFont, what: str) -> tuple[tuple[int, int], bytes]:
    mask = font.getmask(what, "1")
    return mask.size, bytes(mask)


def _lacks(font: ImageFont.FreeTypeFont, what: str) -> bool:
    return _drawn(font, what) == _drawn(font, _ABSENT)


def _glyphs(strike: _Strike) -> Iterator[Glyph]:
    """The glyphs that have ink and fit one cell or two."""
    absent = _drawn(strike.font, _ABSENT)
    for code in _CODES:
        drawn = _drawn(strike.font, chr(code))
        # What FreeType draws for the lacking may be a letter: the first glyph of the file.
        if (drawn == absent and code > 0x7F) or not any(drawn[1]):
            continue
        cells = max(1, round(strike.font.getlength(chr(code)) / strike.width))
        rows = _placed(strike, chr(code), cells) if cells <= 2 else None
        if rows is not None:
            yield Glyph(glyph_name(code), code, rows, cells)


def _placed(strike: _Strike, what: str, cells: int) -> Rows | None:
    """The glyph on its baseline, moved into its cells where it stands beside; None if too large."""
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
