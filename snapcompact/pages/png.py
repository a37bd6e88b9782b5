"""Scanlines to PNG bytes, and pictures back to scanlines.

Written pages are palette PNGs (PNG specification, third edition): paper is colour 0, one IDAT,
chunks IHDR PLTE tEXt IDAT IEND. *Scanlines* are what PNG compresses, before its filters: a uint8
array (height, 1 + row bytes), the first byte of each row 0.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING

import deflate
import numpy as np
from isal import igzip_lib, isal_zlib

from snapcompact.errors import PageError
from snapcompact.pages.metadata import KEYWORD, MAX_BYTES, PageMetadata, parse_metadata
from snapcompact.pages.picture import check_size, read_picture
from snapcompact_kernels.raster import unfilter

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

SIGNATURE = b"\x89PNG\r\n\x1a\n"
_PREFIX = KEYWORD.encode("ascii") + b"\0"
GLYPHS = b"snGl"
"""Kind of the chunk with the glyphs a page carries: ancillary, private, safe to copy."""
PALETTE = 3
"""Colour type of our pages."""
ZLIB_METHOD, ZLIB_DICTIONARY = 8, 32
"""Deflate, and the flag of a dictionary, which PNG has not (RFC 1950)."""


@dataclass(frozen=True, slots=True, eq=False)
class PageImage:
    """A page as read: ``scanlines`` at one bit a pixel, 1 where a pixel is ink of any colour."""

    width: int
    height: int
    scanlines: NDArray[np.uint8]
    metadata: PageMetadata | None
    glyphs: bytes = b""
    """Of the page's glyph chunk, as ``carried.parse_glyphs`` takes it."""

    @property
    def pixels(self) -> NDArray[np.uint8]:
        """(height, width) uint8, 1 is ink."""
        return np.unpackbits(self.scanlines[:, 1:], axis=1, count=self.width)


def encode(
    stream: bytes | memoryview,
    size: tuple[int, int],
    palette: Sequence[tuple[int, int, int]],
    metadata: PageMetadata,
    *,
    depth: int = 1,
    glyphs: bytes = b"",
) -> bytes:
    """A PNG file of `size` (width, height), its scanlines given as the zlib `stream`.

    `glyphs` is the body of the glyph chunk (``carried.dump_glyphs``), which stands in pages that
    carry any.
    """
    width, height = size
    header = struct.pack(">IIBBBBB", width, height, depth, PALETTE, 0, 0, 0)
    text = _PREFIX + metadata.to_json()
    return b"".join(
        (
            SIGNATURE,
            *_chunk(b"IHDR", header),
            *_chunk(b"PLTE", bytes(part for colour in palette for part in colour)),
            *_chunk(b"tEXt", text),
            *(_chunk(GLYPHS, glyphs) if glyphs else ()),
            *_chunk(b"IDAT", stream),
            *_chunk(b"IEND", b""),
        )
    )


@dataclass(frozen=True, slots=True, eq=False)
class PackedPage:
    """What is in a PNG of a page.

    ``filtered`` are the scanlines at ``depth`` bits a pixel with their filters, flat; None where
    they are packed in another way than ours.
    """

    width: int
    height: int
    depth: int
    filtered: NDArray[np.uint8] | None
    metadata: PageMetadata | None
    glyphs: bytes


def decode(data: bytes) -> PageImage:
    """The page in `data`, a PNG of ours or any other picture of a page.

    Raises PageError where it is no picture, damaged, animated or too large; VersionError where a
    newer version wrote its metadata. Memory is bounded by the largest page.
    """
    packed = unpack(data)
    scanlines = _unfiltered(packed) if packed else None
    if packed is None or scanlines is None:
        ink = read_picture(data)
        scanlines, (height, width) = from_pixels(ink), ink.shape
    else:
        width, height = packed.width, packed.height
    if packed is None:
        return PageImage(width, height, scanlines, None)
    return PageImage(width, height, scanlines, packed.metadata, packed.glyphs)


def unpack(data: bytes) -> PackedPage | None:
    """The page in `data`, a PNG, its filters not undone; None for a picture that is none of ours.

    Raises as :func:`decode`.
    """
    if not data.startswith(SIGNATURE):
        return None
    chunks = dict.fromkeys((b"IHDR", b"PLTE", b"tEXt", GLYPHS, b"IDAT"), b"")
    whole = True
    for kind, body in _chunks(data):
        if kind == b"tEXt" and not body.startswith(_PREFIX):
            continue
        if kind == b"IDAT" and chunks[kind]:  # in pieces: another program saved our page anew
            whole = False
        elif chunks.get(kind):  # two pages' texts, say: not ours
            return None
        else:
            chunks[kind] = body
    metadata, glyphs = _metadata(chunks[b"tEXt"]), chunks[GLYPHS]
    if len(chunks[b"IHDR"]) != 13:
        raise PageError("PNG without a header of 13 bytes")
    width, height, depth, colour, *methods = struct.unpack(">IIBBBBB", chunks[b"IHDR"])
    check_size(width, height)
    ours = whole and depth in (1, 2, 4) and colour == PALETTE and not any(methods)
    if not ours or chunks[b"PLTE"][:3] < b"\xff":
        return PackedPage(width, height, depth, None, metadata, glyphs)
    size = height * (1 + (width * depth + 7) // 8)
    filtered = np.frombuffer(_inflated(chunks[b"IDAT"], size), np.uint8)
    return PackedPage(width, height, depth, filtered, metadata, glyphs)


def read_metadata(data: bytes) -> PageMetadata | None:
    """What the PNG in `data` says of itself, None if nothing; pixels are not looked at.

    Raises PageError where it is damaged up to there, or no PNG; VersionError as :func:`decode`.
    """
    if not data.startswith(SIGNATURE):
        raise PageError("not a PNG file")
    texts = (body for kind, body in _chunks(data) if kind == b"tEXt" and body.startswith(_PREFIX))
    return _metadata(next(texts, b""))


def from_pixels(ink: NDArray[np.bool_]) -> NDArray[np.uint8]:
    """Scanlines at one bit a pixel of `ink` (height, width)."""
    packed = np.packbits(ink, axis=1)
    return np.concatenate([np.zeros((packed.shape[0], 1), np.uint8), packed], axis=1)


def _chunk(kind: bytes, body: bytes | memoryview) -> tuple[bytes, bytes, bytes | memoryview, bytes]:
    """The parts of one chunk."""
    check = deflate.crc32(body, deflate.crc32(kind))
    return struct.pack(">I", len(body)), kind, body, struct.pack(">I", check)


def _chunks(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Kind and body of each chunk up to IEND; raises PageError at the first damage."""
    at = len(SIGNATURE)
    kind = b""
    while kind != b"IEND":
        if at + 12 > len(data):
            raise PageError(f"PNG is cut off at byte {len(data)}: no end chunk")
        (size,) = struct.unpack_from(">I", data, at)
        kind = data[at + 4 : at + 8]
        if at + 12 + size > len(data):
            raise PageError(f"PNG is cut off at byte {len(data)}, in chunk {kind!r} at byte {at}")
        body = data[at + 8 : at + 8 + size]
        (check,) = struct.unpack_from(">I", data, at + 8 + size)
        if check != deflate.crc32(body, deflate.crc32(kind)):
            raise PageError(f"PNG is damaged: checksum of chunk {kind!r} at byte {at}")
        yield kind, body
        at += 12 + size


def _inflated(stream: bytes, size: int) -> bytes:
    """What the zlib `stream` packs. Raises PageError unless that is exactly `size` bytes."""
    method, flags = stream[:2] if len(stream) > 2 else b"\0\0"
    if method & 15 != ZLIB_METHOD or flags & ZLIB_DICTIONARY or (method << 8 | flags) % 31:
        raise PageError("PNG is damaged: its pixels do not unpack (no zlib header)")
    # Bare deflate, since ISA-L takes a twelfth of its time for the checksum, libdeflate nothing.
    # libdeflate's own inflate takes a third longer on pages at 11 px, and is 5 % faster at 8.
    inflate = isal_zlib.decompressobj(-15)
    try:
        data = inflate.decompress(memoryview(stream)[2:], size + 1)
    except igzip_lib.IsalError as error:  # type: ignore[misc]  # untyped in its stubs
        raise PageError(f"PNG is damaged: its pixels do not unpack ({error})") from error
    if len(data) != size or not inflate.eof:
        raise PageError(f"PNG is damaged: its pixels do not unpack to {size} bytes")
    if inflate.unused_data != deflate.adler32(data).to_bytes(4, "big"):
        raise PageError("PNG is damaged: its pixels unpack to others than were packed (checksum)")
    return data


def _unfiltered(packed: PackedPage) -> NDArray[np.uint8] | None:
    """The scanlines of a page at one bit a pixel; None if they have filters we do not write."""
    if packed.filtered is None:
        return None
    scanlines = np.empty((packed.height, packed.filtered.size // packed.height), np.uint8)
    if not unfilter(packed.filtered, scanlines.shape[1] - 1, scanlines.reshape(-1)):
        return None
    return scanlines if packed.depth == 1 else _ink_mask(scanlines, packed.width, packed.depth)


def _ink_mask(scanlines: NDArray[np.uint8], width: int, depth: int) -> NDArray[np.uint8]:
    """Scanlines at one bit a pixel, 1 where the colour in `scanlines` is not 0."""
    bits = np.unpackbits(scanlines[:, 1:], axis=1, count=width * depth)
    colours = bits.reshape(scanlines.shape[0], width, depth)
    return from_pixels(np.asarray(colours.any(axis=2)))


def _metadata(text: bytes) -> PageMetadata | None:
    """The metadata in the body of a text chunk of ours, or None where there is none."""
    if len(text) > MAX_BYTES + len(_PREFIX):
        raise PageError(f"page metadata has {len(text)} bytes; at most {MAX_BYTES} are read")
    return parse_metadata(text[len(_PREFIX) :]) if text else None
