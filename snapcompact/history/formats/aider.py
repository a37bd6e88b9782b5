"""aider's ``.aider.chat.history.md``: many sessions in one Markdown file, read as a stream.

``#### `` begins a line of the user's, ``> `` one of the program's, all else is the assistant's.
Only ``# aider chat started at`` begins a session: answers have headings of their own. Markers
inside fenced code are the assistant's. Line ends inside what one speaker says are kept, those
around it are not.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from snapcompact.errors import UnknownNameError
from snapcompact.history.conversations import announce
from snapcompact.history.formats import Conversation
from snapcompact.history.model import Message, Meta, Role, Text, shown
from snapcompact.history.records import numbered_lines
from snapcompact.history.report import DamageReport

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from snapcompact.history.formats import Head, Options
    from snapcompact.history.report import Report
    from snapcompact.history.source import Source

_START = b"# aider chat started at "
_USER, _PROGRAM = b"#### ", b"> "
_FENCE = re.compile(rb" {0,3}(`{3,}|~{3,})")
_MODEL = re.compile(rb"> (?:Main model|Models?): ([^ ]+) with ")
_STARTED = re.compile(rb"(?m)^# aider chat started at \d")


def sniff(head: Head) -> bool:
    """A session's start, or both markers in a file of that name (any Markdown may have them)."""
    if head.document is not None:
        return False
    if _STARTED.search(head.data):
        return True
    marked = head.data.startswith(_USER) or b"\n#### " in head.data
    return marked and b"\n> " in head.data and "aider" in head.name


def read(source: Source, options: Options, report: Report) -> Iterator[Message]:
    """The selected sessions; each is called by the time it started at."""
    reader, wanted, met = _Reader(report), options.select, False
    for session, message in reader.all(numbered_lines(source, report.damage)):
        met = met or session == wanted
        if not wanted or (session == wanted and message.label != "conversation"):
            yield message
    if wanted and not met:
        raise UnknownNameError(
            f"no session {wanted!r} in this file; `snapcompact inspect` lists them"
        )


def conversations(source: Source) -> tuple[Conversation, ...]:
    """All sessions, in file order. Two that began in one second are told apart by a number."""
    names = _Names()
    lines = numbered_lines(source, DamageReport())
    return tuple(names.next(line) for line, _, _ in lines if line.startswith(_START))


class _Names:
    """Ids of sessions: the time they started at, numbered where it repeats."""

    def __init__(self) -> None:
        self._seen: dict[str, int] = {}

    def next(self, line: bytes) -> Conversation:
        time = shown(line[len(_START) :].strip())
        count = self._seen[time] = self._seen.get(time, 0) + 1
        return Conversation(time if count == 1 else f"{time} ({count})", "", time)


class _Reader:
    """Lines in, messages out: a run of lines of one speaker is one message."""

    def __init__(self, report: Report) -> None:
        self._report = report
        self._names = _Names()
        self._session = ""
        self._role = Role.ASSISTANT
        self._run: list[bytes] = []
        self._meta = Meta()
        self._model = ""
        self._fence = b""

    def all(self, lines: Iterable[tuple[bytes, int, int]]) -> Iterator[tuple[str, Message]]:
        """(session, message) for each message of `lines`."""
        for line, number, offset in lines:
            if line.startswith(_START):
                yield from self._end()
                about = self._names.next(line)
                self._session, self._fence, self._model = about.id, b"", ""
                yield self._session, announce(about)
            else:
                yield from self._take(line, number, offset)
        yield from self._end()

    def _take(self, line: bytes, number: int, offset: int) -> Iterator[tuple[str, Message]]:
        role, text = self._speaker(line)
        if role is not self._role and (text or role is not Role.ASSISTANT):
            yield from self._end()
            self._role = role
        if not self._run:
            self._meta = Meta(model=self._model, line=number, offset=offset)
        self._run.append(text)

    def _end(self) -> Iterator[tuple[str, Message]]:
        """The message begun, if it says anything."""
        data = b"\n".join(self._run).strip(b"\n")
        self._run = []
        if data:
            label = "aider" if self._role is Role.NOTE else ""
            yield self._session, Message(self._role, (Text(data),), label, self._meta)

    def _speaker(self, line: bytes) -> tuple[Role, bytes]:
        if self._in_code(line):
            return Role.ASSISTANT, line
        if line.startswith(_USER) or line == b"####":
            return Role.USER, line[len(_USER) :].removesuffix(b"\r").removesuffix(b"  ")
        if line.startswith(_PROGRAM) or line == b">":
            if model := _MODEL.match(line):
                self._model = shown(model[1])
                self._report.learn("model", self._model)
            return Role.NOTE, line[len(_PROGRAM) :].removesuffix(b"\r").removesuffix(b"  ")
        return Role.ASSISTANT, line

    def _in_code(self, line: bytes) -> bool:
        """Whether `line` is in fenced code of an answer, its fences included."""
        match = _FENCE.match(line)
        if self._fence:
            if match and match[1].startswith(self._fence) and not line[match.end() :].strip():
                self._fence = b""
            return True
        if match and self._role is Role.ASSISTANT:
            self._fence = match[1]
            return True
        return False
