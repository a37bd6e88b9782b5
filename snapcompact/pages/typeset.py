"""A shape together with the fonts it is set in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from snapcompact.fonts.atlas import load_atlas
from snapcompact.fonts.foreign import Fit
from snapcompact.fonts.load import font_names
from snapcompact.fonts.typeface import Typeface, open_typeface

if TYPE_CHECKING:
    from snapcompact.pages.shape import Shape


def typeset(shape: Shape, font: str = "", fallback: Sequence[str] = ()) -> tuple[Shape, Typeface]:
    """`shape` set in `font` (a name or path; else its own) and what `fallback` fonts draw besides.

    A font file's size is the largest that fits the pitch; an outline font that takes the place of
    a shipped one gets its cell. The shape is then called by the font's name, never by its path.
    Raises what ``load_font`` raises.
    """
    wanted = font or shape.font
    pitch = shape.pitch_width, shape.pitch_height
    outline = pitch
    if shape.font in font_names() and wanted != shape.font:
        own = load_atlas(shape.font)
        outline = own.width, own.height
    typeface = open_typeface((wanted, *fallback), Fit(within=pitch, outline=outline))
    return replace(shape, font=typeface.atlas.name.partition("+")[0]), typeface
