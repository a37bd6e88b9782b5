"""``snapcompact shapes``."""

from __future__ import annotations

import typer

from snapcompact.cli.console import say, say_json, table
from snapcompact.cli.options import Json


def register(app: typer.Typer) -> None:
    """Add the command to `app`."""
    app.command()(shapes)


def shapes(as_json: Json = False) -> None:
    """List the named shapes: font, pitch, page size, and how many characters a page holds."""
    from snapcompact.pages.shape import shapes as named

    rows = list(named().values())
    if as_json:
        say_json(
            [
                {
                    "name": row.shape.name,
                    "aliases": list(row.aliases),
                    "columns": row.shape.grid_columns,
                    "rows": row.shape.grid_rows,
                    "cells": row.shape.page_cells,
                    "suits": row.suits,
                }
                for row in rows
            ]
        )
        return
    for line in table(
        ["shape", "short", "across", "down", "cells", "suits"],
        [
            [
                row.shape.name,
                ", ".join(row.aliases),
                row.shape.grid_columns,
                row.shape.grid_rows,
                row.shape.page_cells,
                row.suits,
            ]
            for row in rows
        ],
    ):
        say(line)
    say()
    say("Any other: FONT@PITCHxPITCH-WIDTHxHEIGHT[-colsN][-lines][-dim|-role|-sentence][-header]")
