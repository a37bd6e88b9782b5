"""``snapcompact legibility``."""

from __future__ import annotations

from typing import Annotated

import typer

from snapcompact.cli.options import Branch, Fidelity, FormatName, Json, Quiet, SessionFile, Strict


def register(app: typer.Typer) -> None:
    """Add the command to `app`."""
    app.command()(legibility)


def legibility(
    session: SessionFile,
    model: Annotated[str, typer.Option(metavar="NAME", help="The model that is to read pages.")],
    shape: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Shapes to judge, several times; else the model's own, and every font and pitch.",
        ),
    ] = None,
    downscale: Annotated[
        str, typer.Option(help="How pages too large for the model shrink: lanczos or area.")
    ] = "lanczos",
    jpeg: Annotated[
        int, typer.Option(min=0, max=95, help="Quality of a JPEG on the way; 0 for none.")
    ] = 0,
    fidelity: Fidelity = None,
    format_name: FormatName = None,
    branch: Branch = "active",
    strict: Strict = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Predict what a model misreads of a session's pages, and what they cost, shape by shape.

    No model is asked. A star marks shapes that no other beats in both tokens and errors.
    """
    from snapcompact.cli.judging import Request, run_legibility

    request = Request(
        session,
        model,
        tuple(shape or ()),
        downscale,
        jpeg,
        fidelity or "exact",
        format_name,
        branch,
        strict,
    )
    run_legibility(request, as_json=as_json, quiet=quiet)
