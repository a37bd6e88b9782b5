"""Fonts by name (shipped) or by path (any BDF, PCF, TTF or OTF file)."""

from __future__ import annotations

from importlib.resources import files

from snapcompact.errors import UnknownNameError
from snapcompact.fonts.bdf import parse_bdf
from snapcompact.fonts.font import Font


def font_names() -> list[str]:
    """Names of the fonts shipped, small to large."""
    stems = (
        entry.name.removesuffix(".bdf")
        for entry in files(__package__).iterdir()
        if entry.name.endswith(".bdf")
    )
    return sorted(stems, key=lambda stem: [int(part) for part in stem.split("x")])


def load_font(name: str, cell: tuple[int, int] | None = None) -> Font:
    """The shipped font of that name.

    Raises UnknownNameError.
    """
    if name not in font_names():
        raise UnknownNameError(f"no font {name!r}; shipped are {', '.join(font_names())}")
    return parse_bdf(files(__package__).joinpath(f"{name}.bdf").read_text("ascii"), f"{name}.bdf")
