"""Images and files inside sessions: base64, data URLs and links to :class:`Blob` values. Pure."""

from __future__ import annotations

import base64
import binascii
import hashlib
import struct
from typing import NamedTuple

from snapcompact.history.model import Blob, shown, wtf8


class Picture(NamedTuple):
    """What the first bytes of an image file say."""

    mime: str
    width_px: int
    height_px: int


def picture(data: bytes) -> Picture | None:
    """Type and size of a PNG, JPEG, GIF or WebP file, None for anything else."""
    if data.startswith(b"\x89PNG\r\n\x1a\n") and len(data) >= 24:
        return Picture("image/png", *struct.unpack(">II", data[16:24]))
    if data.startswith((b"GIF87a", b"GIF89a")) and len(data) >= 10:
        return Picture("image/gif", *struct.unpack("<HH", data[6:10]))
    if data.startswith(b"\xff\xd8"):
        return Picture("image/jpeg", *_jpeg_size(data))
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP" and len(data) >= 30:
        return Picture("image/webp", *_webp_size(data))
    return None


def blob(kind: str, mime: str, data: bytes, name: str = "") -> Blob:
    """A blob of the file `data`; an image's true type and size come from its bytes."""
    found = picture(data)
    return Blob(
        kind="image" if found else kind,
        mime=found.mime if found else mime,
        name=name,
        width_px=found.width_px if found else 0,
        height_px=found.height_px if found else 0,
        size=len(data),
        sha256=hashlib.sha256(data).hexdigest(),
        data=data,
    )


def blob_base64(kind: str, mime: str, text: str, name: str = "") -> Blob:
    """A blob of base64 `text`. Broken base64 is kept as it is, and ``ref`` says so.

    A reference such as oh-my-pi's ``blob:sha256:…`` becomes the ``ref`` of a blob without bytes.
    """
    if text.startswith("blob:"):
        return missing(kind, text, mime, name)
    raw = wtf8(text)
    try:
        data = base64.b64decode(raw.translate(None, b" \t\r\n"), validate=True)
    except binascii.Error:
        return Blob(
            kind=kind,
            mime=mime,
            name=name,
            size=len(raw),
            sha256=hashlib.sha256(raw).hexdigest(),
            ref="broken base64",
            data=raw,
        )
    return blob(kind, mime, data, name)


def blob_url(kind: str, url: str, mime: str = "", name: str = "") -> Blob:
    """A blob of a data URL, or one without bytes whose ``ref`` is the link."""
    if not url.startswith("data:"):
        return Blob(kind=kind, mime=mime, name=name, ref=url)
    head, comma, body = url[5:].partition(",")
    said, *flags = head.split(";")
    if comma and "base64" in flags:
        return blob_base64(kind, said or mime, body, name)
    raw = wtf8(body)
    return blob(kind, said or mime, raw, name)


def missing(kind: str, why: str, mime: str = "", name: str = "") -> Blob:
    """A blob whose bytes are not in the session; `why` says where they are."""
    return Blob(kind=kind, mime=mime, name=name, ref=shown(wtf8(why)))


def _jpeg_size(data: bytes) -> tuple[int, int]:
    """(width, height) from the first frame header, (0, 0) where there is none."""
    at = 2
    while at + 9 <= len(data) and data[at] == 0xFF:
        marker = data[at + 1]
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            height, width = struct.unpack(">HH", data[at + 5 : at + 9])
            return width, height
        if marker == 0xFF:
            at += 1
            continue
        at += 2 + max(2, int.from_bytes(data[at + 2 : at + 4]))
    return 0, 0


def _webp_size(data: bytes) -> tuple[int, int]:
    """(width, height) after the container's three frame kinds (RFC 9649)."""
    match data[12:16]:
        case b"VP8 ":
            width, height = struct.unpack("<HH", data[26:30])
            return width & 0x3FFF, height & 0x3FFF
        case b"VP8L":
            bits = int.from_bytes(data[21:25], "little")
            return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
        case b"VP8X":
            width_1 = int.from_bytes(data[24:27], "little")
            return width_1 + 1, int.from_bytes(data[27:30], "little") + 1
    return 0, 0
