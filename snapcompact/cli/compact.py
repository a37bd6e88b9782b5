"""``snapcompact compact``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from snapcompact.cli.options import Branch, FormatName, Json, Quiet


def register(app: typer.Typer) -> None:
    """Add the command to `app`."""
    app.command()(compact)


Set = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="A setting for this run; see config."),
]
Model = Annotated[
    str,
    typer.Option(
        metavar="[PROTOCOL:]ID",
        help="Model that goes on with the session and writes the summary; "
        "protocols: anthropic, gemini, openai, openai-responses.",
    ),
]


def compact(
    session: Annotated[Path, typer.Argument(metavar="SESSION", help="A session file.")],
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[MODE] [FOCUS]...",
            help="soft, remote or snapcompact, else as the settings say; a focus.",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Else SESSION.compacted.EXT beside."),
    ] = None,
    in_place: Annotated[
        bool, typer.Option("--in-place", help="Replace the session; `undo` puts it back.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print what would be done, and do nothing.")
    ] = False,
    model: Model = "",
    base_url: Annotated[
        str, typer.Option(metavar="URL", help="Address of the model's server.")
    ] = "",
    key_env: Annotated[
        str, typer.Option(metavar="NAME", help="Environment variable that holds the key.")
    ] = "",
    window: Annotated[
        int, typer.Option(min=0, help="The model's window in tokens; 0 looks it up.")
    ] = 0,
    keep: Annotated[int, typer.Option(min=0, help="Tokens to keep word for word.")] = 0,
    keep_turns: Annotated[int, typer.Option(min=0, help="Turns to keep word for word.")] = 0,
    reference: Annotated[
        bool, typer.Option("--reference", help="Name the archive instead of showing its pages.")
    ] = False,
    two_step: Annotated[
        bool, typer.Option("--two-step", help="Ask first what the task is and must not lose.")
    ] = False,
    strict: Annotated[
        bool, typer.Option("--strict", help="A mode that cannot run is an error, not a warning.")
    ] = False,
    offline: Annotated[bool, typer.Option("--offline", help="Open no connection.")] = False,
    setting: Set = None,
    format_name: FormatName = None,
    branch: Branch = "active",
    select: Annotated[
        str, typer.Option(metavar="ID", help="One conversation of a file that holds many.")
    ] = "",
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Shrink a session: a summary or pages in place of its past, its last part kept as it is."""
    from snapcompact.cli.compacting import Request, run_compact

    run_compact(
        Request(
            session=session,
            words=" ".join(words or ()),
            output=output,
            in_place=in_place,
            dry_run=dry_run,
            model=model,
            base_url=base_url,
            key_env=key_env,
            window=window,
            keep=keep,
            keep_turns=keep_turns,
            reference=reference,
            two_step=two_step,
            strict=strict,
            offline=offline,
            settings=tuple(setting or ()),
            format_name=format_name,
            branch=branch,
            select=select,
        ),
        as_json=as_json,
        quiet=quiet,
    )
