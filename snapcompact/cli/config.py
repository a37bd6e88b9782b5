"""``snapcompact config``."""

from __future__ import annotations

from typing import Annotated

import typer

from snapcompact.cli.options import Json


def register(app: typer.Typer) -> None:
    """Add the command to `app`."""
    app.command()(config)


def config(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="[NAME]...", help="Settings, or beginnings of their names."),
    ] = None,
    setting: Annotated[
        list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="As for compact.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Show the settings of compaction, each with its value and where that comes from."""
    import dataclasses
    import json

    from snapcompact.cli.console import printable, say, say_json, table
    from snapcompact.compaction.settings import ALIASES
    from snapcompact.compaction.settings_files import load_settings
    from snapcompact.errors import UnknownNameError

    def plain(value: object) -> object:
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            return dataclasses.asdict(value)
        return list(value) if isinstance(value, tuple) else value

    values = load_settings(assignments=setting or ()).values
    wanted = [ALIASES.get(name, name) for name in names or ()]
    shown = {n: s for n, s in values.items() if not wanted or any(map(n.startswith, wanted))}
    if not shown:
        raise UnknownNameError(f"no setting begins with {', '.join(names or ())}; see `config`")
    if as_json:
        rows = {n: {"value": plain(s.value), "source": s.source} for n, s in shown.items()}
        say_json(json.loads(json.dumps(rows, default=lambda v: str(plain(v)))))
        return
    lines = [[n, printable(str(plain(s.value))), s.source] for n, s in shown.items()]
    for line in table(["setting", "value", "from"], lines):
        say(line)
