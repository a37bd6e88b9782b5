"""Fonts as plain BDF text, strict and bounded, both ways.

BDF 2.1 is Adobe's Glyph Bitmap Distribution Format (Technical Note 5005). What is written here is
its fixed-cell subset: every glyph's box is its whole cell, or two of them. That text is the
*canonical* form of a font: the same glyphs always give the same bytes, whatever they came from.
Special cells are named ``snap.<name>`` and have ENCODING -1.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from snapcompact.errors import InputError
from snapcompact.fonts.font import Font, Glyph

MAX_BYTES = 64 << 20
"""Largest BDF text that is read; Unifont, 57,086 glyphs, has 9 MB."""
MAX_CELL = 64
"""Largest cell width or height in px."""
MAX_GLYPHS = 0x110000

_HEADER = """STARTFONT 2.1
FONT {name}
SIZE {height} 72 72
FONTBOUNDINGBOX {width} {height} 0 -{descent}
STARTPROPERTIES 5
FONT_ASCENT {ascent}
FONT_DESCENT {descent}
CHARSET_REGISTRY "ISO10646"
CHARSET_ENCODING "1"
SPACING "C"
ENDPROPERTIES
CHARS {count}
"""
_GLYPH = """STARTCHAR {name}
ENCODING {code}
SWIDTH {swidth} 0
DWIDTH {width} 0
BBX {width} {height} 0 -{descent}
BITMAP
{rows}
ENDCHAR
"""
_HEADER_PATTERN = re.compile(
    r"STARTFONT 2\.1\nFONT (?P<name>[!-~]{1,200})\nSIZE \d+ \d+ \d+\n"
    r"FONTBOUNDINGBOX (?P<width>\d{1,3}) (?P<height>\d{1,3}) 0 -(?P<descent>\d{1,3})\n"
    r"STARTPROPERTIES \d+\n(?:[A-Z_]+ [ -~]*\n)*?ENDPROPERTIES\nCHARS (?P<count>\d{1,7})\n"
)
_GLYPH_PATTERN = re.compile(
    r"STARTCHAR (?P<name>[!-~]{1,40})\nENCODING (?P<code>-1|\d{1,7})\nSWIDTH \d+ 0\n"
    r"DWIDTH (?P<width>\d{1,3}) 0\nBBX (?P=width) (?P<height>\d{1,3}) 0 -(?P<descent>\d{1,3})\n"
    r"BITMAP\n(?P<rows>(?:[0-9A-F]{1,32}\n)*)ENDCHAR\n"
)


def bdf_text(font: Font, behind: Sequence[Glyph] = ()) -> str:
    """The canonical BDF text of a font: special cells by name, then glyphs by code point.

    Glyphs `behind` them keep their order.
    """
    descent = font.height - font.ascent
    ordered = [*sorted(font.glyphs, key=lambda glyph: (glyph.code, glyph.name)), *behind]
    parts = [
        _HEADER.format(
            name=font.name,
            width=font.width,
            height=font.height,
            ascent=font.ascent,
            descent=descent,
            count=len(ordered),
        )
    ]
    for glyph in ordered:
        width = font.width * glyph.cells
        row_bytes = _row_bytes(width)
        parts.append(
            _GLYPH.format(
                name=glyph.name,
                code=glyph.code,
                swidth=width * 1000 // font.height,
                width=width,
                height=font.height,
                descent=descent,
                rows=_row_data(glyph.rows, width).hex("\n", row_bytes).upper(),
            )
        )
    return "".join(parts) + "ENDFONT\n"


def parse_bdf(text: str, where: str = "BDF text") -> Font:
    """The font a canonical BDF text describes; ``where`` names it in errors.

    Raises InputError at the first line that is not as :func:`bdf_text` writes it: other BDF files
    are read by ``load_font``.
    """
    if len(text) > MAX_BYTES:
        raise InputError(f"{where}: {len(text)} characters, more than the {MAX_BYTES} allowed")
    header = _HEADER_PATTERN.match(text)
    if header is None:
        raise InputError(f"{where}: line 1: not the header of a fixed-cell BDF 2.1 font")
    width, height, descent = (int(header[key]) for key in ("width", "height", "descent"))
    if not (0 < width <= MAX_CELL and 0 < height <= MAX_CELL and descent <= height):
        raise InputError(f"{where}: cell of {width}x{height} px; 1 to {MAX_CELL} are allowed")
    glyphs = tuple(_glyphs(text, header.end(), (width, height, descent), where))
    if len(glyphs) != int(header["count"]):
        raise InputError(f"{where}: CHARS says {header['count']}, found {len(glyphs)} glyphs")
    return Font(header["name"], width, height, height - descent, glyphs)


def _row_bytes(width: int) -> int:
    """Bytes of one scanline, whole ones as BDF asks."""
    return (width + 7) // 8


def _row_data(rows: Sequence[int], width: int) -> bytes:
    """Scanlines as bytes, their first pixel in the highest bit."""
    row_bytes = _row_bytes(width)
    shift = row_bytes * 8 - width
    if row_bytes == 1:
        return bytes(row << shift for row in rows)
    return b"".join((row << shift).to_bytes(row_bytes) for row in rows)


def _rows(data: bytes, width: int) -> tuple[int, ...]:
    """The scanlines of :func:`_row_data`."""
    row_bytes = _row_bytes(width)
    shift = row_bytes * 8 - width
    if row_bytes == 1:
        return tuple(byte >> shift for byte in data)
    starts = range(0, len(data), row_bytes)
    return tuple(int.from_bytes(data[at : at + row_bytes]) >> shift for at in starts)


def _glyphs(text: str, start: int, cell: tuple[int, int, int], where: str) -> Iterator[Glyph]:
    """Glyphs from offset ``start`` to ENDFONT, which must end the text."""
    width, height, descent = cell
    while match := _GLYPH_PATTERN.match(text, start):
        rows = match["rows"]
        glyph_width, code = int(match["width"]), int(match["code"])
        digits = 2 * _row_bytes(glyph_width)
        if (
            glyph_width not in {width, 2 * width}
            or (int(match["height"]), int(match["descent"])) != (height, descent)
            or len(rows) != height * (digits + 1)
            or not rows.count("\n") == rows[digits :: digits + 1].count("\n") == height
            or code >= MAX_GLYPHS
        ):
            raise _misfit(text, start, where, f"glyph {match['name']} does not fit its cell")
        pixels = _rows(bytes.fromhex(rows), glyph_width)
        yield Glyph(match["name"], code, pixels, glyph_width // width)
        start = match.end()
    if text[start:] != "ENDFONT\n":
        raise _misfit(text, start, where, "neither a glyph of a fixed-cell font nor ENDFONT")


def _misfit(text: str, offset: int, where: str, what: str) -> InputError:
    line = text.count("\n", 0, offset) + 1
    return InputError(f"{where}: line {line}: {what}; it was not written by snapcompact")
