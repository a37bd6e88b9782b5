"""``snapcompact inspect``."""

from __future__ import annotations

from typing import Annotated

import typer

from snapcompact.cli.options import Branch, FormatName, Json, Quiet, SessionFile, Strict


def register(app: typer.Typer) -> None:
    """Add the command to `app`."""
    app.command()(inspect)


def inspect(
    session: SessionFile,
    as_json: Json = False,
    format_name: FormatName = None,
    branch: Branch = "active",
    select: Annotated[
        str, typer.Option(metavar="ID", help="One conversation of a file that holds many.")
    ] = "",
    strict: Strict = False,
    quiet: Quiet = False,
) -> None:
    """Print what a session holds: messages, tools, tokens, images, branches, damage, secrets."""
    from snapcompact.cli.inspecting import Inspection, run_inspect

    run_inspect(
        Inspection(session, format_name, branch, select, strict), as_json=as_json, quiet=quiet
    )
