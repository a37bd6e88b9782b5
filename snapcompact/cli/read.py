"""``snapcompact read``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from snapcompact.cli.options import Output, Quiet


def register(app: typer.Typer) -> None:
    """Add the command to `app`."""
    app.command()(read)


def read(
    pages: Annotated[
        list[Path], typer.Argument(metavar="PAGE.png...", help="Page files, or folders of them.")
    ],
    shape: Annotated[
        str, typer.Option(metavar="NAME", help="The pages' shape, where they do not say it.")
    ] = "",
    glyphs: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Glyphs (BDF) the pages are printed with, if not ours."),
    ] = None,
    output: Output = None,
    quiet: Quiet = False,
) -> None:
    """Decode lone pages from their pixels; no manifest is needed.

    Pages of one text are put in order by what they say of themselves, where they say it.
    """
    from snapcompact.cli.kernels import announce_compiling
    from snapcompact.cli.output import write_out
    from snapcompact.readback.lone import read_lone_pages

    announce_compiling(quiet=quiet)
    write_out(read_lone_pages(pages, shape=shape, glyphs=glyphs), output)
