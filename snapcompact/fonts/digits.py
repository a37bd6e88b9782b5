"""Tiny digits, and what is set with them: raised and lowered digits, fractions."""

from __future__ import annotations

from snapcompact.fonts.drawing import Point, Rows, rows_of

_DIGITS = "35556 26227 61247 61216 55711 74616 14657 71222 75757 75314 25755 65656 34443 65556 74647 74644"  # fmt: skip  # noqa: E501
"""Hex digits of 3×5 px: one octal digit a scanline, top first."""
_RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹"
_LOWERED = "₀₁₂₃₄₅₆₇₈₉"
_FRACTIONS = "½12 ¼14 ¾34 ⅓13 ⅔23 ⅕15 ⅖25 ⅗35 ⅘45 ⅙16 ⅚56 ⅛18 ⅜38 ⅝58 ⅞78"


def tiny_digit(value: int, x: int, y: int) -> list[Point]:
    """The pixels of a hex digit, its top left at ``x``, ``y``."""
    return [
        (x + column, y + row)
        for row, octal in enumerate(_DIGITS.split(" ")[value])
        for column in range(3)
        if int(octal) >> (2 - column) & 1
    ]


def small_digits(width: int, height: int) -> dict[str, Rows]:
    """Raised and lowered digits and fractions by character."""
    made = {what: tiny_digit(value, (width - 4) // 2, 0) for value, what in enumerate(_RAISED)}
    made |= {
        what: tiny_digit(value, (width - 4) // 2, height - 5) for value, what in enumerate(_LOWERED)
    }
    if height >= 12:
        for what, over, under in map(tuple, _FRACTIONS.split(" ")):
            made[what] = [
                *tiny_digit(int(over), 0, 0),
                *((x, height // 2 - 1 + (x < width // 2)) for x in range(width - 1)),
                *tiny_digit(int(under), width - 4, height - 5),
            ]
    return {what: rows_of(ink, width, height) for what, ink in made.items()}
