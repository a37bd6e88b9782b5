"""The words that open a payload: how to read the pages, and what they do not show.

Fixed for a shape, a fidelity, a model and a step of select.py, so that a provider's prompt cache
keeps it. Plain wording: in
others' use, words that claim rank or speak of hidden instructions tripped refusal filters.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from snapcompact.archive.guide import guide as page_guide

if TYPE_CHECKING:
    from snapcompact.pages.shape import Shape

_EVERY_GLYPH = range(1 << 16)

_OPENING = """\
Below is the earlier part of this conversation, kept as pictures of its text. In order: its first \
words as text, the pictures from oldest to newest, a list of what has no picture, names and \
numbers from the pictures as exact text, and the newest words as text.
"""

WITHOUT_PAGES = """\
Below is the earlier part of this conversation, cut to fit: its first words, a list of what is \
left out and how to read it, and the newest words.
"""

_VALUES = """\
The list "Exact values" gives, for a page and a row, what is easily misread; "page N" counts the \
pictures from the first. Take hashes, paths, numbers and names from it rather than from a picture. \
The three characters behind "~" are a checksum of the value and no part of it.
"""

_COMPLETE = "The text is complete.\n"
_PARTLY = "But for that the text is complete.\n"
_LEAN = "The text was tidied before printing; each cut says how much it took.\n"

_NO_THINKING = "The assistant's reasoning, where there was any, is left out.\n"
_GONE = (
    "Messages {first} to {last} have no picture, or only a part of one; the list behind the "
    "pictures says how to read them.\n"
)


def guide(
    shape: Shape, fidelity: str, *, thinking: bool = True, gone: tuple[int, int] | None = None
) -> str:
    """The opening text of a payload whose pages are of `shape`; ends with a line end.

    `thinking` says that reasoning is printed where there is any, `gone` are the first and the last
    message that no picture shows whole.
    """
    signs = page_guide(shape, _EVERY_GLYPH, thinking=thinking)
    return "\n".join((_OPENING, signs, _fidelity(fidelity, thinking, gone), _VALUES))


def _fidelity(fidelity: str, thinking: bool, gone: tuple[int, int] | None) -> str:
    """What the pictures leave out, a line each; they are called complete only where they are."""
    lines = [] if thinking else [_NO_THINKING]
    if gone is not None:
        lines.append(_GONE.format(first=gone[0], last=gone[1]))
    if fidelity == "lean":
        return "".join((*lines, _LEAN))
    whole = _PARTLY if lines else _COMPLETE
    return "".join((*lines, whole if fidelity == "exact" else ""))
