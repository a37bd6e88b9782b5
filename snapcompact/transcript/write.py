"""History → transcript (the grammar is in grammar.py).

The transcript of a history's first messages is always the beginning of the transcript of all of
it: nothing is held back, so an archive can grow at its end and no full page ever changes. That is
why results stand behind all calls of their answer, in the order they arrived, instead of each
behind its own call.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from snapcompact.errors import InputError
from snapcompact.history.model import (
    Blob,
    Message,
    Other,
    Role,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    wtf8,
)
from snapcompact.history.pairing import Answer, Pairing, Standing
from snapcompact.transcript.grammar import (
    CALL,
    PILCROW,
    RANK,
    ROLE_SCOPE,
    THINK,
    call_line,
    escape_lines,
    fields,
    goes_on,
    label_part,
)

_OPENING_SCOPE: dict[type, bytes] = {Text: b"ai", Thinking: b"think", ToolCall: b"call"}
"""Blocks of an assistant's message that open it without a bare ``¶ai:`` line."""


def write_transcript(messages: Iterable[Message]) -> Iterator[bytes]:
    """The transcript, one piece a message; the pieces joined are the transcript."""
    writer = TranscriptWriter()
    for message in messages:
        yield writer.write(message)


class TranscriptWriter:
    """Writes messages one by one; keeps only what the next message's marker depends on.

    To go on behind earlier messages, the last of them no assistant's: `pairing` has seen them, and
    `answered` is its number of the newest call that has a result.
    """

    def __init__(self, pairing: Pairing | None = None, answered: int = 0) -> None:
        self._pairing = pairing or Pairing()
        self._answered = answered
        """Number of the newest call that has a result."""
        self._last_rank: int | None = None
        """Rank of the last block while the newest message is an open assistant's, else None."""

    def write(self, message: Message) -> bytes:
        """The lines of `message`, the last ended by LF.

        Raises InputError for a tool result that is not alone in a message of role TOOL.
        """
        answer = self._pairing.feed(message)
        if answer is not None:
            return self._write_result(message, answer)
        if message.role is Role.ASSISTANT:
            return self._write_assistant(message)
        self._last_rank = None
        opener = PILCROW + ROLE_SCOPE[message.role] + label_part(message.label) + b":\n"
        head, rest = _split_head(message, Text)
        return opener + _text_lines(head) + b"".join(map(self._continue, rest))

    def _write_assistant(self, message: Message) -> bytes:
        first = message.blocks[0] if message.blocks else None
        scope = _OPENING_SCOPE.get(type(first), b"ai")
        continues = goes_on(self._last_rank, RANK[scope])
        flag = b"*" if continues and not message.label else b""
        marker = PILCROW + flag + scope + label_part(message.label) + b":"
        rest = message.blocks[1:]
        if isinstance(first, ToolCall):
            out = marker + _call(first)
        elif isinstance(first, Thinking):
            out = marker + _thinking(first)
        elif isinstance(first, Text):
            out = marker + b"\n" + _text_lines(first.data)
        else:
            out, rest = marker + b"\n", message.blocks
        self._last_rank = RANK[scope]
        return out + b"".join(map(self._continue, rest))

    def _continue(self, block: object) -> bytes:
        """A block that is not the first of its message."""
        match block:
            case ToolCall():
                plain = goes_on(self._last_rank, CALL)
                if plain:
                    self._last_rank = CALL
                return PILCROW + (b"call:" if plain else b"+call:") + _call(block)
            case Text(data):
                if self._last_rank == THINK:
                    self._last_rank = RANK[b"ai"]
                    return PILCROW + b"ai:\n" + _text_lines(data)
                return PILCROW + b"text:\n" + _text_lines(data)
            case Thinking():
                return PILCROW + b"+think:" + _thinking(block)
            case Blob() | Other():
                return _attachment(block)
        raise InputError(f"a message holds a {type(block).__name__}, which has no written form")

    def _write_result(self, message: Message, answer: Answer) -> bytes:
        result = message.blocks[0]
        if message.role is not Role.TOOL or len(message.blocks) != 1:
            raise InputError(
                "a tool result must be the only block of a message of role tool; "
                f"found {len(message.blocks)} blocks under {message.role.value}"
            )
        assert isinstance(result, ToolResult)
        self._last_rank = None
        pairs: list[tuple[str, str | bytes | int | None]] = []
        if result.is_error:
            pairs.append(("error", None))
        if answer.standing is Standing.ORPHAN:
            pairs += [("orphan", None), ("id", result.call_id)]
        else:
            if answer.number != self._answered + 1:
                back = self._pairing.made + 1 - answer.number
                pairs += [("call", back), ("id", result.call_id)]
            self._answered = max(self._answered, answer.number)
        if message.label:
            pairs.append(("label", message.label))
        parts = result.content
        first = b""
        if parts and isinstance(parts[0], Text):
            first, parts = _text_lines(parts[0].data), parts[1:]
        body = first + b"".join(map(_attachment, parts))
        return b"<out" + fields(pairs) + b">\n" + body + b"</out>\n"


def _split_head(message: Message, kind: type) -> tuple[bytes | None, tuple[object, ...]]:
    blocks = message.blocks
    if blocks and isinstance(blocks[0], Text):
        return blocks[0].data, blocks[1:]
    return None, blocks


def _text_lines(data: bytes | None) -> bytes:
    return b"" if data is None else escape_lines(data) + b"\n"


def _thinking(block: Thinking) -> bytes:
    sealed = b"sealed %d" % block.sealed_bytes if block.sealed_bytes else b""
    return sealed + b"\n" + (_text_lines(block.data) if block.data else b"")


def _call(call: ToolCall) -> bytes:
    return call_line(wtf8(call.name), call.args) + b"\n"


def _attachment(part: object) -> bytes:
    """A block in the same words in a message and in a tool result."""
    match part:
        case Text(data):
            return PILCROW + b"text:\n" + _text_lines(data)
        case Other(kind, data):
            return PILCROW + b"other" + label_part(kind) + b":\n" + _text_lines(data)
        case Blob():
            return PILCROW + part.kind.encode() + b":" + _blob_fields(part) + b"\n"
    raise InputError(f"a tool result holds a {type(part).__name__}, which has no written form")


def _blob_fields(blob: Blob) -> bytes:
    pairs: list[tuple[str, str | bytes | int | None]] = [
        ("mime", blob.mime),
        ("px", f"{blob.width_px}x{blob.height_px}" if blob.width_px or blob.height_px else ""),
        ("bytes", blob.size),
        ("sha256", blob.sha256),
        ("name", blob.name),
        ("ref", blob.ref),
    ]
    return fields([pair for pair in pairs if pair[1]]).lstrip()
