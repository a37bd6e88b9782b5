"""What can be read from a line that the fast JSON reader refuses. Pure."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any

from snapcompact.history.jsontext import NotFinite

_ENVELOPE = re.compile(r'\{"(?:timestamp|type|parentUuid|id|role|uuid|sessionId)":')
"""How records of the known tools begin."""

_RESTARTS = 8
"""Places tried for the start of a whole record after a torn one; bounds the work on one line."""

_ESCAPED_BYTE = re.compile("[\udc80-\udcff]")


@dataclass(slots=True)
class Salvage:
    """Values found on a line, in order, and the kinds of damage met (names of report.DAMAGE)."""

    values: list[Any] = field(default_factory=list)
    damage: list[str] = field(default_factory=list)


def salvage(line: bytes) -> Salvage:
    """Values and damage of `line` (no line end). A blank line has neither."""
    found = Salvage()
    body = line.removeprefix(b"\xef\xbb\xbf").strip(b"\0 \t\r\n")
    if line.strip(b" \t\r\n") != body and b"\0" in line:
        found.damage.append("nul-bytes")
    if not body:
        return found
    text = _decoded(body, found)
    parser = _Parser(found)
    try:
        found.values.append(parser.whole(text))
    except json.JSONDecodeError as error:
        found.values += parser.joined(text, error.pos)
        found.damage.append("joined-records" if found.values else "bad-line")
    except RecursionError:
        found.damage.append("deep-nesting")
    else:
        _note_strings(text, found)
    return found


def _decoded(body: bytes, found: Salvage) -> str:
    """`body` as text; each byte that is no UTF-8 marked as ``model.wtf8`` reads it."""
    try:
        return body.decode()
    except UnicodeDecodeError:
        found.damage.append("invalid-utf8")
        escaped = body.decode("utf-8", "surrogateescape")
        return _ESCAPED_BYTE.sub("\udb80\\g<0>", escaped)


def _note_strings(text: str, found: Salvage) -> None:
    if any(char < " " and char not in "\t\r\n" for char in set(text)):
        found.damage.append("control-character")
    if "invalid-utf8" in found.damage or "\\u" not in text:
        return
    try:
        json.dumps(found.values[0], ensure_ascii=False).encode()
    except UnicodeEncodeError:
        found.damage.append("lone-surrogate")
    except RecursionError:
        pass


class _Parser:
    """The standard reader, tolerant of control characters, NaN and huge numbers, all counted."""

    def __init__(self, found: Salvage) -> None:
        self._found = found
        self._decoder = json.JSONDecoder(
            strict=False,
            parse_constant=self._constant,
            parse_int=self._int,
            parse_float=self._float,
        )

    def whole(self, text: str) -> Any:
        return self._decoder.decode(text)

    def joined(self, text: str, error_at: int) -> list[Any]:
        """Records of a line where whole ones follow each other, or a torn one comes first."""
        try:
            first, end = self._decoder.raw_decode(text)
        except (json.JSONDecodeError, RecursionError):
            return self._after_torn(text, error_at)
        values = [first]
        while end < len(text):
            start = _skip_blank(text, end)
            try:
                value, end = self._decoder.raw_decode(text, start)
            except (json.JSONDecodeError, RecursionError):
                break
            values.append(value)
        return values if isinstance(first, dict) else []

    def _after_torn(self, text: str, error_at: int) -> list[Any]:
        for start in _restarts(text, error_at):
            try:
                return [self.whole(text[start:])]
            except (json.JSONDecodeError, RecursionError):
                continue
        return []

    def _constant(self, name: str) -> NotFinite:
        self._found.damage.append("not-finite")
        return NotFinite(name.replace("Infinity", "inf"))

    def _float(self, digits: str) -> float:
        value = float(digits)
        if value in (float("inf"), float("-inf")):
            self._found.damage.append("huge-number")
            return NotFinite(value)
        return value

    def _int(self, digits: str) -> int | str:
        try:
            return int(digits)
        except ValueError:  # Python's limit of 4,300 digits
            self._found.damage.append("huge-number")
            return digits


def _restarts(text: str, error_at: int) -> list[int]:
    """Where a whole record may begin: just before the error, else the first known envelopes.

    A record cut inside a string fails at the quote that opens the next record's first key; one
    cut between tokens swallows the next record and fails at the very end.
    """
    near = text.rfind('{"', 1, error_at + 2)
    starts = [near] if near > 0 else []
    for match in _ENVELOPE.finditer(text, 1):
        if len(starts) == _RESTARTS:
            break
        starts.append(match.start())
    return starts


def _skip_blank(text: str, start: int) -> int:
    while start < len(text) and text[start] in "\0 \t\r\n":
        start += 1
    return start
