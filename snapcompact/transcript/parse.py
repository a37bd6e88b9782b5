"""Transcript → the messages it was written from (the grammar is in grammar.py).

Ids are not printed: calls get their number in the transcript as their id, and results the id of
the call they answer. Times, model and usage stand in the archive's ``messages.jsonl``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from snapcompact.history.model import (
    Blob,
    Block,
    Message,
    Meta,
    Other,
    Role,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    unwtf8,
)
from snapcompact.history.pairing import Pairing
from snapcompact.transcript.grammar import (
    OUT_CLOSE,
    OUT_OPEN,
    PILCROW,
    RANK,
    SCOPE_ROLE,
    Marker,
    goes_on,
    parse_call,
    parse_fields,
    parse_marker,
    unescape_lines,
)

_ANSWER_SCOPES = frozenset(RANK)


def parse_transcript(chunks: Iterable[bytes]) -> Iterator[Message]:
    """The messages of a transcript given in pieces of any size.

    Never fails: text before the first marker, or a marker that is none, becomes a note's text, so
    that a transcript read with errors still gives its words.
    """
    parser = _Parser()
    for section in _sections(chunks):
        yield from parser.feed(section)
    yield from parser.close()


def with_ordinal_ids(messages: Iterable[Message]) -> Iterator[Message]:
    """`messages` with the call ids that the transcript's parser gives them.

    Two histories that say the same are equal after this.
    """
    pairing = Pairing()
    for message in messages:
        calls = pairing.made
        answer = pairing.feed(message)
        blocks: list[Block] = []
        for block in message.blocks:
            if isinstance(block, ToolCall):
                calls += 1
                blocks.append(replace(block, id=str(calls)))
            elif isinstance(block, ToolResult) and answer is not None and answer.number:
                blocks.append(replace(block, call_id=str(answer.number)))
            else:
                blocks.append(block)
        yield replace(message, blocks=tuple(blocks))


Section = tuple[bytes, list[bytes]]
"""A marker, ``<out`` or ``</out>`` line (or b"" at the beginning), and the text lines behind it."""


def _sections(chunks: Iterable[bytes]) -> Iterator[Section]:
    head, lines = b"", list[bytes]()
    for line in _lines(chunks):
        if line.startswith((PILCROW, OUT_OPEN, b"</out")):
            yield head, lines
            head, lines = line, []
        else:
            lines.append(line)
    yield head, lines


def _lines(chunks: Iterable[bytes]) -> Iterator[bytes]:
    tail: list[bytes] = []
    for chunk in chunks:
        first, *rest = chunk.split(b"\n")
        tail.append(first)
        if rest:
            yield b"".join(tail)
            tail = [rest.pop()]
            yield from rest
    if last := b"".join(tail):
        yield last


def _text(lines: list[bytes]) -> bytes:
    return unescape_lines(b"\n".join(lines))


class _Parser:
    """Builds messages from sections; holds at most one message."""

    def __init__(self) -> None:
        self._role: Role | None = None
        self._label = ""
        self._blocks: list[Block] = []
        self._rank: int | None = None
        self._result: ToolResult | None = None
        self._calls = 0
        self._answered = 0
        """Number of the newest call that has a result."""

    def feed(self, section: Section) -> Iterator[Message]:
        head, lines = section
        if head.startswith(OUT_OPEN):
            yield from self.close()
            self._open_result(head, lines)
            return
        if head.startswith(OUT_CLOSE) and self._result is not None:
            yield from self.close()
            if lines:
                self._start(Role.NOTE, "")
                self._blocks.append(Text(_text(lines)))
            return
        marker = parse_marker(head)
        if marker is None:
            yield from self._stray(head, lines)
        elif self._result is not None:
            self._continue_result(marker, lines)
        elif marker.scope in SCOPE_ROLE or marker.scope in _ANSWER_SCOPES:
            yield from self._open_or_continue(marker, lines)
        else:
            if self._role is None:
                self._start(Role.NOTE, "")
            self._append(marker, lines)

    def close(self) -> Iterator[Message]:
        if self._result is not None:
            yield Message(Role.TOOL, (self._result,), self._label)
        elif self._role is not None:
            yield Message(self._role, tuple(self._blocks), self._label, Meta())
        self._role, self._blocks, self._result, self._rank = None, [], None, None

    def _start(self, role: Role, label: str) -> None:
        self._role, self._label, self._blocks = role, label, []

    def _stray(self, head: bytes, lines: list[bytes]) -> Iterator[Message]:
        everything = [head, *lines] if head else lines
        if not everything:
            return
        if self._role is None and self._result is None:
            self._start(Role.NOTE, "")
        block = Text(_text(everything))
        if self._result is not None:
            self._result = replace(self._result, content=(*self._result.content, block))
        else:
            self._blocks.append(block)
        yield from ()

    def _open_or_continue(self, marker: Marker, lines: list[bytes]) -> Iterator[Message]:
        rank = RANK.get(marker.scope)
        continues = marker.flag == b"+" or (
            rank is not None
            and goes_on(self._rank, rank)
            and marker.flag != b"*"
            and marker.label is None
        )
        if not (continues and self._role is not None):
            yield from self.close()
            role = Role.ASSISTANT if rank is not None else SCOPE_ROLE[marker.scope]
            self._start(role, marker.label or "")
            self._rank = rank
        elif rank is not None and self._rank is not None and rank > self._rank:
            self._rank = rank
        self._append(marker, lines)

    def _append(self, marker: Marker, lines: list[bytes]) -> None:
        match marker.scope:
            case b"think":
                self._blocks.append(Thinking(_text(lines), _sealed(marker.rest)))
            case b"call":
                self._append_call(marker, lines)
            case scope if scope in SCOPE_ROLE:
                if lines:
                    self._blocks.append(Text(_text(lines)))
            case _:
                self._blocks.extend(_attachments(marker, lines))

    def _append_call(self, marker: Marker, lines: list[bytes]) -> None:
        self._calls += 1
        name, args = parse_call(marker.rest) or (b"", marker.rest)
        self._blocks.append(ToolCall(str(self._calls), unwtf8(name), args))
        if lines:
            self._blocks.append(Text(_text(lines)))

    def _open_result(self, head: bytes, lines: list[bytes]) -> None:
        given = parse_fields(head[len(OUT_OPEN) :].rstrip(b">"))
        if "orphan" in given:
            call_id = unwtf8(given.get("id", b""))
        else:
            number = self._answered + 1
            if "call" in given:
                number = max(self._calls + 1 - _number(given["call"]), 1)
            self._answered = max(self._answered, number)
            call_id = str(number)
        content = (Text(_text(lines)),) if lines else ()
        self._result = ToolResult(call_id, content, "error" in given)
        self._label = unwtf8(given.get("label", b""))

    def _continue_result(self, marker: Marker, lines: list[bytes]) -> None:
        assert self._result is not None
        content = (*self._result.content, *_attachments(marker, lines))
        self._result = replace(self._result, content=content)


def _attachments(marker: Marker, lines: list[bytes]) -> list[Text | Blob | Other]:
    match marker.scope:
        case b"text":
            return [Text(_text(lines))]
        case b"image" | b"file":
            blob = _blob(marker)
            return [blob, Text(_text(lines))] if lines else [blob]
        case b"other":
            return [Other(marker.label or "", _text(lines))]
    return [Other(marker.scope.decode(), _text([marker.rest, *lines]))]


def _blob(marker: Marker) -> Blob:
    given = parse_fields(b" " + marker.rest)
    width, _, height = given.get("px", b"").partition(b"x")
    return Blob(
        kind=marker.scope.decode(),
        mime=unwtf8(given.get("mime", b"")),
        name=unwtf8(given.get("name", b"")),
        width_px=_number(width),
        height_px=_number(height),
        size=_number(given.get("bytes", b"")),
        sha256=unwtf8(given.get("sha256", b"")),
        ref=unwtf8(given.get("ref", b"")),
    )


def _sealed(rest: bytes) -> int:
    return _number(rest.removeprefix(b"sealed "))


def _number(digits: bytes) -> int:
    return int(digits) if digits.isdigit() and len(digits) <= 18 else 0
