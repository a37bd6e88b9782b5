"""JSON Lines as they really are on disk: streamed, tolerant, every damage counted.

Lines end at LF only (JavaScript leaves U+2028 and U+0085 raw inside strings). Memory is bounded
by the longest line, and that by :data:`MAX_LINE_BYTES`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson

from snapcompact.history.report import DamageReport
from snapcompact.history.salvage import salvage

if TYPE_CHECKING:
    from snapcompact.history.report import Report
    from snapcompact.history.source import Source, Tap

MAX_LINE_BYTES = 256 << 20
"""Longest line read; readers of these files in the wild stop at 64 to 250 MB."""

_DIGITS = bytes(0x31 if 0x30 <= byte <= 0x39 else 0x30 for byte in range(256))
_LONG_NUMBER = b"1" * 20
"""Where a line, its digits mapped to 1, has 20 in a row, orjson might round a whole number."""


class Block(NamedTuple):
    """Whole lines that follow each other."""

    data: bytes
    """The lines, but for the last one's LF."""
    number: int
    """Number of the first, from 1."""
    offset: int
    """Byte offset of the first in the unpacked file."""
    closed: bool
    """False for a last line without LF."""


def line_blocks(
    source: Source, damage: DamageReport, tap: Tap | None = None, *, first: int = 1
) -> Iterator[Block]:
    """All lines of `source` in blocks of about a megabyte; a longer line is a block of its own.

    `first` is the number of the line at ``source.begin``. A line over MAX_LINE_BYTES is counted and
    given as an empty line. Raises DiskError.
    """
    pieces: list[bytes] = []
    held, number, offset, skipping = 0, first, source.begin, False
    for block in source.blocks(tap, lambda: damage.add("cut-stream", 0)):
        rest = block
        if skipping:
            end = block.find(b"\n")
            held += end + 1 if end >= 0 else len(block)
            if end < 0:
                continue
            yield Block(b"", number, offset, closed=True)
            number, offset = number + 1, offset + held
            held, skipping, rest = 0, False, block[end + 1 :]
        cut = rest.rfind(b"\n")
        if cut >= 0:
            pieces.append(rest[:cut])
            data = b"".join(pieces)
            yield Block(data, number, offset, closed=True)
            number, offset = number + data.count(b"\n") + 1, offset + held + cut + 1
            pieces, held, rest = [], 0, rest[cut + 1 :]
        pieces.append(rest)
        held += len(rest)
        if held > MAX_LINE_BYTES:
            damage.add("line-too-long", number)
            pieces, skipping = [], True
    if held and not skipping:
        yield Block(b"".join(pieces), number, offset, closed=False)


def numbered_lines(source: Source, damage: DamageReport) -> Iterator[tuple[bytes, int, int]]:
    """(line, its number from 1, its byte offset) for each line of `source`. Raises DiskError."""
    for data, number, offset, _ in line_blocks(source, damage):
        at = offset
        for count, line in enumerate(data.split(b"\n")):
            yield line, number + count, at
            at += len(line) + 1


def records(
    source: Source,
    report: Report,
    *,
    skip: Mapping[bytes, str] | None = None,
    tap: Tap | None = None,
    first: int = 1,
) -> Iterator[tuple[dict[str, Any], int, int]]:
    """(record, line number, byte offset) for each JSON object of `source`.

    Lines are counted from `first`, the number of the line at ``source.begin``.

    A line that begins with a key of `skip` is not parsed but counted in ``report.skipped`` under
    its value. Damage is counted in ``report.damage``; blank lines are ignored. Bytes outside UTF-8
    are marked in the strings so that ``model.wtf8`` gives them back.
    """
    loads = orjson.loads
    prefixes = tuple(skip or ())
    for data, number, offset, closed in line_blocks(source, report.damage, tap, first=first):
        line_at, at = number - 1, offset
        for line in data.split(b"\n"):
            line_at += 1
            start = at
            at += len(line) + 1
            if prefixes and line.startswith(prefixes) and line.endswith((b"}", b"}\r")):
                report.skipped[_kind(skip or {}, line)] += 1
                continue
            try:
                value = loads(line)
            except orjson.JSONDecodeError:
                yield from _salvaged(line, line_at, start, report, closed=closed)
                continue
            if _LONG_NUMBER in line.translate(_DIGITS):
                yield from _salvaged(line, line_at, start, report, closed=closed)
            elif type(value) is dict:
                yield value, line_at, start
            else:
                report.damage.add("not-an-object", line_at)


def contains(source: Source, words: bytes) -> bool:
    """Whether a line of `source` contains `words`, which has no LF; nothing is parsed."""
    return any(words in block.data for block in line_blocks(source, DamageReport()))


def _kind(skip: Mapping[bytes, str], line: bytes) -> str:
    return next(kind for prefix, kind in skip.items() if line.startswith(prefix))


def _salvaged(
    line: bytes, number: int, offset: int, report: Report, *, closed: bool
) -> Iterator[tuple[dict[str, Any], int, int]]:
    found = salvage(line)
    for kind in found.damage:
        torn = kind == "bad-line" and not closed
        report.damage.add("torn-tail" if torn else kind, number)
    for value in found.values:
        if isinstance(value, dict):
            yield value, number, offset
        else:
            report.damage.add("not-an-object", number)
