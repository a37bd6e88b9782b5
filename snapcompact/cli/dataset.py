"""``snapcompact dataset``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from snapcompact.cli.options import Quiet


def register(app: typer.Typer) -> None:
    """Add the command to `app`."""
    app.command()(dataset)


def dataset(
    sessions: Annotated[list[Path], typer.Argument(metavar="SESSION...", help="Session files.")],
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FOLDER", help="Where the files go.")
    ],
    to: Annotated[str, typer.Option(metavar="FORM", help="parquet or webdataset.")] = "webdataset",
    shapes: Annotated[
        str, typer.Option(metavar="NAMES", help="Shapes, with commas between.")
    ] = "11x16",
    quiet: Quiet = False,
) -> None:
    """Write pages with their text, cells and boxes, to train and test readers with.

    Texts are as they stand in the sessions: redact what must not leave this machine first.
    """
    from snapcompact.benchmark.dataset import records, write_dataset
    from snapcompact.cli.console import printable, say
    from snapcompact.cli.kernels import announce_compiling
    from snapcompact.pages.shape import parse_shape

    announce_compiling(quiet=quiet)
    wanted = [parse_shape(name) for name in shapes.split(",")]
    for path in write_dataset(records(sessions, wanted), to, output):
        say(printable(str(path)))
