"""Streams of packed blocks to streams of unpacked ones, in bounded memory.

Packing is told by content. A stream that breaks off gives what came before, then BrokenStream.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator

from snapcompact.files import BLOCK_BYTES

ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
GZIP_MAGIC = b"\x1f\x8b"

_ZSTD_FEED = 1024
"""Bytes fed at a time: a block of 128 KB can take four, so that this bounds the output to 32 MB."""

Unpack = Callable[[Iterator[bytes]], Iterator[bytes]]


class BrokenStream(EOFError):
    """Packed data that ends early or is no packed data any more."""


def unpacker(head: bytes) -> Unpack | None:
    """What unpacks a stream that begins with `head`; None for what is not packed."""
    if head.startswith(ZSTD_MAGIC):
        return unzstd
    return gunzip if head.startswith(GZIP_MAGIC) else None


def gunzip(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """All members of a gzip stream, in blocks of at most BLOCK_BYTES. Raises BrokenStream."""
    member = None
    for piece in pieces:
        data = piece
        while data:
            member = member or zlib.decompressobj(wbits=31)
            try:
                out = member.decompress(data, BLOCK_BYTES)
            except zlib.error as error:
                raise BrokenStream(str(error)) from error
            if out:
                yield out
            data = member.unconsumed_tail or member.unused_data
            if member.eof:
                member = None
                data = data.lstrip(b"\0")  # gzip allows zero padding after a member
    if member is not None:
        raise BrokenStream("the gzip stream ends early")


def unzstd(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """All frames of a zstd stream. Raises BrokenStream.

    The library refuses windows over 128 MB, so a hostile frame cannot take more memory.
    """
    import zstandard

    frame = None
    for piece in pieces:
        for at in range(0, len(piece), _ZSTD_FEED):
            data = piece[at : at + _ZSTD_FEED]
            while data:
                frame = frame or zstandard.ZstdDecompressor().decompressobj()
                try:
                    out = frame.decompress(data)
                except zstandard.ZstdError as error:
                    raise BrokenStream(str(error)) from error
                if out:
                    yield out
                data = frame.unused_data if frame.eof else b""
                frame = None if frame.eof else frame
    if frame is not None:
        raise BrokenStream("the zstd stream ends early")
