"""``snapcompact estimate``."""

from __future__ import annotations

from typing import Annotated

import typer

from snapcompact.cli.options import Branch, Fallback, Fidelity, FormatName, Json, Quiet, Strict
from snapcompact.errors import UsageError

DEFAULT_MODEL = "claude-opus-4-7"


def register(app: typer.Typer) -> None:
    """Add the command to `app`."""
    app.command()(estimate)


def estimate(
    sessions: Annotated[
        list[str],
        typer.Argument(metavar="SESSION...", help="Session or text files; - for stdin."),
    ],
    model: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help=f"For which model, several times; else {DEFAULT_MODEL}."),
    ] = None,
    all_models: Annotated[
        bool, typer.Option("--all-models", help="For every known model.")
    ] = False,
    shape: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Shapes to judge; auto: as the text asks. Else its own."),
    ] = None,
    fallback: Fallback = None,
    fidelity: Fidelity = None,
    format_name: FormatName = None,
    branch: Branch = "active",
    strict: Strict = False,
    as_json: Json = False,
    as_csv: Annotated[
        bool, typer.Option("--csv", help="Print the shapes as comma-separated values.")
    ] = False,
    quiet: Quiet = False,
) -> None:
    """Count tokens by role, tool and kind, and judge what pages would cost each model instead."""
    from snapcompact.cli.estimating import Request, run_estimate

    request = Request(
        tuple(sessions),
        tuple(model or ()),
        all_models,
        tuple(shape or ()),
        tuple(fallback or ()),
        fidelity or "exact",
        format_name,
        branch,
        strict,
    )
    if as_json and as_csv:
        raise UsageError("--json and --csv exclude each other")
    run_estimate(request, form="json" if as_json else "csv" if as_csv else "table", quiet=quiet)
