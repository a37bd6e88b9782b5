"""JSON Lines files of rows: read as a stream, or searched without reading all of it.

Rows are written in order of a number that each holds, so the row of any number is found by halving
the file: a history of ten million messages needs no index and no memory.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from typing import BinaryIO, TypeVar

from snapcompact.archive.manifest import MOST_ROW_BYTES
from snapcompact.errors import ArchiveError

Row = TypeVar("Row")
_LINEAR_BYTES = 4096
"""Below this span the search reads on line by line."""


def lines(file: BinaryIO, start: int, end: int, where: str) -> Iterator[bytes]:
    """The lines of `file` between byte offsets `start` and `end`, each with its LF.

    Raises ArchiveError where a line has no end before `end`, or is over MOST_ROW_BYTES.
    """
    file.seek(start)
    at = start
    while at < end:
        line = file.readline(min(end - at, MOST_ROW_BYTES))
        if not line.endswith(b"\n"):
            raise ArchiveError(f"{where}: a row is cut off at byte {at + len(line):,}")
        yield line
        at += len(line)


def rows_from(
    file: BinaryIO, length: int, load: Callable[[bytes, str], Row], where: str, *, start: int = 0
) -> Iterator[Row]:
    """The rows of `file` from byte `start` (a line's beginning) up to byte `length`."""
    for number, line in enumerate(lines(file, start, length, where), 1):
        yield load(line, f"{where} line {number}" if start == 0 else where)


def find_start(
    file: BinaryIO,
    length: int,
    load: Callable[[bytes, str], Row],
    key: Callable[[Row], int],
    target: int,
    where: str,
) -> int:
    """Byte offset of the last row whose `key` is at most `target`; 0 if there is none.

    Keys must not fall from row to row.
    """
    low, high = 0, length
    while high - low > _LINEAR_BYTES:
        middle = _next_line(file, (low + high) // 2, high)
        if middle >= high:
            break
        row = next(rows_from(file, high, load, where, start=middle))
        if key(row) <= target:
            low = middle
        else:
            high = middle
    found, at = low, low
    for line in lines(file, low, length, where):
        if key(load(line, where)) > target:
            break
        found, at = at, at + len(line)
    return found


def _next_line(file: BinaryIO, at: int, end: int) -> int:
    """Offset of the first line that begins behind `at`, or `end`."""
    file.seek(at, io.SEEK_SET)
    skipped = file.readline(min(end - at, MOST_ROW_BYTES))
    return at + len(skipped)
