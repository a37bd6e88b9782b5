"""``snapcompact archive``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from snapcompact.cli.options import (
    Branch,
    Fallback,
    Fidelity,
    FontName,
    FormatName,
    Jobs,
    Json,
    Quiet,
    Redact,
    ShapeName,
    Strict,
)


def register(app: typer.Typer) -> None:
    """Add the command to `app`."""
    app.command()(archive)


def archive(
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="OUT", help="The archive's folder or zip.")
    ],
    sessions: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[SESSION]...",
            help="Session files, or ids that `snapcompact sessions` lists; - for stdin.",
        ),
    ] = None,
    latest: Annotated[
        bool, typer.Option("--latest", help="The newest session of this machine.")
    ] = False,
    shape: ShapeName = None,
    font: FontName = "",
    fallback: Fallback = None,
    fidelity: Fidelity = None,
    no_source: Annotated[
        bool, typer.Option("--no-source", help="Do not keep the original file in the archive.")
    ] = False,
    redact: Redact = False,
    sidecar: Annotated[
        bool,
        typer.Option("--sidecar", help="Also list every exact identifier, with page and row."),
    ] = False,
    as_zip: Annotated[
        bool, typer.Option("--zip", help="One zip file instead of a folder.")
    ] = False,
    append: Annotated[
        bool, typer.Option("--append", help="Add what the session has gained to an archive of it.")
    ] = False,
    check: Annotated[
        bool, typer.Option("--check", help="With --append: hash all of the old source first.")
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace an archive at OUT.")] = False,
    smaller: Annotated[
        bool, typer.Option("--smaller", help="Smaller PNG files, packed more slowly.")
    ] = False,
    format_name: FormatName = None,
    branch: Branch = "active",
    select: Annotated[
        str, typer.Option(metavar="ID", help="One conversation of a file that holds many.")
    ] = "",
    strict: Strict = False,
    jobs: Jobs = 0,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Draw sessions onto pages and keep all that is needed to get every byte back.

    One session makes the archive OUT; several make OUT/NAME each.
    """
    from snapcompact.archive.fonts import Fonts
    from snapcompact.cli.archiving import Request, run_archive

    run_archive(
        Request(
            sessions=tuple(sessions or ()),
            latest=latest,
            redact=redact,
            sidecar=sidecar,
            output=output,
            shape=shape,
            fonts=Fonts(font, tuple(fallback or ())),
            fidelity=fidelity,
            keep_source=not no_source,
            as_zip=as_zip,
            append=append,
            check=check,
            force=force,
            effort="smaller" if smaller else "fast",
            format_name=format_name,
            branch=branch,
            select=select,
            strict=strict,
            jobs=jobs,
        ),
        as_json=as_json,
        quiet=quiet,
    )
