"""``snapcompact export``."""

from __future__ import annotations

from typing import Annotated

import typer

from snapcompact.cli.options import Branch, FormatName, Output, Quiet, Strict


def register(app: typer.Typer) -> None:
    """Add the command to `app`."""
    app.command()(export)


def export(
    session: Annotated[
        str, typer.Argument(metavar="SESSION|ARCHIVE", help="A session file or -, or an archive.")
    ],
    to: Annotated[str, typer.Option(metavar="markdown|html|json|openai|anthropic")],
    output: Output = None,
    format_name: FormatName = None,
    branch: Branch = "active",
    select: Annotated[
        str, typer.Option(metavar="ID", help="One conversation of a file that holds many.")
    ] = "",
    redact: Annotated[bool, typer.Option("--redact", help="Take secrets out.")] = False,
    strict: Strict = False,
    quiet: Quiet = False,
) -> None:
    """Write a history as other programs and people read it."""
    from snapcompact.cli.exporting import Request, run_export

    run_export(
        Request(session, to, output, format_name, branch, select, redact, strict), quiet=quiet
    )
