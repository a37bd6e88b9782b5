"""``snapcompact read``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from snapcompact.cli.options import Quiet

DEFAULT_READER = "exact"


def register(app: typer.Typer) -> None:
    """Add the command to `app`."""
    app.command()(read)


def read(
    pages: Annotated[
        list[Path],
        typer.Argument(metavar="PAGES...", help="Page files, folders of them, or archives."),
    ],
    reader: Annotated[
        str, typer.Option(metavar="NAME", help="exact, tesseract, rapid or vision:MODEL.")
    ] = DEFAULT_READER,
    shape: Annotated[
        str, typer.Option(metavar="NAME", help="The pages' shape, where they do not say it.")
    ] = "",
    glyphs: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Glyphs (BDF) the pages are printed with, if not ours."),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="Write here; with --batch, the folder of files."
        ),
    ] = None,
    jobs: Annotated[int, typer.Option(min=0, help="Pages read at once; 0 as suits.")] = 0,
    languages: Annotated[str, typer.Option(help="Of tesseract, joined by +.")] = "eng",
    page_mode: Annotated[
        int, typer.Option("--psm", min=0, max=13, help="Page mode of tesseract.")
    ] = 6,
    enlarge: Annotated[
        int, typer.Option(min=1, max=8, help="Times that tesseract's picture is enlarged.")
    ] = 2,
    answers: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER", help="Keeps a vision model's raw answers; none asked twice."
        ),
    ] = None,
    base_url: Annotated[str, typer.Option(metavar="URL", help="The model's own server.")] = "",
    key_env: Annotated[
        str, typer.Option(metavar="NAME", help="Environment variable that holds the model's key.")
    ] = "",
    max_cost: Annotated[
        float | None, typer.Option(min=0, metavar="USD", help="Ask no page beyond this sum.")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print the bill, ask nothing.")
    ] = False,
    again: Annotated[
        bool, typer.Option("--again", help="Ask once more where an answer was cut or refused.")
    ] = False,
    batch: Annotated[
        str, typer.Option(metavar="PROVIDER", help="Write batch files for openai or anthropic.")
    ] = "",
    collect: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Take in the results of a batch first.")
    ] = None,
    quiet: Quiet = False,
) -> None:
    """Read pages back to text: exactly, or as an OCR engine or a vision model sees them.

    Pages of one text are put in order by what they say of themselves, where they say it. The exact
    reader gives the bytes that were printed, also from pictures that were recompressed, scaled or
    shifted, and says where it guessed (exit code 1); other readers give a line for each row.
    """
    from snapcompact.cli.reading import Request, run_read
    from snapcompact.readback.reader import ReaderOptions

    run_read(
        Request(
            pages=tuple(pages),
            reader=reader,
            shape=shape,
            glyphs=glyphs,
            output=output,
            options=ReaderOptions(jobs, languages, page_mode, enlarge),
            answers=answers,
            base_url=base_url,
            key_env=key_env,
            max_usd=max_cost,
            dry_run=dry_run,
            again=again,
            batch=batch,
            collect=collect,
        ),
        quiet=quiet,
    )
