"""Which format a session is in, told by its content, never by its name."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import orjson

from snapcompact.history.formats import Format, Head, table
from snapcompact.history.salvage import salvage

if TYPE_CHECKING:
    from snapcompact.history.source import Source

HEAD_BYTES = 1 << 20
HEAD_RECORDS = 200
"""A Claude Code file may begin with dozens of records that no format owns alone."""


def detect(source: Source) -> Format:
    """The first format of the table whose sniffer takes the head of `source`."""
    head = head_of(source)
    return next(row for row in table() if row.load().sniff(head))


def head_of(source: Source) -> Head:
    """What sniffers see of `source`."""
    data = source.head(HEAD_BYTES + 1)
    cut = len(data) > HEAD_BYTES
    data = data[:HEAD_BYTES]
    lines = data.split(b"\n", HEAD_RECORDS)
    if cut or len(lines) > HEAD_RECORDS:
        lines.pop()
    values = tuple(value for line in lines for value in _values(line))
    document = _document(data, cut=cut)
    if not values and isinstance(document, dict):  # the first line is longer than the head
        values = (document,)
    return Head(data, values, document, source.name)


def _values(line: bytes) -> list[Any]:
    if not line.lstrip(b"\xef\xbb\xbf\0 \t\r").startswith((b"{", b"[")):
        return []
    try:
        return [orjson.loads(line)]
    except orjson.JSONDecodeError:
        return salvage(line).values


def _document(data: bytes, *, cut: bool) -> Any:
    """The one JSON value that `data` is or begins; None where it is none.

    Where `data` was `cut`, a lone first line counts as one document, and so does a first line
    that is no whole value.
    """
    body = data.removeprefix(b"\xef\xbb\xbf").strip()
    if not body.startswith((b"{", b"[")):
        return None
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError:
        pass
    first = body.split(b"\n", 1)[0]
    if len(first) < len(body) and _whole(first):
        return None
    text = body.decode("utf-8", "replace")
    try:
        return json.JSONDecoder(strict=False).decode(closed(text) if cut else text)
    except (ValueError, RecursionError):
        return None


def _whole(line: bytes) -> bool:
    try:
        orjson.loads(line)
    except orjson.JSONDecodeError:
        return False
    return True


_TOKEN = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[{}\[\],:]|[^\s"{}\[\],:]++|"', re.DOTALL)


def closed(text: str) -> str:
    """JSON `text` that was cut somewhere, ended at its last whole value, all brackets closed."""
    open_brackets: list[str] = []
    safe, safe_depth = 0, 0
    expects_key, seen_colon = False, True
    for match in _TOKEN.finditer(text):
        token = match[0]
        if token == '"':  # a string that the cut left open
            break
        if token in "{[":
            open_brackets.append("}" if token == "{" else "]")
            expects_key, seen_colon = token == "{", token == "["
            safe, safe_depth = match.end(), len(open_brackets)
        elif token in "}]":
            if not open_brackets:
                return text
            open_brackets.pop()
            safe, safe_depth = match.end(), len(open_brackets)
            expects_key = False
        elif token == ",":
            expects_key = bool(open_brackets) and open_brackets[-1] == "}"
            seen_colon = not expects_key
        elif token == ":":
            expects_key, seen_colon = False, True
        elif not expects_key and seen_colon and match.end() < len(text):
            safe, safe_depth = match.end(), len(open_brackets)
    return text[:safe] + "".join(reversed(open_brackets[:safe_depth]))
