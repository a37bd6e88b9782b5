"""What a font can and cannot: coverage, twins, how far its glyphs are apart. Pure."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from snapcompact.fonts.atlas import NO_GLYPH, build_atlas

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from snapcompact.fonts.atlas import Atlas
    from snapcompact.fonts.font import Font

ASCII = tuple(range(32, 127))
RANGES: tuple[tuple[str, int, int], ...] = (
    ("ASCII", 0x20, 0x7F),
    ("Latin-1", 0xA0, 0x100),
    ("Latin Extended-A", 0x100, 0x180),
    ("Greek", 0x370, 0x400),
    ("Cyrillic", 0x400, 0x530),
    ("general punctuation", 0x2000, 0x2070),
    ("super- and subscripts", 0x2070, 0x20A0),
    ("currency", 0x20A0, 0x20D0),
    ("letter-like", 0x2100, 0x2150),
    ("number forms", 0x2150, 0x2190),
    ("arrows", 0x2190, 0x2200),
    ("mathematical operators", 0x2200, 0x2300),
    ("technical", 0x2300, 0x2400),
    ("box drawing", 0x2500, 0x2580),
    ("blocks", 0x2580, 0x25A0),
    ("geometric shapes", 0x25A0, 0x2600),
    ("symbols", 0x2600, 0x2700),
    ("dingbats", 0x2700, 0x27C0),
    ("Braille", 0x2800, 0x2900),
    ("CJK punctuation and kana", 0x3000, 0x3100),
    ("CJK ideographs", 0x4E00, 0xA000),
    ("Hangul", 0xAC00, 0xD7A4),
)
"""Name, first code point, and the one behind the last."""


@dataclass(frozen=True, slots=True)
class Coverage:
    """How much of a range a font draws."""

    name: str
    first: int
    drawn: int
    size: int
    """Code points in the range, unassigned ones too."""


@dataclass(frozen=True, slots=True)
class Pair:
    """Two code points and the pixels in which their glyphs differ."""

    distance: int
    first: int
    second: int


@dataclass(frozen=True, slots=True)
class Report:
    """What ``fonts check`` prints."""

    name: str
    width: int
    height: int
    glyphs: int
    wide: int
    coverage: tuple[Coverage, ...]
    twins: tuple[tuple[int, ...], ...]
    """Groups of code points with one bitmap: all but the first are printed as escapes."""
    closest: tuple[Pair, ...]
    """ASCII pairs, the closest first."""


def check_font(font: Font, pairs: int = 20) -> Report:
    """The report on a font; at most ``pairs`` closest pairs. Raises what ``build_atlas`` raises."""
    atlas = build_atlas(font)
    return Report(
        name=font.name,
        width=font.width,
        height=font.height,
        glyphs=int((atlas.codes != -1).sum() - (atlas.codes == -3).sum()),
        wide=int(atlas.wide.sum()),
        coverage=coverage(atlas),
        twins=twins(font),
        closest=closest_pairs(atlas)[:pairs],
    )


def coverage(atlas: Atlas) -> tuple[Coverage, ...]:
    """How much of each named range has glyphs, ranges without any left out."""
    found = (
        Coverage(name, first, int((atlas.glyph_of[first:end] != NO_GLYPH).sum()), end - first)
        for name, first, end in RANGES
    )
    return tuple(entry for entry in found if entry.drawn)


def share_escaped(atlas: Atlas, text: str) -> float:
    """The share of a text's characters that this font prints as escapes, 0 to 1."""
    if not text:
        return 0.0
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4")
    return float((atlas.glyph_of[codes] == NO_GLYPH).mean())


def twins(font: Font) -> tuple[tuple[int, ...], ...]:
    """Groups of code points drawn alike, in order of their first."""
    alike: dict[tuple[int, tuple[int, ...]], list[int]] = defaultdict(list)
    for glyph in font.glyphs:
        if glyph.code >= 0:
            alike[glyph.cells, glyph.rows].append(glyph.code)
    return tuple(sorted(tuple(sorted(codes)) for codes in alike.values() if len(codes) > 1))


def distances(atlas: Atlas, codes: Sequence[int] = ASCII) -> NDArray[np.int32]:
    """(codes, codes) pixels in which the glyphs of two code points differ; all must have one."""
    ink = atlas.bitmaps[atlas.glyph_of[list(codes)]].reshape(len(codes), -1).astype(np.int32)
    both = ink @ ink.T
    own = both.diagonal()
    return np.asarray(own[:, None] + own[None, :] - 2 * both, np.int32)


def closest_pairs(atlas: Atlas, codes: Sequence[int] = ASCII) -> tuple[Pair, ...]:
    """All pairs of the code points, the closest first."""
    table = distances(atlas, codes)
    return tuple(sorted(_pairs(table, codes), key=lambda pair: (pair.distance, pair.first)))


def smallest_distance(atlas: Atlas, codes: Sequence[int] = ASCII) -> int:
    """The distance of the closest pair."""
    return closest_pairs(atlas, codes)[0].distance


def _pairs(table: NDArray[np.int32], codes: Sequence[int]) -> Iterator[Pair]:
    for i, first in enumerate(codes):
        for second, distance in zip(codes[i + 1 :], table[i, i + 1 :].tolist(), strict=True):
            yield Pair(distance, first, second)
