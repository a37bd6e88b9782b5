"""Markdown and plain text: one document, no structure promised. Every byte is kept.

A document over CHUNK_BYTES is given as several messages, cut at line ends, whose texts in a row are
the document; memory stays flat. Text in UTF-16 is turned into UTF-8.
"""

from __future__ import annotations

import codecs
from typing import TYPE_CHECKING

from snapcompact.history.model import Message, Meta, Role, Text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from snapcompact.history.formats import Head, Options
    from snapcompact.history.report import Report
    from snapcompact.history.source import Source

CHUNK_BYTES = 1 << 20

LABEL = "document"


def sniff(head: Head) -> bool:
    """Anything is text."""
    return isinstance(head.data, bytes)


def read(source: Source, options: Options, report: Report) -> Iterator[Message]:
    """The document in messages of role ``USER``, label ``document``."""
    line, offset = 1, 0
    decoder = codecs.getincrementaldecoder("utf-8")()
    for chunk in _chunks(_decoded(source, report)):
        if not _decodes(decoder, chunk):
            report.damage.add("invalid-utf8", line)
        meta = Meta(line=line, offset=offset)
        yield Message(Role.USER, (Text(chunk),), LABEL, meta)
        line += chunk.count(b"\n")
        offset += len(chunk)


def _chunks(blocks: Iterator[bytes]) -> Iterator[bytes]:
    """Pieces that depend on the bytes before their end alone, so that a file may grow."""
    held = b""
    for block in blocks:
        held += block
        while len(held) >= CHUNK_BYTES:
            cut = held.rfind(b"\n", 0, CHUNK_BYTES) + 1 or CHUNK_BYTES
            yield held[:cut]
            held = held[cut:]
    if held:
        yield held


def _decoded(source: Source, report: Report) -> Iterator[bytes]:
    """Blocks of the document; UTF-16, told by its byte order mark, as UTF-8."""
    blocks = source.blocks(damaged=lambda: report.damage.add("cut-stream", 0))
    first = next(blocks, b"")
    if not first.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        if first:
            yield first
        yield from blocks
        return
    report.notes.append("decoded from UTF-16")
    decoder = codecs.getincrementaldecoder("utf-16")("replace")
    yield decoder.decode(first).encode("utf-8", "replace")
    for block in blocks:
        yield decoder.decode(block).encode("utf-8", "replace")
    yield decoder.decode(b"", final=True).encode("utf-8", "replace")


def _decodes(decoder: codecs.IncrementalDecoder, chunk: bytes) -> bool:
    """Whether `chunk` goes on as UTF-8; a character may be cut at its borders."""
    try:
        decoder.decode(chunk)
    except UnicodeDecodeError:
        decoder.reset()
        return False
    return True
