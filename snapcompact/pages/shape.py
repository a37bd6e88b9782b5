"""A shape: the geometry of a page, as data.

Names say what they are: ``8x16@11x16-1568x1568`` is the 8×16 font on a pitch of 11×16 px, on pages
of up to 1568×1568 px; layout and ink follow where they are not the defaults
(``…-1568x728-cols2-dim``). ``shapes.toml`` lists the named ones and their short names.
"""

from __future__ import annotations

import difflib
import re
import tomllib
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files
from types import MappingProxyType
from typing import TYPE_CHECKING

from snapcompact.errors import UnknownNameError, UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

MAX_SIDE_PX = 8192
MAX_PITCH_PX = 64
MAX_COLUMNS = 4
GUTTER_CELLS = 2
MIN_PAGE_CELLS = 16
"""The longest escape takes 8 cells; a page must hold one and make headway."""
MIN_HEADER_CELLS = 40
"""An id of 8 digits, a page number and a line number, each with a mark and a blank."""
LAYOUTS = ("packed", "lines")
INKS = ("black", "dim", "role", "sentence")

_NAME = re.compile(
    r"(?P<font>[^@\s]+)@(?P<pitch_width>\d{1,4})x(?P<pitch_height>\d{1,4})"
    r"-(?P<page_width>\d{1,5})x(?P<page_height>\d{1,5})"
    r"(?:-cols(?P<columns>[1-9]))?(?:-gutter(?P<gutter>\d{1,2}))?(?:-(?P<layout>packed|lines))?"
    r"(?:-(?P<ink>black|dim|role|sentence))?(?P<header>-header)?(?P<indent>-indent)?"
)


@dataclass(frozen=True)
class Shape:
    """Geometry of a page; all lengths in px.

    ``columns`` newspaper columns of equal width, ``gutter`` cells apart; ``layout`` is ``packed``
    or ``lines``; with ``indent`` a packed line that begins with a blank or tab begins a row, so
    that its indentation stands at the edge; ``ink`` is ``black``, ``dim``, ``role`` or
    ``sentence``. Raises UsageError where the parts do not make a page.
    """

    font: str
    pitch_width: int
    pitch_height: int
    page_width: int
    page_height: int
    columns: int = 1
    gutter: int = GUTTER_CELLS
    layout: str = "packed"
    ink: str = "black"
    header: bool = False
    indent: bool = False

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        return hash(self.name)  # once: a page looks up half a dozen things by its shape

    def __post_init__(self) -> None:
        checks = {
            f"pitch sides are 1 to {MAX_PITCH_PX} px": 1 <= self.pitch_width <= MAX_PITCH_PX
            and 1 <= self.pitch_height <= MAX_PITCH_PX,
            f"page sides are 1 to {MAX_SIDE_PX} px": 1 <= self.page_width <= MAX_SIDE_PX
            and 1 <= self.page_height <= MAX_SIDE_PX,
            f"a page has 1 to {MAX_COLUMNS} columns": 1 <= self.columns <= MAX_COLUMNS,
            "a gutter has 0 to 16 cells": 0 <= self.gutter <= 16,
            f"a layout is one of {', '.join(LAYOUTS)}": self.layout in LAYOUTS,
            f"an ink is one of {', '.join(INKS)}": self.ink in INKS,
        }
        self._refuse(checks)
        self._refuse(
            {
                "a column is at least 2 cells wide": self.column_cells >= 2,
                f"a page has at least {MIN_PAGE_CELLS} cells": self.page_cells >= MIN_PAGE_CELLS,
                f"a header needs {MIN_HEADER_CELLS} cells across": not self.header
                or self.grid_columns >= MIN_HEADER_CELLS,
            }
        )

    def _refuse(self, checks: Mapping[str, bool]) -> None:
        """Raise UsageError with every check that does not hold."""
        if wrong := [rule for rule, holds in checks.items() if not holds]:
            raise UsageError(f"shape {self.name!r} makes no page: {'; '.join(wrong)}")

    @cached_property
    def grid_columns(self) -> int:
        """Cells across the whole page."""
        return self.page_width // self.pitch_width

    @cached_property
    def grid_rows(self) -> int:
        """Cells down the whole page, the header row included."""
        return self.page_height // self.pitch_height

    @cached_property
    def column_cells(self) -> int:
        """Cells across one newspaper column."""
        return (self.grid_columns - self.gutter * (self.columns - 1)) // self.columns

    @cached_property
    def text_rows(self) -> int:
        """Rows of text in all columns of one page together."""
        return (self.grid_rows - self.header) * self.columns

    @cached_property
    def page_cells(self) -> int:
        """Cells of text that one page holds."""
        return self.text_rows * self.column_cells

    @cached_property
    def row_bytes(self) -> int:
        """Bytes of one scanline at one bit a pixel."""
        return (self.page_width + 7) // 8

    @cached_property
    def line_bytes(self) -> int:
        """Bytes of one scanline with the filter byte that PNG puts before it."""
        return 1 + self.row_bytes

    @cached_property
    def name(self) -> str:
        """The name that :func:`parse_shape` reads back."""
        parts = [
            f"{self.font}@{self.pitch_width}x{self.pitch_height}",
            f"{self.page_width}x{self.page_height}",
        ]
        parts += [f"cols{self.columns}"] if self.columns > 1 else []
        parts += [f"gutter{self.gutter}"] if self.gutter != GUTTER_CELLS else []
        parts += [self.layout] if self.layout != "packed" else []
        parts += [self.ink] if self.ink != "black" else []
        parts += ["header"] if self.header else []
        parts += ["indent"] if self.indent else []
        return "-".join(parts)


@dataclass(frozen=True, slots=True)
class NamedShape:
    """A row of ``shapes.toml``: a shape, its short names, and whom it suits."""

    shape: Shape
    aliases: tuple[str, ...]
    suits: str


@cache
def shapes() -> Mapping[str, NamedShape]:
    """The named shapes by full name, in the order of ``shapes.toml``; read-only."""
    table = tomllib.loads(files("snapcompact.pages").joinpath("shapes.toml").read_text("utf-8"))
    rows = (
        NamedShape(_parse_full(row["name"]), tuple(row["aliases"]), row["for"])
        for row in table["shape"]
    )
    return MappingProxyType({row.shape.name: row for row in rows})


def parse_shape(name: str) -> Shape:
    """The shape called `name`, a short name of ``shapes.toml`` or a full name.

    Raises UnknownNameError, with near matches, where `name` is neither; UsageError where it is
    spelled right but makes no page.
    """
    for row in shapes().values():
        if name in row.aliases:
            return row.shape
    return _parse_full(name)


def _parse_full(name: str) -> Shape:
    """The shape that the full name `name` spells; raises as :func:`parse_shape`."""
    match = _NAME.fullmatch(name)
    if match is None:
        raise UnknownNameError(_unknown(name))
    parts = match.groupdict()
    return Shape(
        font=parts["font"],
        pitch_width=int(parts["pitch_width"]),
        pitch_height=int(parts["pitch_height"]),
        page_width=int(parts["page_width"]),
        page_height=int(parts["page_height"]),
        columns=int(parts["columns"] or 1),
        gutter=int(parts["gutter"] or GUTTER_CELLS),
        layout=parts["layout"] or "packed",
        ink=parts["ink"] or "black",
        header=bool(parts["header"]),
        indent=bool(parts["indent"]),
    )


def _unknown(name: str) -> str:
    """The message for a name that is no shape."""
    known = [key for row in shapes().values() for key in (*row.aliases, row.shape.name)]
    near = difflib.get_close_matches(name, known, n=4, cutoff=0.4) or known[:4]
    return (
        f"unknown shape {name!r}: near are {', '.join(near)}; "
        "or spell one out, as 8x16@11x16-1568x1568 (font@pitch-page)"
    )
