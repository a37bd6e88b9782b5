"""``snapcompact payload``."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated

import typer

from snapcompact.cli.console import note, printable, warn
from snapcompact.cli.options import ArchivePath, Output, Quiet

if TYPE_CHECKING:
    from snapcompact.payload.compose import Payload
    from snapcompact.providers.catalog import Match


def register(app: typer.Typer) -> None:
    """Add the command to `app`."""
    app.command()(payload)


def payload(
    archive: ArchivePath,
    model: Annotated[str, typer.Option(metavar="NAME", help="Id of the model it is sent to.")],
    tokens: Annotated[
        int | None, typer.Option(min=1000, help="Most tokens; half of the window by default.")
    ] = None,
    other_images: Annotated[
        int, typer.Option(min=0, help="Images that the same request carries already.")
    ] = 0,
    thinking: Annotated[
        bool | None,
        typer.Option("--thinking/--no-thinking", help="Print reasoning; by default as suits it."),
    ] = None,
    api: Annotated[
        str,
        typer.Option(help="anthropic, openai-responses, openai-chat or gemini; else the model's."),
    ] = "",
    output: Output = None,
    quiet: Quiet = False,
) -> None:
    """Make the request that carries an archive to a model: guide, pages, exact values, edges."""
    from snapcompact.archive.read import open_archive
    from snapcompact.cli.output import write_out
    from snapcompact.payload.compose import compose
    from snapcompact.payload.request import request
    from snapcompact.providers.catalog import match, user_catalog
    from snapcompact.tokens.estimate import estimate_tokens

    found = match(user_catalog(), model)
    row = found.model
    with open_archive(archive) as opened:
        made = compose(
            opened,
            str(archive),
            row,
            lambda text: estimate_tokens(text, row.tokenizer),
            tokens=tokens,
            other_images=other_images,
            thinking=thinking,
        )
    body = request(made, api or row.api, model, row.detail)
    write_out([json.dumps(body).encode(), b"\n"], output)
    if found.warning:
        warn(found.warning, quiet=quiet)
    if not quiet:
        _report(made, found)


def _report(made: Payload, found: Match) -> None:
    row = "" if found.id == made.model else f" (counted by the row {made.model})"
    whole = "" if made.whole_text_tokens is None else f", {made.whole_text_tokens:,} as plain text"
    note(
        f"{len(made.images)} pages ({made.image_tokens:,} tokens) and {made.text_tokens:,} tokens "
        f"of text for {printable(found.id)}{row}{whole}"
    )
    for remark in made.notes:
        note(remark)
