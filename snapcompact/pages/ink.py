"""Which colour each cell of a page is printed in.

A rule sees one page alone, so that a page is the same whatever stands before it. Colours carry no
text: reading takes all but paper for ink.
"""

from __future__ import annotations

import re
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from snapcompact.fonts.atlas import Special
from snapcompact.pages.layout import flow_to_cells, grid_to_flow

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from snapcompact.pages.shape import Shape

Colour = tuple[int, int, int]
PAPER, BLACK = (255, 255, 255), (0, 0, 0)
SCOPES = ("system", "user", "tool", "think", "ai", "call", "note", "out")
"""What markers open, in the order of their colours."""

PALETTES: Mapping[str, tuple[Colour, ...]] = MappingProxyType(
    {
        "black": (PAPER, BLACK),
        "dim": (PAPER, BLACK, (112, 112, 112)),
        "role": (
            PAPER,
            BLACK,
            (110, 70, 0),
            (0, 0, 170),
            (0, 95, 95),
            (105, 105, 105),
            (0, 90, 0),
            (130, 0, 130),
            (150, 0, 0),
            (60, 60, 60),
        ),
        "sentence": (PAPER, BLACK, (0, 0, 170)),
    }
)
"""Colours of each ink, paper first. All are darker than mid-grey: 4.5 to 1 and more against paper,
and still ink where a picture is reduced to black and white."""

_UNPRINTED = np.array([9, 10, *(int(special) for special in Special)])
# A line begins where the text does or behind a line end, and behind the rest of the row that ends.
_MARKER = re.compile(r"(?:^|\n(?:\x81 *)?)(?P<mark>¶[+*]?(?P<scope>\w+)|(?P<close></?)out)")
_SENTENCE_END = re.compile(r"[.!?](?=[ \n])")


@cache
def depth_of(ink: str) -> int:
    """Bits a pixel that pages of `ink` need: 1, 2 or 4."""
    return next(bits for bits in (1, 2, 4) if len(PALETTES[ink]) <= 1 << bits)


def cell_inks(cells: NDArray[np.uint16], shape: Shape) -> NDArray[np.uint8]:
    """The colour (an index of the palette) of each of `cells` (rows, grid columns), as uint8.

    ``dim`` greys results of tools, and the cells that print no character; ``sentence`` changes
    colour behind each; with ``role`` a marker's scope colours all up to the next. What stands
    before a page's first marker is a result if that closes one, and black else.
    """
    flow = grid_to_flow(cells, shape)
    return flow_to_cells(_RULES[shape.ink](flow), cells.shape[0], shape, fill=1)


def _black(flow: NDArray[np.uint16]) -> NDArray[np.uint8]:
    return np.ones(flow.size, np.uint8)


def _dim(flow: NDArray[np.uint16]) -> NDArray[np.uint8]:
    grey = np.isin(flow, _UNPRINTED) | (_role(flow) == 2 + SCOPES.index("out"))
    return np.where(grey, 2, 1).astype(np.uint8)


def _sentence(flow: NDArray[np.uint16]) -> NDArray[np.uint8]:
    inks = np.zeros(flow.size, np.int64)
    ends = [match.end() for match in _SENTENCE_END.finditer(_letters(flow))]
    inks[[end for end in ends if end < flow.size]] = 1
    return (1 + np.cumsum(inks) % 2).astype(np.uint8)


def _role(flow: NDArray[np.uint16]) -> NDArray[np.uint8]:
    inks = np.ones(flow.size, np.uint8)
    for number, match in enumerate(_MARKER.finditer(_letters(flow))):
        scope = match["scope"] or "out"
        if number == 0 and match["close"] == "</":
            inks[:] = 2 + SCOPES.index("out")
        if scope in SCOPES:  # others, such as an image, go on in the colour they stand in
            inks[match.start("mark") :] = 2 + SCOPES.index(scope)
    return inks


def _letters(flow: NDArray[np.uint16]) -> str:
    """`flow` as one character a cell; Latin-1 stands for itself."""
    return flow.astype("<u4").tobytes().decode("utf-32-le", "surrogatepass")


_RULES: Mapping[str, Callable[[NDArray[np.uint16]], NDArray[np.uint8]]] = MappingProxyType(
    {"black": _black, "dim": _dim, "role": _role, "sentence": _sentence}
)
