"""Fonts by name (those shipped) or by path (any BDF, PCF, TTF or OTF file)."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from snapcompact.errors import InputError, UnknownNameError
from snapcompact.fonts.bdf import parse_bdf

if TYPE_CHECKING:
    from snapcompact.fonts.font import Font

MAX_FILE_BYTES = 128 << 20
"""Largest font file that is opened; whole CJK families stay under 110 MB."""


def font_names() -> list[str]:
    """Names of the fonts shipped, small to large."""
    stems = (
        entry.name.removesuffix(".bdf")
        for entry in files(__package__).iterdir()
        if entry.name.endswith(".bdf")
    )
    return sorted(stems, key=lambda stem: [int(part) for part in stem.split("x")])


def load_font(name: str, cell: tuple[int, int] | None = None) -> Font:
    """The shipped font of that name, or the font in the file at that path.

    A file's glyphs are fitted to ``cell`` (width and height in px); without it a bitmap font keeps
    its own cell and an outline font gets 8×16. Raises UnknownNameError where there is neither,
    InputError where the file is no font or its cell cannot be had.
    """
    if name in font_names():
        font = parse_bdf(files(__package__).joinpath(f"{name}.bdf").read_text("ascii"), name)
        if cell not in {None, (font.width, font.height)}:
            raise InputError(f"font {name} has cells of {name} px; {cell} was asked for")
        return font
    path = font_path(name)
    # Pillow is loaded only where a foreign font is used.
    from snapcompact.fonts.foreign import rendered_font

    return rendered_font(path, cell)


def font_path(name: str) -> Path:
    """The path `name`, which a font file may lie at; raises as :func:`load_font`."""
    path = Path(name)
    if not path.is_file():
        raise UnknownNameError(
            f"no font {name!r}: give one of {', '.join(font_names())}, "
            "or the path of a BDF, PCF, TTF or OTF file"
        )
    if path.stat().st_size > MAX_FILE_BYTES:
        raise InputError(f"{name}: larger than the {MAX_FILE_BYTES} bytes a font may have")
    return path
