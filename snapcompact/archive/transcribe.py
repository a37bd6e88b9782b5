"""Messages to transcript bytes for the pages, noting each message's row and blobs on the way."""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import BinaryIO

from snapcompact.archive import names
from snapcompact.archive.manifest import CHAIN_START, MessageRow, chain, dump_row
from snapcompact.history.model import Blob, Message, ToolCall, ToolResult, Usage
from snapcompact.transcript.write import TranscriptWriter

PIECE_BYTES = 1 << 18
"""Transcript bytes handed on at a time: enough that the hand-over costs nothing."""


class Transcriber:
    """Turns messages into transcript pieces; writes ``messages.jsonl`` as it goes.

    `store_blob` is called with every blob that has bytes. `count`, `offset`, `chain`,
    `writer` and `blobs` (those stored) go on from an archive that grows.
    """

    def __init__(
        self,
        rows: BinaryIO,
        store_blob: Callable[[Blob], None],
        *,
        count: int = 0,
        offset: int = 0,
        chained: str = CHAIN_START,
        writer: TranscriptWriter | None = None,
        blobs: Iterable[str] = (),
    ) -> None:
        self.writer = writer or TranscriptWriter()
        self.count = count
        self.offset = offset
        self.chain = chained
        self.last: MessageRow | None = None
        """The newest message's row, which is written once the next message has come."""
        self.blobs: set[str] = set(blobs)
        """Hashes of the blobs that are stored."""
        self.rows_bytes = 0
        self._rows = rows
        self._store_blob = store_blob
        self._ends: deque[tuple[int, int]] = deque()
        """(message, end offset) of messages that may still lie on a page to come."""

    def pieces(self, messages: Iterable[Message]) -> Iterator[bytes]:
        """The transcript of `messages`, in pieces of about PIECE_BYTES."""
        held: list[bytes] = []
        size = 0
        for message in messages:
            text = self.writer.write(message)
            self.note(message, text)
            held.append(text)
            size += len(text)
            if size >= PIECE_BYTES:
                yield b"".join(held)
                held, size = [], 0
        if held:
            yield b"".join(held)

    def remember(self, message: int, end: int) -> None:
        """An earlier message, of an archive that grows, that ends at `end` on a page to come."""
        self._ends.append((message, end))

    def span(self, offset: int, length: int) -> tuple[int, int]:
        """Messages printed in these bytes: the first, and one past the last.

        Asked for page after page; messages that end before `offset` are forgotten.
        """
        end = offset + length
        while self._ends and self._ends[0][1] <= offset:
            self._ends.popleft()
        if not self._ends:
            return self.count, self.count
        first = last = self._ends[0][0]
        for message, message_end in self._ends:
            last = message
            if message_end >= end:
                break
        return first, last + 1

    def note(self, message: Message, text: bytes) -> None:
        """The next message, written as `text`: its row and blobs."""
        if self.last is not None:
            line = dump_row(self.last)
            self._rows.write(line)
            self.rows_bytes += len(line)
            self.chain = chain(self.chain, line)
        self.last = message_row(message, self.count, self.offset, text)
        self._ends.append((self.count, self.offset + len(text)))
        self.count += 1
        self.offset += len(text)
        for blob in blobs_of(message):
            if blob.sha256 not in self.blobs:
                self.blobs.add(blob.sha256)
                self._store_blob(blob)


def blobs_of(message: Message) -> Iterator[Blob]:
    """The blobs of `message` whose bytes are in the session."""
    for block in message.blocks:
        for part in block.content if type(block) is ToolResult else (block,):
            if type(part) is Blob and part.data is not None:
                yield part


def message_row(message: Message, number: int, offset: int, text: bytes) -> MessageRow:
    """The row of a message whose transcript is `text`, printed at `offset`."""
    meta = message.meta
    usage = meta.usage
    first = message.blocks[0] if message.blocks else None
    return MessageRow(
        message=number,
        offset=offset,
        length=len(text),
        role=message.role.value,
        hash=hashlib.sha256(text).hexdigest()[:16],
        label=message.label,
        id=meta.id,
        time=meta.time,
        model=meta.model,
        stop=meta.stop,
        usage=None if usage is None else _counts(usage),
        line=meta.line,
        at=meta.offset,
        calls=tuple([block.id for block in message.blocks if type(block) is ToolCall]),
        call_id=first.call_id if type(first) is ToolResult else "",
    )


def _counts(usage: Usage) -> tuple[int, int, int, int]:
    return usage.input, usage.output, usage.cache_read, usage.cache_write


def blob_file(blob: Blob) -> str:
    """Where a blob's bytes are kept."""
    return names.blob_path(blob.sha256)
