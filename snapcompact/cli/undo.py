"""``snapcompact undo``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from snapcompact.cli.options import Json


def register(app: typer.Typer) -> None:
    """Add the command to `app`."""
    app.command()(undo)


def undo(
    session: Annotated[
        Path, typer.Argument(metavar="SESSION", help="A session compacted in place.")
    ],
    force: Annotated[
        bool, typer.Option("--force", help="Also where it changed since; that is kept beside it.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Put a session back as it was before its newest compaction in place."""
    from snapcompact.cli.console import say, say_json
    from snapcompact.compaction.session import undo as put_back

    backup = put_back(session, force=force)
    if as_json:
        say_json({"session": str(session), "from": str(backup)})
    else:
        say(f"{session}: as it was before the compaction")
