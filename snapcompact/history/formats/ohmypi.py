"""oh-my-pi 18 and later: pi's entries behind a title slot, pictures as references to blob files."""

from __future__ import annotations

import hashlib
import re
from dataclasses import replace
from typing import TYPE_CHECKING

from snapcompact.errors import SnapcompactError
from snapcompact.files import read_bounded
from snapcompact.history.blobs import blob
from snapcompact.history.formats import pi
from snapcompact.history.model import Blob, Block, Content, Message, ToolResult

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from snapcompact.history.formats import Head, Options
    from snapcompact.history.report import Report
    from snapcompact.history.resume import Point
    from snapcompact.history.source import Source

_REFERENCE = re.compile(r"blob:sha256:([0-9a-f]{64})")
MAX_BLOB_BYTES = 64 << 20


def sniff(head: Head) -> bool:
    """A ``title`` slot before the ``session`` header."""
    types = [record.get("type") for record in head.records[:2] if isinstance(record, dict)]
    return types[:1] == ["title"] and pi.sniff(head)


def read(source: Source, options: Options, report: Report) -> Iterator[Message]:
    """As pi's; a blob that lies beside the session is read, and checked by its hash."""
    return _with_blobs(pi.read(source, options, report), source, report)


def resume(source: Source, options: Options, report: Report, point: Point) -> Iterator[Message]:
    """As pi's."""
    return _with_blobs(pi.resume(source, options, report, point), source, report)


def _with_blobs(messages: Iterator[Message], source: Source, report: Report) -> Iterator[Message]:
    folders = _folders(source.path)
    for message in messages:
        yield replace(message, blocks=tuple(_block(b, folders, report) for b in message.blocks))


def _folders(path: Path | None) -> list[Path]:
    """Where blobs may lie: beside the file, or in ``agent/blobs`` above ``sessions/-cwd``."""
    if path is None:
        return []
    above = list(path.resolve().parents)[:3]
    return [folder / "blobs" for folder in above]


def _block(block: Block, folders: list[Path], report: Report) -> Block:
    if isinstance(block, Blob):
        return _blob(block, folders, report)
    if isinstance(block, ToolResult):
        content: tuple[Content, ...] = tuple(
            _blob(part, folders, report) if isinstance(part, Blob) else part
            for part in block.content
        )
        return replace(block, content=content)
    return block


def _blob(found: Blob, folders: list[Path], report: Report) -> Blob:
    match = _REFERENCE.fullmatch(found.ref)
    if match is None:
        return found
    for folder in folders:
        file = folder / match[1]
        if file.is_symlink() or not file.is_file():
            continue
        try:
            data = read_bounded(file, MAX_BLOB_BYTES)
        except SnapcompactError as error:
            report.notes.append(str(error))
            continue
        if hashlib.sha256(data).hexdigest() == match[1]:
            return blob(found.kind, found.mime, data, found.name)
        report.notes.append(f"{file} is not the blob its name says")
    return found
