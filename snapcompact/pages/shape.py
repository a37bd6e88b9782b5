"""A shape: the geometry of a page, as data.

Names say what they are: ``8x16@11x16-1568x1568`` is the 8×16 font on a pitch of 11×16 px, on pages
of up to 1568×1568 px; layout and ink follow where they are not the defaults
(``…-1568x728-cols2-dim``).
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Shape:
    """Geometry of a page; all lengths in px.

    ``columns`` newspaper columns of equal width, ``gutter`` cells apart; ``layout`` is ``packed``
    or ``lines``; ``ink`` is ``black``, ``dim``, ``role`` or ``sentence``.
    """

    font: str
    pitch_width: int
    pitch_height: int
    page_width: int
    page_height: int
    columns: int = 1
    gutter: int = 2
    layout: str = "packed"
    ink: str = "black"
    header: bool = False
    indent: bool = False

    @property
    def grid_columns(self) -> int:
        """Cells across the whole page."""
        return self.page_width // self.pitch_width

    @property
    def grid_rows(self) -> int:
        """Cells down the whole page, the header row included."""
        return self.page_height // self.pitch_height

    @property
    def column_cells(self) -> int:
        """Cells across one newspaper column."""
        return (self.grid_columns - self.gutter * (self.columns - 1)) // self.columns

    @property
    def text_rows(self) -> int:
        """Rows of text in all columns of one page together."""
        return (self.grid_rows - self.header) * self.columns

    @property
    def name(self) -> str:
        """The name that :func:`parse_shape` reads back."""
        parts = [
            f"{self.font}@{self.pitch_width}x{self.pitch_height}",
            f"{self.page_width}x{self.page_height}",
        ]
        parts += [f"cols{self.columns}"] if self.columns > 1 else []
        parts += [self.layout] if self.layout != "packed" else []
        parts += [self.ink] if self.ink != "black" else []
        parts += ["header"] if self.header else []
        parts += ["indent"] if self.indent else []
        return "-".join(parts)
