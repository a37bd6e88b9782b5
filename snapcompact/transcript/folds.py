"""Folds of text that cost no meaning: blanks, look-alikes, emoji, unreadable bytes. Pure.

Each takes bytes and gives bytes and how many places it changed.
"""

from __future__ import annotations

import re
import unicodedata

_BLANK_RUN = re.compile(rb"(?<=[^\s])[ \t]+(?=\n|\Z)|(?<=[^\s])(?:[ \t]{2,}|\t)(?=[^\s])")

LOOK_ALIKES = {
    "“": '"', "”": '"', "„": '"', "‟": '"', "″": '"',
    "‘": "'", "’": "'", "‚": ",", "‛": "'", "′": "'",
    "‐": "-", "‑": "-", "‒": "-", "–": "-", "—": "-", "−": "-", "―": "-",
    "…": "...", "⋯": "...",
    "\u00a0": " ", "\u2002": " ", "\u2003": " ", "\u2009": " ", "\u200a": " ", "\u202f": " ",
    "\u200b": "", "\u2060": "", "\ufeff": "", "\u00ad": "",
}  # fmt: skip
"""Typography that says no more than its ASCII; signs with a meaning of their own are not here."""

_LOOK_ALIKE = re.compile("|".join(map(re.escape, LOOK_ALIKES)))
_EMOJI = re.compile(
    "[\U0001f000-\U0001faff\U0001fc00-\U0001fdff]"
    "[\ufe0f\u200d\U0001f3fb-\U0001f3ff\U0001f000-\U0001faff♀♂]*"
)
_JOINERS = "\ufe0f\u200d"
_INVALID = re.compile(
    rb"(?:[\x00-\x7f]|[\xc2-\xdf][\x80-\xbf]|\xe0[\xa0-\xbf][\x80-\xbf]"
    rb"|[\xe1-\xec\xee\xef][\x80-\xbf]{2}|\xed[\x80-\x9f][\x80-\xbf]|\xf0[\x90-\xbf][\x80-\xbf]{2}"
    rb"|[\xf1-\xf3][\x80-\xbf]{3}|\xf4[\x80-\x8f][\x80-\xbf]{2})+|(?P<bad>\xed[\xa0-\xbf][\x80-\xbf]|.)",
    re.DOTALL,
)
_REPLACEMENT = "\ufffd".encode()


def fold_blanks(data: bytes) -> tuple[bytes, int]:
    """Runs of blanks behind text become one blank, at a line's end none; indents stay."""
    return _BLANK_RUN.subn(
        lambda m: b"" if m.end() == len(data) or data[m.end()] == 10 else b" ", data
    )


def fold_look_alikes(data: bytes) -> tuple[bytes, int]:
    """Typographic quotes, dashes, ellipses and blanks become ASCII (see LOOK_ALIKES)."""
    if data.isascii():
        return data, 0
    text, count = _LOOK_ALIKE.subn(lambda m: LOOK_ALIKES[m[0]], data.decode())
    return text.encode(), count


def name_emoji(data: bytes) -> tuple[bytes, int]:
    """Pictographs become their names, as ``:rocket:``."""
    if b"\xf0\x9f" not in data:
        return data, 0
    text, count = _EMOJI.subn(lambda m: _emoji_name(m[0]), data.decode())
    return text.encode(), count


def replace_invalid(data: bytes) -> tuple[bytes, int]:
    """Bytes that are no UTF-8, lone surrogates among them, become U+FFFD each."""
    try:
        data.decode()
    except UnicodeDecodeError:
        count = 0
        parts: list[bytes] = []
        for match in _INVALID.finditer(data):
            bad = match["bad"] is not None
            count += bad
            parts.append(_REPLACEMENT if bad else match[0])
        return b"".join(parts), count
    return data, 0


def _emoji_name(cluster: str) -> str:
    names = [unicodedata.name(c, f"u+{ord(c):x}") for c in cluster if c not in _JOINERS]
    return ":" + "+".join(name.lower().replace(" ", "_") for name in names) + ":"
