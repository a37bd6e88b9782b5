"""``guide.md``: how to read the pages, built from what these pages use.

Plain words for a person or a vision model that has only the pictures.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from snapcompact.fonts.atlas import Special

if TYPE_CHECKING:
    from snapcompact.pages.shape import Shape

_SIGNS: tuple[tuple[tuple[int, ...], str], ...] = (
    ((10,), "A thin low sign marks the end of a line; the text flows on behind it."),
    ((9,), "An arrow with a bar marks a tab."),
    ((13,), "A hooked arrow marks a carriage return."),
    ((0xA0,), "A marked blank is a no-break space."),
    (
        (Special.POINT_OPEN,),
        "A framed number such as ⟦1F600⟧ is one character by its code point in hexadecimal.",
    ),
    ((Special.BYTE_OPEN,), "A marked pair of hexadecimal digits is one byte that is no text."),
    ((Special.PAD,), "A hatched cell holds nothing."),
    ((Special.END,), "A filled sign marks the end of the text."),
)

_SCOPES = """\
A line that begins with ¶ says what follows: ¶system, ¶user, ¶ai (the assistant), ¶think (its
reasoning), ¶call:name(arguments) (a tool call), ¶note (a mark of the recording). The result of a
call stands between <out> and </out>; <out error> is a failure. A line that only looks like one of
these begins with a backslash. ¶image: and ¶file: stand for contents kept beside the pages."""


_THINK = "¶think (its\nreasoning), "


def guide(shape: Shape, used: Iterable[int], *, thinking: bool = True) -> str:
    """The guide for pages of `shape` that print the glyph ids `used`, with or without reasoning."""
    in_use = set(used)
    order = "rows from top to bottom, each from left to right"
    if shape.columns > 1:
        order = f"{shape.columns} columns from left to right, in each {order}"
    flow = (
        "Lines are not broken at their ends: the text fills every row, and a row has nothing to do "
        "with a line."
        if shape.layout == "packed"
        else "Each line begins on a row of its own; a long one goes on in the next row."
    )
    signs = [text for glyphs, text in _SIGNS if in_use & set(glyphs)]
    parts = [
        "# How to read these pages",
        f"The pages hold the text of a conversation in order of their numbers. Each page is a grid "
        f"of {shape.column_cells} characters across; read {order}. {flow}",
        "\n".join(f"- {sign}" for sign in signs),
        _SCOPES if thinking else _SCOPES.replace(_THINK, ""),
        "Characters are exact: zero has a slash, one has a foot, capital i has bars. Where a "
        "character cannot be told, say so instead of guessing.",
    ]
    return "\n\n".join(part for part in parts if part) + "\n"
