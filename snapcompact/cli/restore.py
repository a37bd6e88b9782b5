"""``snapcompact restore``."""

from __future__ import annotations

from typing import Annotated

import typer

from snapcompact.cli.options import ArchivePath, Output

Origin = Annotated[
    str,
    typer.Option(
        "--from", metavar="source|pixels", help="Where from; default what the form needs."
    ),
]
Form = Annotated[
    str,
    typer.Option(
        "--as",
        metavar="original|transcript|messages",
        help="original: the session file; transcript: its text; messages: JSON Lines.",
    ),
]


def register(app: typer.Typer) -> None:
    """Add the command to `app`."""
    app.command()(restore)


def restore(
    archive: ArchivePath,
    origin: Origin = "",
    form: Form = "original",
    messages: Annotated[
        str, typer.Option(metavar="A:B", help="Messages A (from 0) up to B only.")
    ] = "",
    output: Output = None,
) -> None:
    """Give back what was archived: every byte of the file, the transcript, or the messages."""
    from snapcompact.archive.read import open_archive
    from snapcompact.archive.restore import restored
    from snapcompact.cli.output import write_out

    with open_archive(archive) as opened:
        write_out(restored(opened, form=form, origin=origin, span=messages), output)
