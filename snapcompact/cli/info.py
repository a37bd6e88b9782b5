"""``snapcompact info``."""

from __future__ import annotations

import typer

from snapcompact.cli.console import printable, say, say_json, size
from snapcompact.cli.options import ArchivePath, Json


def register(app: typer.Typer) -> None:
    """Add the command to `app`."""
    app.command()(info)


def info(archive: ArchivePath, as_json: Json = False) -> None:
    """Print what an archive holds, from its manifest alone."""
    import orjson

    from snapcompact.archive.manifest import dump_manifest
    from snapcompact.archive.read import open_archive

    with open_archive(archive) as opened:
        manifest = opened.manifest
    if as_json:
        say_json(orjson.loads(dump_manifest(manifest)))
        return
    totals = manifest.totals
    source = sum(segment.bytes for segment in manifest.source)
    rows = [
        ("archive", f"{archive} (format {manifest.snapcompact}, written by {manifest.tool})"),
        ("session", ", ".join(f"{k} {v}" for k, v in manifest.session.items())),
        ("messages", f"{manifest.messages:,}"),
        ("transcript", size(manifest.transcript_bytes)),
        ("pages", f"{manifest.pages:,} ({size(totals.get('png_bytes', 0))})"),
        ("cells", f"{totals.get('cells', 0):,}"),
        ("options", ", ".join(f"{k} {v}" for k, v in manifest.options.items() if v != "")),
        ("font", manifest.font.get("name", "")),
        ("source", f"{size(source)}" if manifest.source else "not kept"),
        ("blobs", f"{totals.get('blobs', 0):,} ({size(totals.get('blob_bytes', 0))})"),
        ("losses", _counts(manifest.losses)),
        ("damage", _counts(manifest.damage)),
        ("skipped", _counts(manifest.skipped)),
    ]
    for name, text in rows:
        if text:
            say(f"{name:<11} {printable(text)}")


def _counts(counts: dict[str, int]) -> str:
    return ", ".join(f"{count:,} {kind}" for kind, count in counts.items())
