r"""What a terminal would show: escape sequences obeyed or dropped, redraws collapsed. Pure.

Only what redraws a line matters here: carriage return, backspace, erase-in-line, cursor left,
right, up and down, and column. Colour, titles, links and device strings are dropped; clearing the
screen or jumping on it starts a new line, so that no line that was ever shown is lost. A sequence
that never ends eats no text (ECMA-48 gives the forms).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from snapcompact.history.model import unwtf8, wtf8

_INTERESTING = re.compile(rb"[\x1b\x08\r]|\xc2[\x80-\x9f]")

_SEQUENCE = re.compile(
    r"(?:\x1b\[|\x9b)(?P<args>[0-?]*)[ -/]*(?P<final>[@-~])"  # CSI … final byte
    r"|(?:\x1b\]|\x9d)[^\x07\x1b\x9c\n]*(?:\x07|\x1b\\|\x9c)"  # OSC … BEL or ST
    r"|(?:\x1b[PX^_]|[\x90\x98\x9e\x9f])[^\x1b\x9c\n]*(?:\x1b\\|\x9c)"  # DCS, SOS, PM, APC … ST
    r"|(?:\x1b\[|\x9b)[0-?]*[ -/]*"  # CSI cut off: its own parameters only
    r"|\x1b[\]PX^_]"  # a string that never ends: its opening only
    r"|\x1b[ -/]*[0-~]?"  # two-character escapes, or a lone ESC
    r"|[\x80-\x9f]"  # any other C1 control
    r"|\r(?=\n|$)"  # the CR of a CRLF
    r"|[\r\x08\n]"
)
_FAR = 4096
"""Cells a cursor may be moved by one sequence; hostile input names billions."""


@dataclass(slots=True)
class _Screen:
    """Lines as shown so far, and the cursor."""

    lines: list[list[str]] = field(default_factory=lambda: [[]])
    row: int = 0
    column: int = 0
    redraws: int = 0

    def put(self, text: str) -> None:
        line = self.lines[self.row]
        if self.column > len(line):
            line.extend(" " * (self.column - len(line)))
        end = self.column + len(text)
        old = line[self.column : end]
        if old:
            self.redraws += 1
        line[self.column : end] = [
            _overstruck(before, after) for before, after in zip(old, text, strict=False)
        ] + list(text[len(old) :])
        self.column = end

    def new_line(self) -> None:
        self.row += 1
        self.column = 0
        if self.row == len(self.lines):
            self.lines.append([])

    def fresh_line(self) -> None:
        """A new last line, where the cursor was sent to a place of the whole screen."""
        self.row = len(self.lines) - 1
        if self.lines[self.row]:
            self.new_line()
        self.column = 0

    def erase(self, how: str) -> None:
        line = self.lines[self.row]
        if how in ("", "0"):
            del line[self.column :]
        elif how == "1":
            line[: self.column] = " " * min(self.column, len(line))
        else:
            line.clear()
        self.redraws += 1


def plain_text(data: bytes) -> tuple[bytes, int, int]:
    """`data` as a terminal shows it, the number of sequences dropped, and of redraws collapsed."""
    if _INTERESTING.search(data) is None:
        return data, 0, 0
    text = unwtf8(data)
    screen = _Screen()
    dropped = at = 0
    for match in _SEQUENCE.finditer(text):
        if match.start() > at:
            screen.put(text[at : match.start()])
        at = match.end()
        if match[0] == "\n":
            screen.new_line()
            continue
        # a CR before LF is a sequence dropped; any other only moves the cursor
        dropped += match[0] not in "\r\b" or (match[0] == "\r" and text[at : at + 1] in ("", "\n"))
        _obey(screen, match)
    screen.put(text[at:])
    shown = "\n".join("".join(line) for line in screen.lines)
    return wtf8(shown), dropped, screen.redraws


def _obey(screen: _Screen, match: re.Match[str]) -> None:
    found = match[0]
    if found == "\r":
        if match.end() < len(match.string) and match.string[match.end()] != "\n":
            screen.column = 0
    elif found == "\b":
        screen.column = max(screen.column - 1, 0)
    elif match["final"]:
        _control(screen, match["args"], match["final"])


def _control(screen: _Screen, args: str, final: str) -> None:
    first = args.split(";", 1)[0]
    steps = min(int(first), _FAR) if first.isdigit() and len(first) < 9 else 1
    match final:
        case "K":
            screen.erase(args)
        case "A" | "F":
            screen.row = max(screen.row - steps, 0)
        case "B" | "E":
            screen.row = min(screen.row + steps, len(screen.lines) - 1)
        case "C":
            screen.column = min(screen.column + steps, _FAR)
        case "D":
            screen.column = max(screen.column - steps, 0)
        case "G":
            screen.column = max(steps - 1, 0)
        case "H" | "J" | "f":
            screen.fresh_line()
    if final in "EF":
        screen.column = 0


def _overstruck(before: str, after: str) -> str:
    """What two characters in one place show: an underline gives way to a letter."""
    return before if after == "_" and before not in " _" else after
