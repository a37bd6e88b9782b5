"""What a lone page says of itself: the JSON in its text chunk."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

import orjson

from snapcompact.errors import PageError, VersionError

KEYWORD = "snapcompact"
VERSION = 1
MAX_BYTES = 4096
"""More than any page writes; larger chunks are refused unread."""

_SHA256 = re.compile(r"[0-9a-f]{64}")
_LIMITS = {"version": 1 << 16, "page": 1 << 53, "offset": 1 << 53, "length": 1 << 53}


@dataclass(frozen=True, slots=True)
class PageMetadata:
    """The text chunk of a page: it confirms what the pixels say, and is not needed to read them.

    ``shape`` is a shape's name; ``font`` the hex SHA-256 of the font; ``page`` counts from 1.
    ``offset`` and ``length``, in bytes, place the page in its text; ``sha256`` is the hex hash of
    that text.
    """

    shape: str
    font: str
    page: int
    offset: int
    length: int
    sha256: str
    version: int = VERSION

    def to_json(self) -> bytes:
        """Compact JSON in ASCII; equal values give equal bytes."""
        value = {key: getattr(self, key) for key in self.__slots__}  # asdict() takes 12 us a page
        if self.shape.isascii():
            return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
        return json.dumps(value, separators=(",", ":"), sort_keys=True).encode("ascii")


def parse_metadata(text: bytes) -> PageMetadata:
    """The metadata in `text`, JSON from a page; unknown keys are ignored.

    Raises VersionError if a newer version wrote it, PageError if it is none.
    """
    if len(text) > MAX_BYTES:
        raise PageError(f"page metadata has {len(text)} bytes; at most {MAX_BYTES} are read")
    try:
        value: Any = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise PageError(f"page metadata is not JSON: {error}") from error
    if not isinstance(value, dict):
        raise PageError("page metadata is JSON, but no object")
    version = value.get("version")
    if isinstance(version, int) and version > VERSION:
        raise VersionError(
            f"page metadata has version {version}; this program reads up to {VERSION}: "
            "update snapcompact"
        )
    return PageMetadata(
        shape=_text(value, "shape", re.compile(r"\S{1,200}")),
        font=_text(value, "font", _SHA256),
        sha256=_text(value, "sha256", _SHA256),
        **{key: _number(value, key, limit) for key, limit in _LIMITS.items()},
    )


def _text(value: dict[str, Any], key: str, pattern: re.Pattern[str]) -> str:
    found = value.get(key)
    if not isinstance(found, str) or not pattern.fullmatch(found):
        raise PageError(f"page metadata: {key!r} is {found!r:.80}, expected {pattern.pattern}")
    return found


def _number(value: dict[str, Any], key: str, limit: int) -> int:
    found = value.get(key)
    if type(found) is not int or not 0 <= found < limit:
        raise PageError(f"page metadata: {key!r} is {found!r:.80}, expected 0 to {limit - 1}")
    return found
