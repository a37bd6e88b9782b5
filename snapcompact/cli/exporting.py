"""The work of ``snapcompact export``: messages of a session or an archive, in another form."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from snapcompact.cli.console import note
from snapcompact.cli.damage import report_damage
from snapcompact.cli.output import write_out
from snapcompact.errors import UsageError
from snapcompact.history.export import export
from snapcompact.history.model import Message
from snapcompact.history.session import open_session
from snapcompact.transcript.fidelity import Prepared

_MANIFEST = b"manifest.json"


@dataclass(frozen=True, slots=True)
class Request:
    """What to export, and to where."""

    session: str
    to: str
    output: Path | None = None
    format_name: str | None = None
    branch: str = "active"
    select: str = ""
    redact: bool = False
    strict: bool = False


def run_export(request: Request, *, quiet: bool) -> None:
    """Write the export. Raises UnknownNameError for a form that is not known, before reading."""
    export((), request.to)
    if request.session != "-" and is_archive(Path(request.session)):
        _from_archive(request, quiet=quiet)
        return
    with open_session(
        request.session if request.session == "-" else Path(request.session),
        format=request.format_name,
        branch=request.branch,
        select=request.select,
        strict=request.strict,
    ) as session:
        _write(request, session.messages, quiet=quiet)
        report_damage(session.source.name, session.report, quiet=quiet)


def _from_archive(request: Request, *, quiet: bool) -> None:
    from snapcompact.archive.read import open_archive  # loads the page kernels

    if request.format_name or request.select or request.branch != "active":
        raise UsageError("--format, --branch and --select are for sessions; an archive is one path")
    with open_archive(request.session) as archive:
        _write(request, lambda: archive.messages(blobs=True), quiet=quiet)


def _write(request: Request, read: Callable[[], Iterator[Message]], *, quiet: bool) -> None:
    prepared = Prepared(read, redact=request.redact)
    write_out(export(prepared.messages(), request.to), request.output)
    if request.redact and not quiet:
        kinds = ", ".join(
            f"{count:,} {kind.removeprefix('secret: ')}" for kind, count in prepared.losses.items()
        )
        note(f"redacted: {kinds or 'nothing'}")


def is_archive(path: Path) -> bool:
    """Whether `path` is an archive's folder or zip, told by its manifest."""
    if path.is_dir():
        return True
    with open(path, "rb") as file:
        head = file.read(4096)
        file.seek(max(0, path.stat().st_size - (1 << 16)))
        return head.startswith(b"PK\x03\x04") and _MANIFEST in head + file.read()
