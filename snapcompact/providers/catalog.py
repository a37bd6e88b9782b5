"""The models pages are sent to: rows of catalog.toml, the user's changes, and the match of an id.

Ids match by the longest known prefix, in any case, behind any router's path:
``openrouter/anthropic/claude-opus-4.7``, ``us.anthropic.claude-opus-4-7-v1:0``,
``models/gemini-3-pro``. An id of no known model takes the cautious row ``unknown`` and says so.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files as package_files
from pathlib import Path
from typing import Any, TypeVar

from snapcompact.errors import InputError
from snapcompact.files import config_dir, read_bounded
from snapcompact.providers.price import RULES
from snapcompact.providers.rows import Model, Price, Range, Router, read_row

T = TypeVar("T")

UNKNOWN = "unknown"
"""Name of the row for ids that match nothing."""

USER_FILE = "models.toml"
USER_FILE_BYTES = 1 << 20
"""Most bytes a user's models.toml may have; the shipped one has under 17,000."""

APIS = ("anthropic", "gemini", "openai-chat", "openai-responses")


@dataclass(frozen=True, slots=True)
class Catalog:
    """All rows, the user's included."""

    models: tuple[Model, ...]
    routers: tuple[Router, ...]
    prices: tuple[Price, ...]


@dataclass(frozen=True, slots=True)
class Match:
    """What is known of a model id. ``model`` has the caps of the router already in it."""

    id: str
    model: Model
    prefix: str
    """The part of the id that decided, empty where the id is unknown."""
    router: str = ""
    price: Price | None = None

    @property
    def known(self) -> bool:
        """Whether the id is one of a known family."""
        return bool(self.prefix)

    @property
    def warning(self) -> str:
        """What to tell the user of an unknown id; empty for a known one."""
        if self.known:
            return ""
        return (
            f"model {self.id!r} is not in the catalog: counted with the cautious row "
            f"{self.model.name!r}; add a [[model]] to models.toml for exact figures"
        )


def load_catalog(user_file: Path | None = None) -> Catalog:
    """The shipped rows, changed by those of `user_file` where that file exists.

    A user's row replaces single keys of the shipped row of its name, or is a new row with all keys;
    a user's ``[[price]]`` is looked at before the shipped ones.
    Raises InputError for a row that does not fit, DiskError for a file that cannot be read.
    """
    shipped = _tables(package_files(__package__).joinpath("catalog.toml").read_text(), "catalog")
    if user_file is None or not user_file.exists():
        return _catalog(shipped)
    try:
        text = read_bounded(user_file, USER_FILE_BYTES).decode()
    except UnicodeDecodeError as error:
        raise InputError(f"{user_file}: not UTF-8 at byte {error.start}") from error
    user = _tables(text, str(user_file))
    try:
        return _catalog(_merged(shipped, user))
    except InputError as error:
        # The shipped rows are sound, so what does not fit comes from the user's file.
        raise InputError(f"{user_file}: {error}") from error


def user_catalog() -> Catalog:
    """The shipped rows with this user's ``models.toml`` of the settings folder."""
    return load_catalog(config_dir() / USER_FILE)


def match(catalog: Catalog, model_id: str) -> Match:
    """What `catalog` knows of `model_id`; a family's own name matches too."""
    wanted = _plain(model_id)
    named = {m.name: m for m in catalog.models}
    found = _longest(wanted, ((m.prefixes, m) for m in catalog.models))
    model, prefix = found or (named[UNKNOWN], "")
    if (own := named.get(model_id)) and own.name != UNKNOWN:
        model, prefix = own, own.name
    priced = _longest(wanted, ((p.prefixes, p) for p in catalog.prices))
    price = priced[0] if priced else None
    router = _router(catalog, model_id)
    if router:
        caps = replace(model.caps, images=_at_most(model.caps.images, router.images))
        model = replace(model, caps=caps)
    return Match(model_id, model, prefix, router.name if router else "", price)


@cache
def _plain(name: str) -> str:
    """`name` in lower case, with a dot between digits as a dash: 4.7 and 4-7 are one version."""
    return re.sub(r"(?<=\d)\.(?=\d)", "-", name.strip().lower())


def _longest(wanted: str, rows: Iterable[tuple[tuple[str, ...], T]]) -> tuple[T, str] | None:
    """The row, and its prefix, that says most about `wanted`; the first of equals."""
    starts = [0, *(m.end() for m in re.finditer(r"[/.:@]+", wanted))]
    best: tuple[T, str] | None = None
    for prefixes, row in rows:
        for prefix in map(_plain, prefixes):
            longer = best is None or len(prefix) > len(best[1])
            if longer and any(_begins(wanted[at:], prefix) for at in starts):
                best = row, prefix
    return best


def _begins(name: str, prefix: str) -> bool:
    """Whether `name` begins with `prefix` as whole words: gpt-5-2 does not begin gpt-5-2025."""
    rest = name[len(prefix) : len(prefix) + 1]
    goes_on = rest.isalnum() if prefix[-1].isdigit() else rest.isalpha()
    return name.startswith(prefix) and not goes_on


def _router(catalog: Catalog, model_id: str) -> Router | None:
    wanted = model_id.strip().lower()
    return next((r for r in catalog.routers if wanted.startswith(r.prefixes)), None)


def _at_most(given: Range, most: int) -> Range:
    return Range(min(given.low, most), min(given.high, most))


def _tables(text: str, where: str) -> Mapping[str, list[dict[str, Any]]]:
    """The lists of tables of a catalog file, by kind. Raises InputError for anything else."""
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{where}: not TOML: {error}") from error
    kinds = ("model", "price", "router")
    for kind, rows in data.items():
        if kind not in kinds:
            raise InputError(
                f"{where}: unknown table {kind!r}; known are [[{']], [['.join(kinds)}]]"
            )
        if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
            raise InputError(f"{where}: write [[{kind}]], a list of tables")
    return {kind: data.get(kind, []) for kind in kinds}


def _merged(
    shipped: Mapping[str, list[dict[str, Any]]], user: Mapping[str, list[dict[str, Any]]]
) -> Mapping[str, list[dict[str, Any]]]:
    """Rows of both: by name for models and routers, the user's first for prices."""
    named = {
        kind: list(
            _by_name([*shipped[kind], *user[kind]]).values(),
        )
        for kind in ("model", "router")
    }
    return {**named, "price": [*user["price"], *shipped["price"]]}


def _by_name(rows: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    named: dict[str, dict[str, Any]] = {}
    for row in rows:
        name = str(row.get("name", ""))
        named[name] = {**named.get(name, {}), **row}
    return named


def _catalog(tables: Mapping[str, list[dict[str, Any]]]) -> Catalog:
    models = tuple(read_row(Model, row, f"model {row.get('name')!r}") for row in tables["model"])
    for model in models:
        _check(model)
    routers = tuple(
        read_row(Router, row, f"router {row.get('name')!r}") for row in tables["router"]
    )
    prices = tuple(read_row(Price, row, f"price {row.get('prefixes')}") for row in tables["price"])
    return Catalog(models, routers, prices)


def _check(model: Model) -> None:
    """Raises InputError where a row's keys do not go together."""
    where = f"model {model.name!r}"
    if model.vision and (model.image is None or model.image.rule not in RULES):
        raise InputError(f"{where}: vision needs image.rule, one of {', '.join(sorted(RULES))}")
    if model.api not in APIS:
        raise InputError(f"{where}: api {model.api!r} is none of {', '.join(APIS)}")
    if not model.shapes:
        raise InputError(f"{where}: shapes must name at least one shape")
    if model.fit.patches and not (model.image and model.image.patch_px):
        raise InputError(f"{where}: fit.patches needs image.patch_px")
