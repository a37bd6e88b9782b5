"""A session written as an archive: transcript, pages, rows, blobs, source, manifest.

Each page is decoded again before its file is written, so an archive that exists has been read once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib.metadata import version
from itertools import chain
from typing import TYPE_CHECKING, Any

import orjson

from snapcompact.archive import names
from snapcompact.archive.choose import auto_shape
from snapcompact.archive.manifest import Manifest, SourceSegment, dump_manifest
from snapcompact.archive.staging import staging
from snapcompact.archive.writer import ArchiveWriter, copy_source, write_private
from snapcompact.errors import InputError
from snapcompact.files import disk_errors
from snapcompact.history.source import original_blocks
from snapcompact.pages.coverage import AUTO
from snapcompact.pages.shape import parse_shape
from snapcompact.pages.typeset import typeset
from snapcompact.transcript.fidelity import Prepared

if TYPE_CHECKING:
    from pathlib import Path

    from snapcompact.history.session import Session
    from snapcompact.pages.coverage import Choice
    from snapcompact.pages.shape import Shape

DEFAULT_SHAPE = "default"
DEFAULT_FIDELITY = "exact"


@dataclass(frozen=True, slots=True)
class ArchiveOptions:
    """What an archive is made with. `jobs` changes no byte; `effort` no pixel."""

    shape: str = DEFAULT_SHAPE
    """A shape's name, or ``auto``: the text chooses (see archive/choose.py)."""
    font: str = ""
    """Name or path of the font to print in, in place of the shape's."""
    fallback: tuple[str, ...] = ()
    """Names or paths of fonts that draw what it lacks, in their order."""
    fidelity: str = DEFAULT_FIDELITY
    effort: str = "fast"
    keep_source: bool = True
    redact: bool = False
    """Take secrets out before anything is written; then the source is not kept."""
    sidecar: bool = False
    """Also write all exact identifiers as text (see archive/sidecar.py)."""
    as_zip: bool = False
    force: bool = False
    jobs: int = 0


def write_archive(
    session: Session,
    out: Path,
    options: ArchiveOptions | None = None,
    *,
    begin: Callable[[], None] = lambda: None,
    advance: Callable[[int], None] = lambda pages: None,
) -> Manifest | None:
    """Archive `session` at `out`; None, and nothing written, if it has no message.

    `begin` is called once, when nothing stands in the way of the first page, and `advance` with
    pages done. Raises OutputExistsError, DiskError, InputError; then, and
    when interrupted, nothing is at `out` that was not there before.
    """
    options = options or ArchiveOptions()
    session.source.limit = session.source.size()  # an agent may be writing to it right now
    session.leaves_trail = not options.as_zip
    prepared = Prepared(session.messages, options.fidelity, redact=options.redact)
    messages = prepared.messages()
    first = next(messages, None)
    if first is None:
        return None
    if options.shape == AUTO:
        options = replace(options, shape=chosen_shape(session, options).shape.name)
    shape, typeface = typeset(parse_shape(options.shape), options.font, options.fallback)
    kept = _kept_options(session, options, shape)
    with (
        staging(
            out,
            _fingerprint(kept, typeface.atlas.sha256),
            as_zip=options.as_zip,
            force=options.force,
        ) as folder,
        disk_errors("write", folder),
    ):
        writer = ArchiveWriter(folder, kept, typeface)
        whole = chain([first], messages)
        begin()
        writer.write(lambda transcriber: transcriber.pieces(whole), options.jobs, advance)
        segments: tuple[SourceSegment, ...] = ()
        length = 0
        if kept["source"]:
            segment, length = copy_source(original_blocks(session.source), folder)
            segments = (segment,)
            if segment.bytes != session.source.size():
                raise InputError(f"{session.source.name} shrank while it was read; run this again")
        manifest = writer.manifest(session, segments, length, prepared)
        write_private(folder / names.MANIFEST, dump_manifest(manifest))
    return manifest


def chosen_shape(session: Session, options: ArchiveOptions) -> Choice:
    """The shape that the text of `session` chooses, which is read for that."""
    return auto_shape(
        session,
        fidelity=options.fidelity,
        redact=options.redact,
        font=options.font,
        fallback=options.fallback,
    )


def _kept_options(session: Session, options: ArchiveOptions, shape: Shape) -> dict[str, Any]:
    """The options that an archive remembers, so that it can grow as it began."""
    return {
        "shape": shape.name,
        "fidelity": options.fidelity,
        "effort": options.effort,
        "source": options.keep_source and not options.redact,
        "redact": options.redact,
        "sidecar": options.sidecar,
        "branch": session.options.branch,
        "select": session.options.select,
    }


def _fingerprint(kept: dict[str, Any], font_sha256: str) -> bytes:
    """All that finished pages depend on besides their text."""
    tool = {"tool": version("snapcompact"), "font": font_sha256}
    return orjson.dumps(tool | {k: kept[k] for k in ("shape", "effort")})
