"""``snapcompact transcript``."""

from __future__ import annotations

from pathlib import Path

import typer

from snapcompact.cli.options import (
    Branch,
    Fidelity,
    FormatName,
    Output,
    Quiet,
    Redact,
    SessionFile,
    Strict,
)


def register(app: typer.Typer) -> None:
    """Add the command to `app`."""
    app.command()(transcript)


def transcript(
    session: SessionFile,
    output: Output = None,
    fidelity: Fidelity = None,
    format_name: FormatName = None,
    branch: Branch = "active",
    redact: Redact = False,
    strict: Strict = False,
    quiet: Quiet = False,
) -> None:
    """Print the text that `archive` puts on the pages."""
    from snapcompact.cli.damage import report_damage
    from snapcompact.cli.output import write_out
    from snapcompact.history.session import open_session
    from snapcompact.transcript.fidelity import Prepared
    from snapcompact.transcript.write import write_transcript

    what = session if session == "-" else Path(session)
    with open_session(what, format=format_name, branch=branch, strict=strict) as opened:
        prepared = Prepared(opened.messages, fidelity or "exact", redact=redact)
        write_out(write_transcript(prepared.messages()), output)
        report_damage(opened.source.name, opened.report, quiet=quiet)
