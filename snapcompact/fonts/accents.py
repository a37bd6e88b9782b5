"""Glyphs made from drawn ones: accents, mirrored and pressed forms, look-alikes told apart.

Which base and which marks an accented letter has is taken from its canonical decomposition, which
Unicode never changes. Everything here maps drawings to drawings.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from snapcompact.fonts.drawing import Rows

MIRRORED = "←→ ↖↗ ↙↘ ↤↦ ⇤⇥ ↩↪ ↺↻ ⇐⇒ ⇆⇄ ›‹ »« ∋∈ ≥≤ ≫≪ ⊃⊂ ⊇⊆ ⊣⊢ ⌉⌈ ⌦⌫ ❮❯ ‵′ ‟” ЯR ИN"
"""Pairs: the character made, the one it is the mirror image of."""
FLIPPED = "↓↑ ⇓⇑ ⇩⇧ ¡! ∪∩ ∨∧ ∇∆ ⊥⊤ ⌊⌈ ∐∏"
"""Upside down, standing on the same scanlines."""
TURNED = "¿? ⌋⌈ ∵∴"
PRESSED = "вB гГ дД жЖ зЗ иИ кK лЛ мM нH пП тT цЦ чЧ шШ щЩ ъЪ ыЫ ьЬ эЭ юЮ яЯ єЄ љЉ њЊ џЏ ґҐ"
"""Capitals as high as lower-case letters."""
TICKED_LEFT = "АA ВB ЕE ІI ЈJ КK МM НH ОO РP СC ЅS ТT ХX еe оo рp сc хx іi јj ѕs ĐÐ"
"""Cyrillic that looks like Latin: told apart by a tick at the lower left (descenders: upper)."""
TICKED_RIGHT = "ΑA ΒB ΕE ΖZ ΗH ΙI ΚK ΜM ΝN ΟO ΡP ΤT ΥY ΧX οo"
"""Greek that looks like Latin: a tick at the lower right."""
STRUCK = "øo ØO ≠= ∉∈ ∌∋ ≢≡ ⊄⊂ ⊅⊃ ∄∃ ≉≈"
"""Struck through with U+0337."""
SPACING = (
    "´\u0301 ¨\u0308 ¯\u0304 ¸\u0327 ˆ\u0302 ˇ\u030c "
    "˘\u0306 ˙\u0307 ˚\u030a ˛\u0328 ˜\u0303 ˝\u030b"
)
"""Marks standing alone."""
COMPOSED = (
    *range(0xC0, 0x180), *range(0x218, 0x21C), *range(0x386, 0x3CF), *range(0x400, 0x460),
)  # fmt: skip
"""Code points that are composed where they decompose into what is drawn."""
_DOTLESS = {"i": "ı", "j": "ȷ"}
_DOTTED_TWINS = {"і": "ı", "ј": "ȷ"}
"""Cyrillic і and ј, which lose their dot under an accent but not their tick."""
_BELOW = "\u0326\u0327\u0328"
"""Marks that hang under the baseline."""


@dataclass(frozen=True, slots=True)
class Metrics:
    """Scanlines of a font: where its letters stand."""

    width: int
    height: int
    baseline: int
    """The first one under letters without a descender."""
    lower_top: int
    """The first one of lower-case letters."""
    accent_top: int
    """The first one of capitals with an accent over them."""


def composed(drawn: dict[str, Rows], metrics: Metrics) -> dict[str, Rows]:
    """All glyphs that can be made from the drawings, by character."""
    width = metrics.width
    made: dict[str, Rows] = {}
    steps: list[tuple[str, Callable[[Rows], Rows]]] = [
        (MIRRORED, lambda rows: mirror(rows, width)),
        (FLIPPED, flip),
        (TURNED, lambda rows: flip(mirror(rows, width))),
        (TICKED_LEFT, lambda rows: tick(rows, metrics, 0)),
        (TICKED_RIGHT, lambda rows: tick(rows, metrics, width - 3)),
        (PRESSED, lambda rows: press(rows, metrics.lower_top)),
        (STRUCK, lambda rows: overlay(rows, drawn["\u0337"])),
        (SPACING, lambda rows: rows),
    ]
    for pairs, change in steps:
        for target, source in map(tuple, pairs.split(" ")):
            rows = drawn.get(source) or made.get(source)
            if rows is not None and target not in drawn:
                made[target] = change(rows)
    known = made | drawn
    for code in COMPOSED:
        rows = _accented(chr(code), known, metrics)
        if rows is not None and chr(code) not in drawn:
            made[chr(code)] = rows
    return made


def mirror(rows: Rows, width: int) -> Rows:
    """Left to right, within the columns that have ink."""
    ink = 0
    for row in rows:
        ink |= row
    spare = (ink & -ink).bit_length() - 1 if ink else 0
    left = width - ink.bit_length()
    turned = (int(f"{row:0{width}b}"[::-1], 2) for row in rows)
    # Mirroring moved the empty columns of the right side to the left: shift back.
    shift = spare - left
    return tuple(row << shift if shift >= 0 else row >> -shift for row in turned)


def flip(rows: Rows) -> Rows:
    """Upside down, within the scanlines that have ink."""
    first = next(y for y, row in enumerate(rows) if row)
    last = next(y for y in range(len(rows) - 1, -1, -1) if rows[y])
    return (*rows[:first], *reversed(rows[first : last + 1]), *rows[last + 1 :])


def overlay(rows: Rows, other: Rows) -> Rows:
    """The ink of both."""
    return tuple(a | b for a, b in zip(rows, other, strict=True))


def press(rows: Rows, top: int) -> Rows:
    """The drawing made lower until its first ink is on scanline ``top`` or below.

    Scanlines go one by one: the one most like the next, nearest the middle among equals.
    """
    pressed = list(rows)
    while (first := next(y for y, row in enumerate(pressed) if row)) < top:
        last = max(y for y, row in enumerate(pressed) if row)
        middle = (first + last) / 2

        def cost(y: int, middle: float = middle) -> tuple[int, float]:
            return (pressed[y] ^ pressed[y + 1]).bit_count(), abs(y - middle)

        del pressed[min(range(first, last), key=cost)]
        pressed.insert(0, 0)
    return tuple(pressed)


def tick(rows: Rows, metrics: Metrics, column: int) -> Rows:
    """The drawing with a short bar in a corner: under the baseline, or above a descender."""
    y = len(rows) - 1 - (len(rows) > 12) if not any(rows[metrics.baseline :]) else 0
    mark = 0b11 << (metrics.width - 2 - column)
    return tuple(row | mark if at == y else row for at, row in enumerate(rows))


def _accented(what: str, known: dict[str, Rows], metrics: Metrics) -> Rows | None:
    """The letter with its marks, or None where a part is not known."""
    base, *marks = tuple(unicodedata.normalize("NFD", what))
    if not marks or base not in known or any(mark not in known for mark in marks):
        return None
    above = [mark for mark in marks if mark not in _BELOW]
    rows = known[_DOTLESS.get(base, base) if above else base]
    if above and base in _DOTTED_TWINS:
        rows = tick(known[_DOTTED_TWINS[base]], metrics, 0)
    tall = any(rows[: metrics.lower_top])
    if tall and above:
        rows = press(rows, metrics.accent_top)
    for mark in marks:
        rows = overlay(rows, _placed(mark, known[mark], rows, metrics, tall))
    return rows


def _placed(mark: str, ink: Rows, base: Rows, metrics: Metrics, tall: bool) -> Rows:
    """A mark where it belongs: over a descender what has no room under it, higher over capitals."""
    if mark in _BELOW:
        return tuple(reversed(ink)) if any(base[metrics.baseline :]) else ink
    return (*ink[1:], 0) if tall and not ink[0] else ink
