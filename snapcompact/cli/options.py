"""Options that several commands share, each described once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress and no warnings.")]
Strict = Annotated[bool, typer.Option("--strict", help="Stop at the first damage in the input.")]
SessionFile = Annotated[
    str, typer.Argument(metavar="SESSION", help="A session file of any known tool; - for stdin.")
]
FormatName = Annotated[
    str | None,
    typer.Option("--format", metavar="NAME", help="The session's format; else told by content."),
]
Branch = Annotated[
    str, typer.Option(help="active, all, or the id of a branch, where the session has branches.")
]
Fidelity = Annotated[
    str | None,
    typer.Option(help="exact (default) prints every byte; lean folds and cuts, and counts each."),
]
Redact = Annotated[
    bool,
    typer.Option("--redact", help="Replace keys, tokens and other secrets by labels first."),
]
ShapeName = Annotated[
    str | None,
    typer.Option(
        "--shape", metavar="NAME", help="See `snapcompact shapes`; auto: as the text asks."
    ),
]
FontName = Annotated[
    str,
    typer.Option(
        "--font", metavar="FONT", help="Print in this font, shipped or a BDF, PCF, TTF or OTF file."
    ),
]
Fallback = Annotated[
    list[str] | None,
    typer.Option(
        "--fallback", metavar="FONT", help="Draws what the fonts before it lack; may be repeated."
    ),
]
Jobs = Annotated[int, typer.Option(min=0, help="Threads; 0 for one a processor core.")]
Output = Annotated[
    Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write here, not to stdout.")
]
ArchivePath = Annotated[Path, typer.Argument(metavar="ARCHIVE", help="An archive's folder or zip.")]
