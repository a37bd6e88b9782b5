"""A grown session's messages beside its archive: old ones are compared, new ones passed on."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING

from snapcompact.archive.transcribe import PIECE_BYTES, Transcriber, blobs_of
from snapcompact.errors import UsageError
from snapcompact.history.resume import CannotResume

if TYPE_CHECKING:
    from snapcompact.archive.manifest import MessageRow
    from snapcompact.archive.read import Archive
    from snapcompact.archive.resumed import Resumption
    from snapcompact.history.model import Message
    from snapcompact.transcript.write import TranscriptWriter


class Replay:
    """Compares and passes on `messages`: all of the session, or those from `known` on.

    `writer` then is the transcript's writer as it was there; what differs raises CannotResume,
    since only a reading of the whole file tells what it is.
    """

    def __init__(
        self,
        archive: Archive,
        messages: Iterator[Message],
        known: Resumption | None = None,
        writer: TranscriptWriter | None = None,
    ) -> None:
        self._archive = archive
        self._messages = messages
        self._start = known.message if known else 0
        self.writer = writer
        self.blobs = known.blobs if known else frozenset[str]()
        last = archive.manifest.last_page
        self._page_offset = last.offset if last else 0
        self.first_line = 1 + self._lines_before_last_page()

    def pieces(self, transcriber: Transcriber) -> Iterator[bytes]:
        """The last page's text, then that of the new messages."""
        held = [self._text_before_start(transcriber)]
        last = self._archive.manifest.last_message
        for row, message in self._old_pairs():
            text = transcriber.writer.write(message)
            grows = row == last  # the last one's answer may have been coming in still
            same = hashlib.sha256(text[: row.length]).hexdigest()[:16] == row.hash
            if not same or (len(text) != row.length and not grows):
                raise self._differs(row, message)
            if grows:
                transcriber.blobs.update(self._blobs_stored(row, message))
                transcriber.note([message], [text])
            else:
                transcriber.blobs.update(blob.sha256 for blob in blobs_of(message))
            end = row.offset + row.length
            if end > self._page_offset or grows:
                if not grows:
                    transcriber.remember(row.message, end)
                held.append(text[max(self._page_offset - row.offset, 0) :])
            if sum(map(len, held)) > PIECE_BYTES:
                yield b"".join(held)
                held.clear()
        yield b"".join(held)
        yield from transcriber.pieces(self._messages)

    def _blobs_stored(self, row: MessageRow, message: Message) -> frozenset[str]:
        """Hashes of the blobs that the archived message of `row`, now `message`, has."""
        if not any(blobs_of(message)):
            return frozenset()
        archived = self._archive.messages(row.message, row.message + 1, blobs=True)
        return frozenset(blob.sha256 for old in archived for blob in blobs_of(old))

    def _text_before_start(self, transcriber: Transcriber) -> bytes:
        """What is on the last page of messages that are not read again, from its pixels."""
        last = self._archive.manifest.last_page
        if not self._start or last is None:
            return b""
        end = next(self._archive.message_rows(self._start)).offset
        if end <= last.offset:
            return b""
        for row in self._archive.message_rows(last.messages[0], self._start):
            transcriber.remember(row.message, row.offset + row.length)
        return self._archive.page_text(last)[: end - last.offset]

    def _old_pairs(self) -> Iterator[tuple[MessageRow, Message]]:
        count = self._archive.manifest.messages
        found = self._start
        old = islice(self._messages, count - found)
        for row, message in zip(self._archive.message_rows(found), old, strict=False):
            found += 1
            yield row, message
        if found < count and self._start:
            raise CannotResume("there are fewer messages than there were")
        if found < count:
            raise UsageError(
                f"the session has {found:,} messages, the archive {count:,}: it was rewound or "
                "cut; archive it anew under another name"
            )

    def _lines_before_last_page(self) -> int:
        """Line ends before the last page; only headers need them."""
        if not self._archive.shape.header:
            return 0
        pieces = self._archive.transcript(0, self._page_offset)
        return sum(piece.count(b"\n") for piece in pieces)

    def _differs(self, row: MessageRow, message: Message) -> Exception:
        if self._start:
            return CannotResume(f"message {row.message:,} is another one")
        at = f" (line {message.meta.line:,} of the session)" if message.meta.line else ""
        return UsageError(
            f"message {row.message:,}{at} is not the archived one: the session was rewound or "
            "edited; archive it anew under another name"
        )
