r"""What a page prints, character by character: the reference that readings are scored against.

A page's *rows* are its grid rows in reading order, newspaper column by column, each cell one
character: a glyph's own, ``\n`` for the line-end sign, ``⟦`` ``⟧`` around an escaped code point,
``⟪`` before an escaped byte, nothing for the right half of a wide glyph, for padding and for what
follows the end of the text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from snapcompact.fonts.atlas import NO_GLYPH, Special
from snapcompact.transcript.identifiers import find_identifiers, line_blocks

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from snapcompact.fonts.atlas import Atlas
    from snapcompact.pages.shape import Shape

GAP = "\ufffd"
"""Stands in a reading for a character that its reader says it cannot tell."""

_SPECIAL_TEXT: Mapping[int, str] = MappingProxyType(
    {
        Special.END: "",
        Special.PAD: "",
        Special.POINT_OPEN: "⟦",
        Special.CLOSE: "⟧",
        Special.BYTE_OPEN: "⟪",
        NO_GLYPH: GAP,
    }
)
_RIGHT_HALF = -3

_MARKER = re.compile(
    r"^(?:¶[+*]?(?P<scope>system|user|think|ai|call|note)\b|(?P<out><out\b))", re.MULTILINE
)
_SCOPES: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "system": ("system", "text"),
        "user": ("user", "text"),
        "ai": ("assistant", "text"),
        "think": ("assistant", "reasoning"),
        "call": ("assistant", "call"),
        "out": ("tool", "result"),
        "note": ("note", "note"),
    }
)
"""Role and kind of text of each scope of a transcript."""
FIRST_SCOPE = "note"
"""Before any marker."""


@dataclass(frozen=True, slots=True)
class NamedSpan:
    """Characters ``start`` up to ``end`` of a page's text, and what they are."""

    name: str
    start: int
    end: int


@dataclass(frozen=True, slots=True, eq=False)
class Truth:
    """A page's text and what its parts are.

    ``rows`` joined are the text; ``places`` (characters,) is the grid cell of each, row times grid
    columns plus column. ``scopes`` cover the text; ``identifiers`` are the first places of its
    exact words, by kind. ``last_scope`` goes on behind it.
    """

    rows: tuple[str, ...]
    places: NDArray[np.intp]
    scopes: tuple[NamedSpan, ...]
    identifiers: tuple[NamedSpan, ...]
    last_scope: str


def page_truth(
    cells: NDArray[np.uint16], shape: Shape, atlas: Atlas, scope: str = FIRST_SCOPE
) -> Truth:
    """The truth of a page printed as `cells` (rows, grid columns), `scope` being open before it."""
    rows, places = page_rows(cells, shape, atlas)
    text = "".join(rows)
    scopes = find_scopes(text, scope)
    return Truth(rows, places, scopes, _identifiers(text), scopes[-1].name if scopes else scope)


def page_rows(
    cells: NDArray[np.uint16], shape: Shape, atlas: Atlas
) -> tuple[tuple[str, ...], NDArray[np.intp]]:
    """The rows that `cells` (rows, grid columns) print, and the grid cell of each character.

    A cell of NO_GLYPH is a GAP. The header row is left out.
    """
    rows: list[str] = []
    places: list[NDArray[np.intp]] = []
    width, height = shape.grid_columns, cells.shape[0]
    ended = False
    for column in range(shape.columns):
        left = column * (shape.column_cells + shape.gutter)
        for row in range(int(shape.header), height):
            line = cells[row, left : left + shape.column_cells]
            if ended:
                line = line[:0]
            elif (ends := np.flatnonzero(line == Special.END)).size:
                line, ended = line[: ends[0]], True
            characters = cell_characters(line, atlas)
            kept = np.array([i for i, c in enumerate(characters) if c], np.intp)
            rows.append("".join(characters))
            places.append(row * width + left + kept)
    return tuple(rows), np.concatenate(places) if places else np.empty(0, np.intp)


def cell_characters(cells: NDArray[np.uint16], atlas: Atlas) -> list[str]:
    """The character of each of `cells`, as the module's head says; "" where there is none."""
    return [_character(cell, atlas.codes) for cell in cells.tolist()]


def find_scopes(text: str, scope: str) -> tuple[NamedSpan, ...]:
    """The scopes of transcript `text`, in order and without gaps; `scope` is open before it."""
    spans: list[NamedSpan] = []
    start = 0
    for marker in _MARKER.finditer(text):
        if marker.start() > start:
            spans.append(NamedSpan(scope, start, marker.start()))
        start, scope = marker.start(), marker["scope"] or "out"
    if len(text) > start:
        spans.append(NamedSpan(scope, start, len(text)))
    return tuple(spans)


def role_and_kind(scope: str) -> tuple[str, str]:
    """Who speaks in a scope, and which kind of text it holds."""
    return _SCOPES[scope]


def _character(cell: int, codes: NDArray[np.int32]) -> str:
    if (special := _SPECIAL_TEXT.get(cell)) is not None:
        return special
    code = int(codes[cell])
    if code == _RIGHT_HALF:
        return ""
    return chr(code) if code >= 0 else GAP


def _identifiers(text: str) -> tuple[NamedSpan, ...]:
    """The first place of each exact word of `text`."""
    data = text.encode("utf-8", "surrogatepass")
    at = _character_offsets(data)
    return tuple(
        NamedSpan(found.kind, at[found.offset], at[found.offset + len(found.text)])
        for found in find_identifiers(line_blocks(data))
    )


def _character_offsets(data: bytes) -> Sequence[int]:
    """For each byte of UTF-8 `data`, and its end, how many characters begin before it."""
    starts = (np.frombuffer(data, np.uint8) & 0xC0) != 0x80
    offsets: list[int] = [0, *np.cumsum(starts).tolist()]
    return offsets
