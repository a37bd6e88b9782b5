"""What a vision model is asked about a page, and its answer as rows."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from snapcompact.archive.guide import guide
from snapcompact.llm.contract import Picture, Request, Stop, user
from snapcompact.readback.reader import Reading
from snapcompact.readback.truth import GAP

if TYPE_CHECKING:
    from snapcompact.llm.contract import Completion
    from snapcompact.pages.shape import Shape
    from snapcompact.readback.reader import PagePicture

LINE_END, TAB = "⏎", "⇥"
"""What the model writes for the two signs that print no character."""

_TASK = f"""\
Copy the page below, character by character, one line for each printed row, from top to bottom. \
Keep the breaks of the printed rows, also in the middle of a word, and keep blanks. Write \
{LINE_END} for the sign of a line end, {TAB} for the sign of a tab, and {GAP} for each character \
that you cannot tell; never guess. Write nothing but <page>, the rows, and </page>.
"""
_PAGE = re.compile(r"<page>\r?\n?(.*?)(?:\r?\n)?</page>", re.DOTALL)
_SIGNS = str.maketrans({LINE_END: "\n", TAB: "\t", "\r": ""})
_EVERY_GLYPH = range(1 << 16)
MIME = {b"\x89PNG": "image/png", b"\xff\xd8\xff": "image/jpeg", b"GIF8": "image/gif"}


def prompt(shape: Shape) -> str:
    """The words beside a page of `shape`; the same for every page of it."""
    return f"{guide(shape, _EVERY_GLYPH)}\n{_TASK}"


def answer_tokens(shape: Shape) -> int:
    """The most tokens an answer may take: hashes run to one token in 1.5 characters."""
    return shape.page_cells * 2 // 3 + 4 * shape.grid_rows + 64


def page_request(page: PagePicture, detail: str = "") -> Request:
    """The request that has `page` read; deterministic where the model is."""
    mime = next((m for start, m in MIME.items() if page.data.startswith(start)), "image/webp")
    picture = Picture(mime, page.data, detail)
    return Request((user(prompt(page.shape), picture),), max_tokens=answer_tokens(page.shape))


def parse_answer(completion: Completion) -> Reading:
    """The reading that an answer holds; whatever of a page is in it is kept.

    It is not whole where the answer was cut, refused, or holds no page or several.
    """
    text = completion.text
    pages = _PAGE.findall(text)
    note = _WHY.get(completion.stop, "")
    if not pages:
        _, mark, rest = text.partition("<page>")
        body = rest if mark else ("" if completion.stop is Stop.REFUSAL else text)
        return Reading(_rows(body), whole=False, note=note or "the answer holds no whole page")
    if len(pages) > 1:
        note = note or f"the answer holds {len(pages)} pages; the first is taken"
    return Reading(_rows(pages[0]), whole=not note, note=note)


_WHY = {
    Stop.LENGTH: "the answer was cut at its longest",
    Stop.REFUSAL: "the model refused",
    Stop.TOOL: "the model called a tool instead",
    Stop.OTHER: "the answer broke off",
}


def _rows(body: str) -> tuple[str, ...]:
    body = body.lstrip("\r\n")
    return tuple(line.translate(_SIGNS) for line in body.split("\n")) if body else ()
