"""``snapcompact models``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from snapcompact.cli.console import printable, say, say_json, table, warn
from snapcompact.cli.options import Json

if TYPE_CHECKING:
    from snapcompact.providers.catalog import Match
    from snapcompact.providers.rows import Model


def register(app: typer.Typer) -> None:
    """Add the command to `app`."""
    app.command()(models)


def models(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="A model's id, as any provider or router has it.")
    ] = "",
    as_json: Json = False,
) -> None:
    """List the models pages can be sent to, or all that is known of one, with its sources."""
    from snapcompact.providers.catalog import match, user_catalog

    catalog = user_catalog()
    if not name:
        _list(catalog.models, as_json)
        return
    found = match(catalog, name)
    if found.warning:
        warn(found.warning)
    if as_json:
        say_json(_as_dict(found))
        return
    for key, value in _flat(_as_dict(found)):
        say(f"{key:<24} {printable(value)}")


def _list(rows: tuple[Model, ...], as_json: bool) -> None:
    from dataclasses import asdict

    from snapcompact.files import config_dir
    from snapcompact.providers.catalog import USER_FILE

    if as_json:
        say_json([_plain(asdict(row)) for row in rows])
        return
    head = ["model", "window", "images", "tokens a page", "tokenizer", "shape", "ids"]
    for line in table(
        head,
        [
            [
                row.name,
                row.window_tokens,
                int(row.caps.images.low),
                _page_tokens(row),
                row.tokenizer,
                row.shape if row.vision else "text only",
                ", ".join(f"{prefix}…" for prefix in row.prefixes) or "any other",
            ]
            for row in rows
        ],
    ):
        say(line)
    say()
    say(f"Your own rows, of the same keys, go into {config_dir() / USER_FILE}")


def _page_tokens(row: Model) -> str:
    from snapcompact.pages.shape import parse_shape
    from snapcompact.providers.price import image_price

    if not row.vision:
        return ""
    shape = parse_shape(row.shape)
    price = image_price(row, shape.page_width, shape.grid_rows * shape.pitch_height)
    return _ends(price.low_tokens, price.high_tokens)


def _ends(low: float, high: float) -> str:
    return f"{low:,.10g}" if low == high else f"{low:,.10g} to {high:,.10g}"


def _as_dict(found: Match) -> dict[str, Any]:
    from dataclasses import asdict

    price = None if found.price is None else _plain(asdict(found.price))
    return {
        "id": found.id,
        "known": found.known,
        "matched": found.prefix,
        "router": found.router,
        "model": _plain(asdict(found.model)),
        "price": price,
    }


def _plain(value: Any) -> Any:
    """Dataclass tables as JSON has them: ranges as one figure or ``[low, high]``, dates as text."""
    if isinstance(value, dict):
        if set(value) == {"low", "high"}:
            low, high = value["low"], value["high"]
            return low if low == high else [low, high]
        return {k: _plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(v) for v in value]
    return value if isinstance(value, str | int | float | None) else str(value)


def _flat(values: dict[str, Any], above: str = "") -> list[tuple[str, str]]:
    """The leaves that say something, by dotted name."""
    rows: list[tuple[str, str]] = []
    for key, value in values.items():
        if isinstance(value, dict):
            rows += _flat(value, f"{above}{key}.")
        elif isinstance(value, bool) or value not in ("", None, 0, []):
            shown = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
            rows.append((above + key, shown))
    return rows
