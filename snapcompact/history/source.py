"""Where a session's bytes come from: a path, a pipe, or bytes; plain, gzip or zstd.

A source can be opened any number of times. Compression is told by content.
"""

from __future__ import annotations

import io
import stat
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self, cast

from snapcompact.errors import InputError
from snapcompact.files import blocks, disk_errors, open_binary, spool
from snapcompact.history.unpack import BrokenStream, unpacker

_MAGIC_BYTES = 16

Tap = Callable[[bytes], object]
"""Called with each block of the original bytes as it is read, such as ``hash.update``."""


@dataclass(slots=True)
class Source:
    """Bytes of one session. Use as a context manager, so that a spooled pipe is deleted."""

    name: str
    """For messages: the path, ``-`` for a pipe."""
    path: Path | None = None
    data: bytes = b""
    temporary: bool = False
    limit: int | None = None
    """Bytes that count, where a file may grow while it is read; None for all."""
    begin: int = 0
    """Bytes that :meth:`blocks` passes over: a reading that goes on begins there."""

    def raw(self, start: int = 0) -> BinaryIO:
        """The original bytes from `start` on. Raises DiskError."""
        file = io.BytesIO(self.data) if self.path is None else open_binary(self.path)
        if start:
            file.seek(start)
        if self.path is None or self.limit is None:
            return file
        return cast("BinaryIO", _Limited(file, max(0, self.limit - start)))

    def size(self) -> int:
        """Original bytes in all. Raises DiskError."""
        if self.path is None:
            return len(self.data)
        with disk_errors("read", self.path):
            size = self.path.stat().st_size
        return size if self.limit is None else min(size, self.limit)

    def packed(self) -> bool:
        """Whether the bytes are compressed, by how they begin. Raises DiskError."""
        with self.raw() as file, disk_errors("read", self.name):
            return unpacker(file.read(_MAGIC_BYTES)) is not None

    def blocks(
        self, tap: Tap | None = None, damaged: Callable[[], None] | None = None
    ) -> Iterator[bytes]:
        """The unpacked bytes in blocks of about a megabyte, none empty.

        `tap` is called with each original block. Compressed data that breaks off calls `damaged`
        once and ends; what came before it has been yielded. Raises DiskError.
        """
        with self.raw(self.begin) as file, disk_errors("read", self.name):
            originals = _tapped(blocks(file), tap)
            first = next(originals, b"")
            unpack = None if self.begin else unpacker(first)
            chain = _chain(first, originals)
            if unpack is None:
                yield from chain
                return
            try:
                yield from unpack(chain)
            except BrokenStream:
                if damaged is not None:
                    damaged()
                for _ in chain:  # the tap sees every original byte
                    pass

    def head(self, size: int) -> bytes:
        """At most the first `size` unpacked bytes."""
        pieces, length = [], 0
        for block in self.blocks():
            pieces.append(block)
            length += len(block)
            if length >= size:
                break
        return b"".join(pieces)[:size]

    def close(self) -> None:
        """Delete the spooled file of a pipe; a source of the user's is left alone."""
        if self.temporary and self.path is not None:
            self.path.unlink(missing_ok=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def open_source(what: Source | Path | str | bytes) -> Source:
    """The source named by `what`: a path, ``-`` for standard input (spooled), or the bytes.

    Raises DiskError where the path cannot be read.
    """
    if isinstance(what, Source):
        return what
    if isinstance(what, bytes):
        return Source("bytes", data=what)
    if what == "-":
        return Source("-", spool(sys.stdin.buffer), temporary=True)
    path = Path(what)
    with disk_errors("read", path):
        kind = path.stat().st_mode
    if stat.S_ISCHR(kind) or stat.S_ISBLK(kind):
        raise InputError(f"{path} is a device, not a session file")
    if stat.S_ISFIFO(kind) or stat.S_ISSOCK(kind):  # can be read once only, as <(…) in a shell
        with open_binary(path) as pipe:
            return Source(str(path), spool(pipe, str(path)), temporary=True)
    open_binary(path).close()
    return Source(str(path), path)


def original_blocks(source: Source, start: int = 0) -> Iterator[bytes]:
    """The original bytes of `source` from `start` on, as they lie on disk."""
    with source.raw(start) as file, disk_errors("read", source.name):
        yield from blocks(file)


class _Limited(io.RawIOBase):
    """The first `limit` bytes of a file."""

    def __init__(self, file: BinaryIO, limit: int) -> None:
        super().__init__()
        self._file = file
        self._left = limit

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        block = self._file.read(self._left if size < 0 else min(size, self._left))
        self._left -= len(block)
        return block

    def close(self) -> None:
        self._file.close()
        super().close()


def _tapped(pieces: Iterator[bytes], tap: Tap | None) -> Iterator[bytes]:
    for piece in pieces:
        if tap is not None:
            tap(piece)
        yield piece


def _chain(first: bytes, rest: Iterator[bytes]) -> Iterator[bytes]:
    if first:
        yield first
    yield from rest
