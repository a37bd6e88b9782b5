"""How exports for people and for models put what they cannot carry into words. Pure."""

from __future__ import annotations

from snapcompact.history.model import Blob, Message, Role, ToolCall, shown, wtf8

_TITLES = {
    Role.SYSTEM: "System",
    Role.USER: "User",
    Role.ASSISTANT: "Assistant",
    Role.TOOL: "Tool result",
    Role.NOTE: "Note",
}
_TURNING = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
_PICTURES: dict[int, str] = str.maketrans(
    {chr(code): chr(0x2400 + code) for code in range(32) if chr(code) not in "\n\t"}
    | {"\x7f": "\u2421"}
    | {chr(code): f"\\x{code:02x}" for code in range(0x80, 0xA0)}
    | dict.fromkeys(_TURNING, "\ufffd")
)
"""Control characters as their pictures; those that turn the reading direction as U+FFFD."""


def plain(data: bytes) -> str:
    """`data` as text that does nothing to a terminal or to the reading direction."""
    return shown(data).replace("\r\n", "\n").translate(_PICTURES)


def plain_text(text: str) -> str:
    """As :func:`plain`, for names and labels, on one line."""
    return plain(wtf8(text)).replace("\n", "␊").replace("\t", " ")


def valid(text: str) -> str:
    """`text` without what UTF-8 cannot hold."""
    return shown(wtf8(text))


def title(message: Message) -> str:
    """Who speaks, as a heading."""
    name = _TITLES[message.role]
    return f"{name} ({plain_text(message.label)})" if message.label else name


def marker(blob: Blob) -> str:
    """A picture or file in words: ``[image PNG 8x8, 75 bytes, dot.png]``."""
    kind = blob.mime.removeprefix("image/").upper() if blob.kind == "image" else blob.mime
    size = f"{blob.width_px}x{blob.height_px}" if blob.width_px else ""
    facts = [
        " ".join(filter(None, (blob.kind, plain_text(kind), size))),
        f"{blob.size:,} bytes" if blob.size else "",
        plain_text(blob.name),
        f"sha256 {blob.sha256[:16]}" if blob.sha256 else "",
        plain_text(blob.ref),
    ]
    return f"[{', '.join(filter(None, facts))}]"


def call_words(call: ToolCall) -> str:
    """A call in words: ``name(arguments)``."""
    return f"{plain_text(call.name)}({plain(call.args)})"
