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
    from snapcompact.compaction.undo import archives_of
    from snapcompact.compaction.undo import undo as put_back

    named = archives_of(session)
    backup = put_back(session, force=force)
    left = sorted(set(named) - set(archives_of(session)))
    if as_json:
        archives = [str(path) for path in left]
        say_json({"session": str(session), "from": str(backup), "archives": archives})
        return
    say(f"{session}: as it was before the compaction")
    for path in left:
        say(f"{path}: its archive is still there; delete it if nothing else needs it")
