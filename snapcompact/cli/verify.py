"""``snapcompact verify``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from snapcompact.cli.console import counted, note, progress, say, say_json
from snapcompact.cli.options import ArchivePath, Jobs, Json, Quiet


def register(app: typer.Typer) -> None:
    """Add the command to `app`."""
    app.command()(verify)


def verify(
    archive: ArchivePath,
    source: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Also compare the stored source with FILE.")
    ] = None,
    jobs: Jobs = 0,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Decode every page from its pixels and compare all hashes with the manifest.

    Exit code 1, and the page and row of the first difference, if anything differs.
    """
    from dataclasses import asdict

    from snapcompact.archive.read import open_archive
    from snapcompact.archive.verify import verify_archive
    from snapcompact.cli.kernels import announce_compiling
    from snapcompact.history.source import open_source, original_blocks

    announce_compiling(quiet=quiet)
    with open_archive(archive) as opened, progress("verifying", "pages", quiet=quiet) as bar:
        bar.total(opened.manifest.pages)
        given = None if source is None else original_blocks(open_source(source))
        result = verify_archive(opened, source=given, jobs=jobs, advance=bar.advance)
    if as_json:
        say_json(asdict(result) | {"sound": result.sound})
    elif result.sound:
        say(
            f"{archive}: sound ({counted(result.pages, 'page')}, "
            f"{counted(result.messages, 'message')}, {counted(result.characters, 'cell')})"
        )
    else:
        for problem in result.problems:
            note(f"{archive}: {problem}")
        say(f"{archive}: {counted(result.problem_count, 'problem')}")
    raise typer.Exit(0 if result.sound else 1)
