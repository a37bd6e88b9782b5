"""``snapcompact fonts``, ``fonts check`` and ``fonts specimen``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from snapcompact.cli.options import Json


def register(app: typer.Typer) -> None:
    """Add the commands to `app`."""
    group = typer.Typer(invoke_without_command=True, help="Fonts: list, check one, print a sheet.")
    group.callback()(fonts)
    group.command()(check)
    group.command()(specimen)
    app.add_typer(group, name="fonts")


def fonts(context: typer.Context, as_json: Json = False) -> None:
    """List the shipped fonts; `check FILE` reports on any other, `specimen` prints every glyph."""
    if context.invoked_subcommand is None:
        from snapcompact.cli.printing import run_list

        run_list(as_json=as_json)


def check(
    font: Annotated[
        str, typer.Argument(metavar="FILE", help="A BDF, PCF, TTF or OTF file, or a shipped font.")
    ],
    as_json: Json = False,
) -> None:
    """Report a font's coverage, the glyphs it draws alike, and its closest pairs."""
    from snapcompact.cli.printing import run_check

    run_check(font, as_json=as_json)


def specimen(
    font: Annotated[
        str, typer.Argument(metavar="FONT", help="A shipped font, or a font file.")
    ] = "8x16",
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Write here, not to stdout."),
    ] = None,
) -> None:
    """Print a sheet of all glyphs of a font as PNG, by range, with their code points."""
    from snapcompact.cli.printing import run_specimen

    run_specimen(font, output)
