"""``snapcompact rpc``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from snapcompact.cli.options import FormatName


def register(app: typer.Typer) -> None:
    """Add the command to `app`."""
    app.command()(rpc)


def rpc(
    session: Annotated[Path, typer.Argument(metavar="SESSION", help="A session file.")],
    model: Annotated[str, typer.Option(metavar="[PROTOCOL:]ID", help="As for compact.")] = "",
    base_url: Annotated[str, typer.Option(metavar="URL", help="As for compact.")] = "",
    offline: Annotated[bool, typer.Option("--offline", help="Open no connection.")] = False,
    setting: Annotated[
        list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="As for compact.")
    ] = None,
    format_name: FormatName = None,
) -> None:
    """Serve compaction of one session, in place: JSON lines on stdin, answers and events on stdout.

    Commands: compact, undo, abort, queue, set_auto_compaction, check, get_state.
    """
    import sys

    from snapcompact.cli.garbage import search_as_usual
    from snapcompact.compaction.models import summariser
    from snapcompact.compaction.rpc import serve
    from snapcompact.compaction.settings_files import load_settings
    from snapcompact.llm.client import run as run_async

    settings = load_settings(assignments=setting or ())
    offline = offline or settings.policy.modes.offline
    notes: list[str] = []
    found = summariser(model, settings, base_url=base_url, offline=offline, say=notes.append)
    search_as_usual()  # it runs for hours
    run_async(
        serve(
            session,
            settings,
            found,
            reader=model,
            offline=offline,
            format_name=format_name,
            lines=sys.stdin.buffer,
            out=sys.stdout.buffer,
        )
    )
