r"""The words of the transcript: what a line of it may be, and how odd names are written.

A transcript is lines, each ended by LF. A line that starts with ``¶`` is a *marker*::

    ¶system:   ¶user:   ¶ai:   ¶note:   ¶tool:      open a message of that role
    ¶think:    ¶call:name(args)                     open one of the assistant, or continue it
    ¶text:     ¶image:…   ¶file:…   ¶other[kind]:   continue the message (or the tool result)

The lines behind a marker, up to the next one, are the block's text; no line at all is no text
block. ``<out>`` … ``</out>`` is a message of its own, the result of a call.

- ``¶think:``, ``¶ai:`` and ``¶call:`` continue the assistant's message when they come in that order
  (several calls in a row included) and no other message has come between; else they open a new one.
  ``¶+think:`` and ``¶+call:`` always continue, ``¶*ai:`` (``*think``, ``*call``) always opens.
- A label narrows a role: ``¶user[context]:``. A marker with a label opens a message.
- Fields are ``key=value``. A value, name or label with a character outside its plain set stands
  in double quotes, with ``\\``, ``\"`` and ``\n`` for backslash, quote and LF.
- Arguments stand as they are, unless they hold an LF or begin with a double quote: then quoted.
- ``<out>`` answers the call behind the newest one that has been answered; ``<out call=3 id=…>`` the
  third call back; ``<out orphan id=…>`` none that is known.
- A text line that begins with any number of backslashes and then ``¶``, ``<out`` or ``</out`` gets
  one more backslash in front.
"""

from __future__ import annotations

import re

from snapcompact.history.model import Role, unwtf8, wtf8

PILCROW = "¶".encode()
OUT_OPEN = b"<out"
OUT_CLOSE = b"</out>"

ROLE_SCOPE = {
    Role.SYSTEM: b"system",
    Role.USER: b"user",
    Role.ASSISTANT: b"ai",
    Role.TOOL: b"tool",
    Role.NOTE: b"note",
}
SCOPE_ROLE = {scope: role for role, scope in ROLE_SCOPE.items()}

THINK, AI, CALL = 0, 1, 2
"""Order in which an assistant's scopes continue one message without a sign."""
RANK = {b"think": THINK, b"ai": AI, b"call": CALL}


def goes_on(last: int | None, rank: int) -> bool:
    """Whether a marker of `rank` without a sign continues the message whose last one is `last`.

    `last` is None where the newest message is no assistant's. A call may follow a call: parallel
    calls are common, two answers in a row that are calls alone are not.
    """
    return last is not None and (rank > last or rank == last == CALL)


_NEEDS_ESCAPE = re.compile(rb"\n(?=\\*(?:\xc2\xb6|</?out))")
"""An LF, since that is what ``re`` finds fast: ``(?m)^`` takes three times as long."""
_ESCAPED = re.compile(rb"(?m)^\\(?=\\*(?:\xc2\xb6|</?out))")
_PLAIN = re.compile(rb"[A-Za-z0-9._/+:@%#~-]+")
_PLAIN_LABEL = re.compile(rb'[^\]\n"][^\]\n]*')
_FIELD = re.compile(
    rb'\s+(?P<key>[a-z0-9]+)(?:=(?P<value>[A-Za-z0-9._/+:@%#~-]+|"(?:[^"\\\n]|\\[\\"n])*"))?'
)
_MARKER = re.compile(
    rb"\xc2\xb6(?P<flag>[+*]?)(?P<scope>[a-z]+)"
    rb'(?:\[(?P<label>"(?:[^"\\\n]|\\[\\"n])*"|[^\]\n"][^\]\n]*)\])?:(?P<rest>[^\n]*)'
)
_QUOTED_PAIR = re.compile(rb'\\([\\"n])')
_CALL = re.compile(
    rb'(?P<name>[A-Za-z0-9._/+:@%#~-]+|"(?:[^"\\\n]|\\[\\"n])*")\((?P<args>.*)\)', re.DOTALL
)


def escape_lines(data: bytes) -> bytes:
    """`data` with a backslash before each line that could be taken for a marker."""
    if b"<" not in data and data.isascii():
        return data
    return _NEEDS_ESCAPE.sub(rb"\n\\", b"\n" + data)[1:]


def unescape_lines(data: bytes) -> bytes:
    """What :func:`escape_lines` was given."""
    if b"\\" not in data:
        return data
    return _ESCAPED.sub(b"", data)


def quote(data: bytes) -> bytes:
    """`data` on one line in double quotes."""
    body = data.replace(b"\\", b"\\\\").replace(b'"', b'\\"').replace(b"\n", b"\\n")
    return b'"' + body + b'"'


def unquote(data: bytes) -> bytes:
    """What :func:`quote` was given; `data` itself where it is not quoted."""
    if not data.startswith(b'"'):
        return data
    return _QUOTED_PAIR.sub(lambda m: b"\n" if m[1] == b"n" else m[1], data[1:-1])


def atom(data: bytes) -> bytes:
    """A value or name: as it is where plain, else quoted."""
    return data if _PLAIN.fullmatch(data) else quote(data)


def label_part(label: str) -> bytes:
    """``[label]``, or nothing."""
    if not label:
        return b""
    raw = wtf8(label)
    return b"[" + (raw if _PLAIN_LABEL.fullmatch(raw) else quote(raw)) + b"]"


def fields(pairs: list[tuple[str, str | bytes | int | None]]) -> bytes:
    """`` key=value`` for each pair; a value of None makes a bare key."""
    out = b""
    for key, value in pairs:
        out += b" " + key.encode()
        if value is not None:
            raw = value if isinstance(value, bytes) else wtf8(str(value))
            out += b"=" + atom(raw)
    return out


def parse_fields(data: bytes) -> dict[str, bytes]:
    """Fields of a line, a bare key as an empty value; what is no field is left out."""
    return {
        match["key"].decode(): unquote(match["value"] or b"") for match in _FIELD.finditer(data)
    }


class Marker:
    """A marker line taken apart: flag (``b""``, ``b"+"``, ``b"*"``), scope, label, rest."""

    __slots__ = ("flag", "label", "rest", "scope")

    def __init__(self, flag: bytes, scope: bytes, label: bytes | None, rest: bytes) -> None:
        self.flag = flag
        self.scope = scope
        self.label = None if label is None else unwtf8(unquote(label))
        self.rest = rest


def parse_marker(line: bytes) -> Marker | None:
    """The marker that `line` (without LF) is, or None."""
    match = _MARKER.fullmatch(line)
    if match is None:
        return None
    return Marker(match["flag"], match["scope"], match["label"], match["rest"])


def call_line(name: bytes, args: bytes) -> bytes:
    """``name(args)``, on one line."""
    raw = args if b"\n" not in args and not args.startswith(b'"') else quote(args)
    return atom(name) + b"(" + raw + b")"


def parse_call(rest: bytes) -> tuple[bytes, bytes] | None:
    """Name and arguments of :func:`call_line`'s result, or None."""
    match = _CALL.fullmatch(rest)
    if match is None:
        return None
    return unquote(match["name"]), unquote(match["args"])
