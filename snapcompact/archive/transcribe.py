"""Messages to transcript bytes for the pages, noting each message's row and blobs on the way."""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any, BinaryIO

from snapcompact.archive import names
from snapcompact.archive.manifest import CHAIN_START, MessageRow, chain, dump_fields
from snapcompact.history.model import Blob, Message, ToolCall, ToolResult
from snapcompact.transcript.write import TranscriptWriter

PIECE_BYTES = 1 << 18
"""Transcript bytes handed on at a time: enough that the hand-over costs nothing."""

RUN_MESSAGES = 64
"""Messages that are all read, then all written, then all noted.

Each step is thousands of branches a message. Taken in turns for single messages, the processor
has forgotten one when it comes back to it: that took 25 % longer than runs of 32 or more.
"""
RUN_BYTES = 1 << 18
"""Bytes of the source from which a run is taken, so that long messages are not held together."""


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
        self._last: dict[str, Any] = {}
        """The newest message's row (see :func:`message_row`), written once the next has come."""
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
        for run in runs(messages):
            texts = list(map(self.writer.write, run))
            self.note(run, texts)
            held += texts
            size += sum(map(len, texts))
            if size >= PIECE_BYTES:
                yield b"".join(held)
                held, size = [], 0
        if held:
            yield b"".join(held)

    @property
    def last(self) -> MessageRow | None:
        """The newest message's row, which is not in ``messages.jsonl``."""
        return MessageRow(**self._last) if self._last else None

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

    def note(self, messages: list[Message], texts: list[bytes]) -> None:
        """The next messages, written as `texts`: their rows and blobs."""
        rows = [self._last] if self._last else []
        for message, text in zip(messages, texts, strict=True):
            rows.append(message_row(message, self.count, self.offset, text))
            self.offset += len(text)
            self._ends.append((self.count, self.offset))
            self.count += 1
        self._last = rows.pop()
        lines = list(map(dump_fields, rows))
        for line in lines:
            self.chain = chain(self.chain, line)
        self._rows.write(b"".join(lines))
        self.rows_bytes += sum(map(len, lines))
        for message in messages:
            for blob in blobs_of(message):
                if blob.sha256 not in self.blobs:
                    self.blobs.add(blob.sha256)
                    self._store_blob(blob)


def runs(messages: Iterable[Message]) -> Iterator[list[Message]]:
    """`messages` in lists of up to RUN_MESSAGES, from about RUN_BYTES of the source.

    A message that does not say where it stands is a list of its own.
    """
    run: list[Message] = []
    end = 0
    for message in messages:
        run.append(message)
        at = message.meta.offset
        if len(run) == RUN_MESSAGES or not 0 < at < end:
            yield run
            run, end = [], at + RUN_BYTES
    if run:
        yield run


def blobs_of(message: Message) -> Iterator[Blob]:
    """The blobs of `message` whose bytes are in the session."""
    for block in message.blocks:
        for part in block.content if type(block) is ToolResult else (block,):
            if type(part) is Blob and part.data is not None:
                yield part


def message_row(message: Message, number: int, offset: int, text: bytes) -> dict[str, Any]:
    """The fields of a message's row (see MessageRow) that are not empty, in their order.

    `text` is the message's transcript, printed at `offset`.
    """
    meta, blocks = message.meta, message.blocks
    row: dict[str, Any] = {
        "message": number,
        "offset": offset,
        "length": len(text),
        "role": str(message.role),
        "hash": hashlib.sha256(text).hexdigest()[:16],
    }
    if message.label:
        row["label"] = message.label
    if meta.id:
        row["id"] = meta.id
    if meta.time:
        row["time"] = meta.time
    if meta.model:
        row["model"] = meta.model
    if meta.stop:
        row["stop"] = meta.stop
    if (usage := meta.usage) is not None:
        row["usage"] = usage.input, usage.output, usage.cache_read, usage.cache_write
    row["line"] = meta.line
    row["at"] = meta.offset
    if calls := tuple([block.id for block in blocks if type(block) is ToolCall]):
        row["calls"] = calls
    if blocks and type(blocks[0]) is ToolResult and blocks[0].call_id:
        row["call_id"] = blocks[0].call_id
    return row


def blob_file(blob: Blob) -> str:
    """Where a blob's bytes are kept."""
    return names.blob_path(blob.sha256)
