"""``snapcompact formats``."""

from __future__ import annotations

import typer

from snapcompact.cli.console import say, say_json, table
from snapcompact.cli.options import Json


def register(app: typer.Typer) -> None:
    """Add the command to `app`."""
    app.command()(formats)


def formats(as_json: Json = False) -> None:
    """List the session formats that are read, in the order in which they are tried."""
    from snapcompact.history.formats import table as rows

    if as_json:
        say_json(
            [{"name": row.name, "title": row.title, "places": list(row.places)} for row in rows()]
        )
        return
    found = [
        (row.name, row.title, ", ".join(f"~/{place}" for place in row.places)) for row in rows()
    ]
    for line in table(["name", "what", "where its sessions lie"], found):
        say(line)
