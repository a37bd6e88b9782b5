"""Page shapes and image budgets by model line, as the seed's printer chose them.

Ours come from ``snapcompact.pages`` and ``snapcompact.providers``; this table answers for the
preset whose program we continue, so that its forecasts can be compared.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Frame:
    """A square page. ``detail`` is what an API wants to be told."""

    font: str
    cell_width: int
    cell_height: int
    size: int

    @property
    def columns(self) -> int:
        """Cells in a row."""
        return self.size // self.cell_width

    @property
    def rows(self) -> int:
        """Rows on a page."""
        return self.size // self.cell_height


@dataclass(frozen=True, slots=True)
class FrameLine:
    """The page for models whose id matches ``models``, or that speak an API matching ``apis``."""

    font: str = "8x13"
    cell_width: int = 11
    cell_height: int = 16
    size: int = 1568
    models: str = ""
    apis: str = ""


@dataclass(frozen=True, slots=True)
class FrameBilling:
    """Tokens of a page: ``flat``, or patches of ``patch`` px times ``factor``, rounded up."""

    apis: str = ""
    patch: int = 28
    factor: float = 1.05
    cap: int = 0
    """Patches billed at most; 0 is no limit."""
    flat: int = 0
    detail: str = ""


@dataclass(frozen=True, slots=True)
class FrameRules:
    """Tables read in order; the last line of each stands for all else."""

    lines: tuple[FrameLine, ...] = (FrameLine(),)
    billing: tuple[FrameBilling, ...] = (FrameBilling(),)
    budgets: Mapping[str, int] = field(default_factory=dict)
    """Images a request may hold, by provider."""


def frame_for(api: str, model: str, rules: FrameRules) -> Frame:
    """The page of a model: by its own line first, then by the API it is reached through."""
    line = next(
        (one for one in rules.lines if one.models and re.search(one.models, model, re.IGNORECASE)),
        None,
    ) or next(
        (one for one in rules.lines if one.apis and re.search(one.apis, api)), rules.lines[-1]
    )
    return Frame(line.font, line.cell_width, line.cell_height, line.size)


def frame_tokens(frame: Frame, api: str, rules: FrameRules) -> tuple[int, str]:
    """(tokens of one full page as the API bills it, the detail it wants to be told)."""
    row = next(
        (one for one in rules.billing if one.apis and re.search(one.apis, api)), rules.billing[-1]
    )
    patches = math.ceil(frame.size / row.patch) ** 2
    patches = min(patches, row.cap) if row.cap else patches
    return row.flat or math.ceil(patches * row.factor), row.detail
