"""``snapcompact bench``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from snapcompact.cli.options import Json, Quiet


def register(app: typer.Typer) -> None:
    """Add the command to `app`."""
    app.command()(bench)


def bench(
    sessions: Annotated[
        list[Path],
        typer.Argument(metavar="SESSION...", help="Session files; or: compare A.json B.json."),
    ],
    shapes: Annotated[
        str, typer.Option(metavar="NAMES", help="Shapes, with commas between, or auto.")
    ] = "8x16,11x16",
    readers: Annotated[
        str, typer.Option(metavar="NAMES", help="exact, tesseract, rapid, vision:MODEL.")
    ] = "exact",
    models: Annotated[
        str, typer.Option(metavar="NAMES", help="Models whose tokens are counted.")
    ] = "claude-4.7,gpt-5.4,gemini-3",
    sample: Annotated[int, typer.Option(min=1, help="Pages read for each shape and reader.")] = 8,
    seed: Annotated[int, typer.Option(help="Draws the sample.")] = 0,
    probes: Annotated[
        int, typer.Option(min=0, max=16, help="Questions of each kind asked of a vision model.")
    ] = 0,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FOLDER", help="Where the reports go."),
    ] = None,
    answers: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Keeps a vision model's raw answers.")
    ] = None,
    base_url: Annotated[str, typer.Option(metavar="URL", help="The model's own server.")] = "",
    max_cost: Annotated[
        float | None, typer.Option(min=0, metavar="USD", help="Ask no page beyond this sum.")
    ] = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Measure how much text pages and tokens hold, how fast, and how well each reader gets it back.

    FOLDER gets bench.json, bench.md, bench.csv and bench.html; without one the tables are printed.
    """
    from snapcompact.cli.benching import Request, run_bench_command, run_compare

    if sessions[0] == Path("compare"):
        run_compare(sessions[1:], as_json=as_json)
        return
    run_bench_command(
        Request(
            sessions=tuple(sessions),
            shapes=tuple(shapes.split(",")),
            readers=tuple(readers.split(",")),
            models=tuple(models.split(",")),
            sample=sample,
            seed=seed,
            probes=probes,
            output=output,
            answers=answers,
            base_url=base_url,
            max_usd=max_cost,
        ),
        as_json=as_json,
        quiet=quiet,
    )
