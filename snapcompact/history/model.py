"""A history as plain frozen values, the same for every tool's session file.

Text is *bytes*: UTF-8, with a lone surrogate as its three WTF-8 bytes and a byte that is no UTF-8
as it stands, because a Python ``str`` cannot hold both apart. Use ``.text`` to show it.

What a message *says* (role, label, blocks) is compared; where it came from (:class:`Meta`) is not.
A tool result is always a message of its own with role ``TOOL``, so that a history is one flat
sequence whose prefix is the history as it was earlier.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple


class Role(StrEnum):
    """Who speaks. What tools call by other names becomes one of these plus a label."""

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"
    NOTE = "note"
    """Said by the file, not in the conversation: compactions, branch marks, unknown records."""


_RAW_MARK = "\udb80"
"""Stands before U+DC00 + b for byte b that was no UTF-8. JSON cannot give this pair: its readers
join a high and a low escape into one character, and strict UTF-8 has no surrogates at all."""

_RAW_PAIR = re.compile(rb"\xed\xae\x80\xed([\xb2\xb3])([\x80-\xbf])")
_ESCAPED = re.compile(
    # a WTF-8 lone surrogate: a high half that no low half follows, or a low half
    "\udced[\udca0-\udcaf][\udc80-\udcbf](?!\udced[\udcb0-\udcbf][\udc80-\udcbf])"
    "|\udced[\udcb0-\udcbf][\udc80-\udcbf]"
    "|[\udc80-\udcff]"
)


def wtf8(text: str) -> bytes:
    """Bytes of `text`: a lone surrogate as its three WTF-8 bytes, a marked byte as itself.

    A byte outside UTF-8 travels in a ``str`` as U+DB80 and U+DC00 + byte (:func:`unwtf8`).
    """
    try:
        return text.encode()
    except UnicodeEncodeError:
        wide = text.encode("utf-8", "surrogatepass")
    return _RAW_PAIR.sub(lambda m: bytes(((m[1][0] & 1) << 6 | m[2][0] & 0x3F | 0x80,)), wide)


def unwtf8(data: bytes) -> str:
    """The ``str`` that :func:`wtf8` turns back into exactly `data`, whatever the bytes."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        return _ESCAPED.sub(_unescaped, data.decode("utf-8", "surrogateescape"))


def _unescaped(match: re.Match[str]) -> str:
    found = match[0]
    if len(found) == 1:
        return _RAW_MARK + found
    return found.encode("utf-8", "surrogateescape").decode("utf-8", "surrogatepass")


def shown(data: bytes) -> str:
    """`data` as text fit to print: what is no UTF-8 becomes U+FFFD."""
    return data.decode("utf-8", "replace")


@dataclass(frozen=True, slots=True)
class Text:
    """Words, as WTF-8 bytes (see the module's head)."""

    data: bytes

    @property
    def text(self) -> str:
        """The words, fit to print."""
        return shown(self.data)


@dataclass(frozen=True, slots=True)
class Thinking:
    """Reasoning. Sealed reasoning has no words, only the size of what is sealed."""

    data: bytes = b""
    sealed_bytes: int = 0

    @property
    def text(self) -> str:
        """The words, fit to print."""
        return shown(self.data)


@dataclass(frozen=True, slots=True)
class Blob:
    """An image or a file. Its bytes are stored beside the pages, never printed on them.

    ``sha256`` (hex, of ``data``) is empty where the bytes are not in the session; ``ref`` then says
    where they were (URL, path) or why they are missing. Sizes are 0 where unknown.
    """

    kind: str
    """``image`` or ``file``."""
    mime: str = ""
    name: str = ""
    width_px: int = 0
    height_px: int = 0
    size: int = 0
    sha256: str = ""
    ref: str = ""
    data: bytes | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Other:
    """A block of a kind unknown to us, kept whole as JSON (or any) text under its own name."""

    kind: str
    data: bytes


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call. ``args`` is JSON text where the tool sent JSON, else the text it sent."""

    id: str
    name: str
    args: bytes


Content = Text | Blob | Other


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a call gave back. ``call_id`` names the call; pairing.py says which of equal ids."""

    call_id: str
    content: tuple[Content, ...]
    is_error: bool = False

    @property
    def text(self) -> str:
        """The words of all text parts, fit to print, one line end between parts."""
        return "\n".join(part.text for part in self.content if isinstance(part, Text))


Block = Text | Thinking | ToolCall | ToolResult | Blob | Other


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens a provider billed for one answer. ``input`` excludes what the cache gave or took."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0

    @property
    def total(self) -> int:
        """All tokens that were in the window when the answer ended."""
        return self.input + self.output + self.cache_read + self.cache_write


class Meta(NamedTuple):
    """Where a message came from. ``line`` counts from 1 and is 0 where lines mean nothing.

    ``id`` is the tool's own (several messages share it where one answer was split), ``time`` is
    text as the file has it, ISO 8601 where it was a number.
    """

    id: str = ""
    time: str = ""
    model: str = ""
    stop: str = ""
    """Why the answer ended, in the provider's word; ``error: …`` where it failed."""
    usage: Usage | None = None
    line: int = 0
    offset: int = 0


@dataclass(frozen=True, slots=True)
class Message:
    """One message. ``label`` narrows the role.

    These labels mean the same in every format:

    ``context`` and ``summary`` stand in the user's place without being typed; ``error`` is no
    answer though it looks like one; ``compaction`` and ``branch summary`` are notes where history
    was cut or a branch left; ``agent ID`` is a sub-agent's; ``left branch …`` was taken back;
    ``document`` is a text with no structure; ``unknown TYPE`` is a record kept whole. A role that
    we do not know is a note labelled with its name.
    """

    role: Role
    blocks: tuple[Block, ...]
    label: str = ""
    meta: Meta = field(default=Meta(), compare=False)

    @property
    def text(self) -> str:
        """The words of all text blocks, fit to print, one line end between blocks."""
        return "\n".join(block.text for block in self.blocks if isinstance(block, Text))
