"""``snapcompact sessions``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from snapcompact.cli.options import Json, Quiet


def register(app: typer.Typer) -> None:
    """Add the command to `app`."""
    app.command()(sessions)


def sessions(
    root: Annotated[
        Path | None,
        typer.Argument(metavar="ROOT", help="Look below this folder, not in the usual places."),
    ] = None,
    limit: Annotated[
        int, typer.Option("--limit", "-n", min=0, help="The newest so many; 0 for all.")
    ] = 20,
    format_name: Annotated[
        str | None, typer.Option("--format", metavar="NAME", help="Sessions of this format only.")
    ] = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Find the sessions on this machine, newest first."""
    from snapcompact.cli.listing import run_sessions

    run_sessions(root, limit=limit, format_name=format_name, as_json=as_json, quiet=quiet)
