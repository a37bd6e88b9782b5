"""How much of a text a font draws, and which shape to take by it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from snapcompact.errors import InputError
from snapcompact.fonts.atlas import NO_GLYPH
from snapcompact.pages.shape import parse_shape
from snapcompact.pages.shape import shapes as named_shapes

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from snapcompact.fonts.atlas import Atlas
    from snapcompact.pages.shape import Shape

MOST_ESCAPED = 0.02
"""Share of characters printed as escapes above which a font does not suit a text: each takes six
cells or more, so that 2 % makes pages a tenth longer, and no reader knows what they show."""
AUTO = "auto"
"""Stands for a shape that the text chooses."""


@dataclass(frozen=True, slots=True)
class Coverage:
    """``escaped`` of ``characters`` have no glyph; bytes that are no UTF-8 are not counted."""

    characters: int
    escaped: int

    @property
    def share(self) -> float:
        """The share printed as escapes; 0 for no text."""
        return self.escaped / self.characters if self.characters else 0.0

    @property
    def warning(self) -> str:
        """What to tell the user, empty where the font suits the text."""
        if self.share <= MOST_ESCAPED:
            return ""
        return (
            f"{self.share:.1%} of the characters have no glyph in this font and are printed as "
            "code points: name a shape whose font has them, or add a fallback font"
        )

    def __add__(self, other: Coverage) -> Coverage:
        return Coverage(self.characters + other.characters, self.escaped + other.escaped)


@dataclass(frozen=True, slots=True)
class Choice:
    """The shape chosen, and how its font covers the sample."""

    shape: Shape
    coverage: Coverage

    @property
    def reason(self) -> str:
        """Why this one, for the user."""
        share = f"{self.coverage.share:.1%} of the characters in a sample of the text"
        if self.coverage.share <= MOST_ESCAPED:
            return f"shape {self.shape.name}: its font lacks {share}"
        return f"shape {self.shape.name}: no font has them all, this one lacks fewest, {share}"


def auto_shapes() -> tuple[Shape, ...]:
    """What ``auto`` tries where no model is named: the default, then a shape of each other font."""
    default = parse_shape("default")
    found = {default.font: default}
    for row in named_shapes().values():
        found.setdefault(row.shape.font, row.shape)
    return tuple(found.values())


def text_coverage(text: bytes, atlas: Atlas) -> Coverage:
    """The coverage of `text`, any bytes, by `atlas`."""
    codes = np.frombuffer(text.decode("utf-8", "ignore").encode("utf-32-le"), "<u4")
    return Coverage(codes.size, int((atlas.glyph_of[codes] == NO_GLYPH).sum()))


def choose_shape(
    sample: bytes, shapes: Sequence[Shape], load_atlas: Callable[[Shape], Atlas]
) -> Choice:
    """The first of `shapes`, in order of preference, whose font suits `sample`.

    Where none does, the one that escapes least, the first of equals. Atlases are loaded only as
    far as that takes. `shapes` are one or more. Raises what `load_atlas` raises for the first of
    them; where it raises InputError for another (a fallback font that has no such size), that one
    is passed over.
    """
    tried: list[Choice] = []
    for shape in shapes:
        try:
            atlas = load_atlas(shape)
        except InputError:
            if not tried:
                raise
            continue
        found = Choice(shape, text_coverage(sample, atlas))
        if found.coverage.share <= MOST_ESCAPED:
            return found
        tried.append(found)
    return min(tried, key=lambda choice: choice.coverage.share)
