"""The words that open a payload: how to read the pages. Fixed for a shape and a fidelity.

Nothing here depends on the history, so that a provider's prompt cache keeps it. Plain wording: in
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

_FIDELITY = {
    "exact": "The text is complete.\n",
    "lean": "The text was tidied before printing; each cut says how much it took.\n",
}


def guide(shape: Shape, fidelity: str) -> str:
    """The opening text of a payload whose pages are of `shape`; ends with a line end."""
    parts = [_OPENING, page_guide(shape, _EVERY_GLYPH), _FIDELITY.get(fidelity, ""), _VALUES]
    return "\n".join(part for part in parts if part)
