"""What ``snapcompact archive`` does with its sessions: one archive each, reported as they end."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from snapcompact.archive.fonts import Fonts
from snapcompact.archive.manifest import Manifest
from snapcompact.archive.names import MANIFEST
from snapcompact.archive.write import (
    DEFAULT_FIDELITY,
    DEFAULT_SHAPE,
    ArchiveOptions,
    chosen_shape,
    write_archive,
)
from snapcompact.cli.console import counted, note, printable, progress, say, say_json, size, warn
from snapcompact.cli.damage import report_damage
from snapcompact.cli.kernels import announce_compiling
from snapcompact.cli.listing import latest_session, session_path
from snapcompact.errors import UsageError
from snapcompact.history.session import Session, open_session
from snapcompact.pages.coverage import AUTO
from snapcompact.pages.warmup import compile_ahead

MOST_ESCAPES = 0.02
"""Escapes for each cell above which the user is told."""


@dataclass(frozen=True, slots=True)
class Request:
    """The command's arguments."""

    sessions: tuple[str, ...]
    latest: bool
    output: Path
    shape: str | None
    fonts: Fonts
    fidelity: str | None
    keep_source: bool
    redact: bool
    sidecar: bool
    as_zip: bool
    append: bool
    check: bool
    force: bool
    effort: str
    format_name: str | None
    branch: str
    select: str
    strict: bool
    jobs: int

    @property
    def options(self) -> ArchiveOptions:
        """The archive's options."""
        return ArchiveOptions(
            shape=self.shape or DEFAULT_SHAPE,
            font=self.fonts.font,
            fallback=self.fonts.fallback,
            fidelity=self.fidelity or DEFAULT_FIDELITY,
            effort=self.effort,
            keep_source=self.keep_source,
            redact=self.redact,
            sidecar=self.sidecar,
            as_zip=self.as_zip,
            force=self.force,
            jobs=self.jobs,
        )


def run_archive(request: Request, *, as_json: bool, quiet: bool) -> None:
    """Archive every session of `request`; print a line, or one JSON value, of each."""
    _check(request)
    announce_compiling(quiet=quiet)
    results: list[dict[str, Any]] = []
    for session, out in _targets(request):
        with session, progress("archiving", "pages", quiet=quiet) as bar:
            manifest = _archived(request, session, out, bar.advance, quiet=quiet)
        report_damage(session.source.name, session.report, quiet=quiet)
        if manifest is None:
            note(f"{printable(session.source.name)}: nothing to archive (no message in it)")
            results.append({"session": session.source.name, "archive": None})
            continue
        results.append(_result(session.source.name, out, manifest))
        _warn_of_escapes(out, manifest, quiet=quiet)
        if not as_json:
            say(_line(out, manifest))
    if as_json:
        say_json(results[0] if len(request.sessions) <= 1 and len(results) == 1 else results)


def _archived(
    request: Request,
    session: Session,
    out: Path,
    advance: Callable[[int], None],
    *,
    quiet: bool,
) -> Manifest | None:
    if not (request.append and out.exists()):
        options = request.options
        if options.shape == AUTO:
            choice = chosen_shape(session, options)
            options = replace(options, shape=choice.shape.name)
            if not quiet:
                note(choice.reason)
        begin = partial(compile_ahead, options.shape, options.effort)
        return write_archive(session, out, options, begin=begin, advance=advance)
    from snapcompact.archive.append import append_archive

    if request.shape is not None or request.fidelity is not None or request.redact:
        raise UsageError(
            "an archive grows in its own shape, fidelity and redaction; leave these options out"
        )
    return append_archive(
        session,
        out,
        check=request.check,
        fonts=request.fonts,
        jobs=request.jobs,
        advance=advance,
    )


def _warn_of_escapes(out: Path, manifest: Manifest, *, quiet: bool) -> None:
    """Say so where much of the text has no glyph: it costs cells, and readers stumble."""
    escapes, cells = manifest.totals["escapes"], manifest.totals["cells"]
    if escapes > cells * MOST_ESCAPES:
        warn(
            f"{out}: {counted(escapes, 'character')} of {cells:,} cells have no glyph in font "
            f"{manifest.font['name']} and are printed as numbers; exact, but long "
            "(a font that has them can be given as --fallback)",
            quiet=quiet,
        )


def _check(request: Request) -> None:
    if request.latest == bool(request.sessions):
        raise UsageError("name the sessions to archive, or --latest for the newest one")
    if request.append and request.as_zip:
        raise UsageError("--append needs a folder; a zip is written once")
    if request.append and request.force:
        raise UsageError("--append and --force exclude each other")
    if request.check and not request.append:
        raise UsageError("--check goes with --append")
    if request.sessions.count("-") > 1:
        raise UsageError("stdin (-) can be given once")


def _targets(request: Request) -> Iterator[tuple[Session, Path]]:
    """Each session to archive and where: OUT itself for one, OUT/NAME for several."""
    taken: set[str] = set()
    for name in request.sessions or (str(latest_session()),):
        session = open_session(
            name if name == "-" else session_path(name),
            format=request.format_name,
            branch=request.branch,
            select=request.select,
            strict=request.strict,
        )
        many = () if request.select else session.conversations
        if len(many) > 1 and request.append and (request.output / MANIFEST).exists():
            raise UsageError(
                f"{name} holds {len(many)} conversations, {request.output} is the archive of one; "
                "name the conversation with --select"
            )
        if len(many) > 1:
            for conversation in many:
                part = replace(session, options=replace(session.options, select=conversation.id))
                yield part, request.output / _free(conversation.id, taken, request.as_zip)
        elif len(request.sessions) > 1:
            stem = "stdin" if name == "-" else Path(name).stem
            yield session, request.output / _free(stem, taken, request.as_zip)
        else:
            yield session, request.output


def _free(name: str, taken: set[str], as_zip: bool) -> str:
    """A file name made of `name`, numbered where it is taken."""
    plain = "".join(c if c.isalnum() or c in "-_." else "_" for c in name).strip(".")[:100] or "_"
    suffix = ".zip" if as_zip else ""
    free, number = plain, 2
    while free in taken:
        free, number = f"{plain}-{number}", number + 1
    taken.add(free)
    return free + suffix


def _result(name: str, out: Path, manifest: Manifest) -> dict[str, Any]:
    return {
        "session": name,
        "archive": str(out),
        "format": manifest.session["format"],
        "shape": manifest.options["shape"],
        "fidelity": manifest.options["fidelity"],
        **manifest.totals,
        "losses": manifest.losses,
        "damage": manifest.damage,
        "skipped": manifest.skipped,
    }


def _line(out: Path, manifest: Manifest) -> str:
    totals = manifest.totals
    losses = f", folds and cuts: {sum(manifest.losses.values()):,}" if manifest.losses else ""
    return (
        f"{out}: {counted(totals['messages'], 'message')} ({manifest.session['format']}), "
        f"{size(totals['transcript_bytes'])} of text on {counted(totals['pages'], 'page')} "
        f"({size(totals['png_bytes'])}, {manifest.options['shape']}), read back and equal{losses}"
    )
