"""Eyes: how sharply a family of models sees, as two numbers fitted to published readings.

An eye blurs what arrives (Gaussian) and adds white noise to each pixel. That is a caricature of a
vision encoder, but it has what decides between shapes: small differences drown, neighbours blur
into each other, and spacing helps. ``eyes.toml`` holds the numbers, ``bench/eye.py`` fits them.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

DEFAULT = "default"
"""The row for models without one."""


@dataclass(frozen=True, slots=True)
class Eye:
    """How one family of models sees.

    ``blur_px`` and ``noise`` (standard deviation, 1 is ink) are per pixel seen. ``basis`` is
    ``predicted`` where they come from figures of others, ``measured`` where from our own probes.
    """

    name: str
    blur_px: float
    noise: float
    basis: str
    source: str


@cache
def eyes() -> Mapping[str, Eye]:
    """All eyes by the name of their catalog row; read-only."""
    table = tomllib.loads(files("snapcompact.legibility").joinpath("eyes.toml").read_text("utf-8"))
    rows = (Eye(**row) for row in table["eye"])
    return MappingProxyType({row.name: row for row in rows})


def eye_of(model_name: str) -> Eye:
    """The eye of the model whose catalog row has that name, or the default one."""
    known = eyes()
    return known.get(model_name, known[DEFAULT])
