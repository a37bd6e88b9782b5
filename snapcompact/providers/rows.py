"""What a row of the model catalog may hold, and the strict reader of such rows.

A figure on which sources disagree is a :class:`Range`; in TOML a number, or ``[low, high]``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, Field, dataclass, fields
from datetime import date
from types import MappingProxyType
from typing import Any, ClassVar, Protocol, TypeVar

from snapcompact.errors import InputError


@dataclass(frozen=True, slots=True)
class Range:
    """A figure with both ends that sources give; equal where they agree."""

    low: float
    high: float


NOTHING = Range(0, 0)
ONCE = Range(1, 1)


@dataclass(frozen=True, slots=True)
class ImageRule:
    """How an image is billed; ``rule`` names the formula in price.py, the rest feeds it."""

    rule: str
    patch_px: int = 0
    factor: Range = ONCE
    tile_px: int = 0
    base_tokens: int = 0
    tile_tokens: int = 0
    tokens: Range = NOTHING
    tokens_per_megapixel: Range = NOTHING
    extra_tokens: Range = NOTHING


@dataclass(frozen=True, slots=True)
class Fit:
    """What an image is scaled down to before it is seen; 0 is no limit."""

    long_edge_px: int = 0
    short_edge_px: int = 0
    patches: int = 0
    whole_patches: bool = False


@dataclass(frozen=True, slots=True)
class Caps:
    """What one request may hold; bytes are of base64, 0 edges are no limit.

    ``many_edge_px`` replaces ``edge_px`` from ``many_images`` + 1 images on.
    """

    images: Range
    image_bytes: int
    request_bytes: Range
    edge_px: int = 0
    many_images: int = 0
    many_edge_px: int = 0


@dataclass(frozen=True, slots=True)
class Model:
    """A family of models that bill and see images alike. catalog.toml says what each key means."""

    name: str
    prefixes: tuple[str, ...]
    api: str
    tokenizer: str
    vision: bool
    window_tokens: int
    caps: Caps
    shapes: tuple[str, ...]
    source: str
    date: date
    image: ImageRule | None = None
    fit: Fit = Fit()
    shapes_basis: str = ""
    shapes_reason: str = ""
    detail: str = ""
    thinking: bool = True
    note: str = ""

    @property
    def shape(self) -> str:
        """Name of the default shape."""
        return self.shapes[0]


@dataclass(frozen=True, slots=True)
class Router:
    """A service that passes requests on, known by how its ids begin; ``images`` a request."""

    name: str
    prefixes: tuple[str, ...]
    images: int
    source: str
    date: date


@dataclass(frozen=True, slots=True)
class Price:
    """USD per million tokens for ids that begin with one of ``prefixes``."""

    prefixes: tuple[str, ...]
    input_usd_per_mtok: Range
    source: str
    date: date
    output_usd_per_mtok: Range | None = None


class _Row(Protocol):
    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]


RowT = TypeVar("RowT", bound=_Row)


def read_row(kind: type[RowT], table: object, where: str) -> RowT:
    """`table` as a `kind`.

    Raises InputError, with `where`, for unknown, missing and mistyped keys.
    """
    if not isinstance(table, Mapping):
        raise InputError(f"{where}: expected a table, found {table!r}")
    known = {f.name: f for f in fields(kind)}
    if unknown := sorted(set(table) - set(known)):
        raise InputError(
            f"{where}: unknown key {', '.join(unknown)}; known are {', '.join(sorted(known))}"
        )
    required = {n for n, f in known.items() if f.default is MISSING}
    if missing := sorted(required - set(table)):
        raise InputError(f"{where}: missing key {', '.join(missing)}")
    return kind(**{n: _value(str(known[n].type), v, f"{where}.{n}") for n, v in table.items()})


def _value(annotation: str, value: object, where: str) -> object:
    """`value` as the type that `annotation` names (the text of it, see the table below)."""
    wanted = annotation.removesuffix(" | None")
    if wanted in NESTED:
        return read_row(NESTED[wanted], value, where)
    found = _PLAIN[wanted](value)
    if found is None:
        raise InputError(f"{where}: expected {_SAYS[wanted]}, found {value!r}")
    return found


def _number(value: object) -> float | None:
    good = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1e12
    return value if good and isinstance(value, int | float) else None


def _range(value: object) -> Range | None:
    ends = value if isinstance(value, list) and len(value) == 2 else [value, value]
    low, high = _number(ends[0]), _number(ends[1])
    if low is None or high is None or low > high:
        return None
    return Range(low, high)


def _int(value: object) -> int | None:
    number = _number(value)
    return number if isinstance(number, int) else None


def _names(value: object) -> tuple[str, ...] | None:
    if isinstance(value, list) and all(isinstance(v, str) and v for v in value):
        return tuple(value)
    return None


_PLAIN = MappingProxyType(
    {
        "Range": _range,
        "bool": lambda v: v if isinstance(v, bool) else None,
        "date": lambda v: v if type(v) is date else None,
        "int": _int,
        "str": lambda v: v if isinstance(v, str) else None,
        "tuple[str, ...]": _names,
    }
)
_SAYS = MappingProxyType(
    {
        "Range": "a number or [low, high], not negative",
        "bool": "true or false",
        "date": "a date such as 2026-11-30",
        "int": "a whole number, not negative",
        "str": "text",
        "tuple[str, ...]": "a list of names",
    }
)
NESTED: Mapping[str, type[Any]] = MappingProxyType(
    {"Caps": Caps, "Fit": Fit, "ImageRule": ImageRule}
)
