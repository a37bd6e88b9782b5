"""How much of a text a font draws, and which shape to take by it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from snapcompact.fonts.atlas import NO_GLYPH

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from snapcompact.fonts.atlas import Atlas
    from snapcompact.pages.shape import Shape

MOST_ESCAPED = 0.02
"""Share of characters printed as escapes above which a font does not suit a text: each takes six
cells or more, so that 2 % makes pages a tenth longer, and no reader knows what they show."""


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


def text_coverage(text: bytes, atlas: Atlas) -> Coverage:
    """The coverage of `text`, any bytes, by `atlas`."""
    codes = np.frombuffer(text.decode("utf-8", "ignore").encode("utf-32-le"), "<u4")
    return Coverage(codes.size, int((atlas.glyph_of[codes] == NO_GLYPH).sum()))


def choose_shape(
    sample: bytes, shapes: Sequence[Shape], load_atlas: Callable[[str], Atlas]
) -> Choice:
    """The first of `shapes`, in order of preference, whose font suits `sample`.

    Where none does, the one that escapes least, the first of equals. Atlases are loaded only as
    far as that takes. `shapes` are one or more.
    """
    tried: list[Choice] = []
    for shape in shapes:
        found = Choice(shape, text_coverage(sample, load_atlas(shape.font)))
        if found.coverage.share <= MOST_ESCAPED:
            return found
        tried.append(found)
    return min(tried, key=lambda choice: choice.coverage.share)
