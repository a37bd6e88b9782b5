"""An archive opened for reading: pages, transcript and messages at any place, source, blobs.

Everything said here comes from pixels, except ids, times, model and usage (``messages.jsonl``) and
the source's bytes (``source.zst``).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

from snapcompact.archive import names
from snapcompact.archive.manifest import (
    MOST_MANIFEST_BYTES,
    MOST_PAGE_BYTES,
    Manifest,
    MessageRow,
    PageRow,
    load_manifest,
    load_message_row,
    load_page_row,
)
from snapcompact.archive.rows import find_start, rows_from
from snapcompact.archive.store import Store, open_store, read_file
from snapcompact.errors import ArchiveError, UsageError
from snapcompact.history.model import (
    Blob,
    Block,
    Message,
    Meta,
    ToolCall,
    ToolResult,
    Usage,
)
from snapcompact.pages.shape import Shape, parse_shape
from snapcompact.transcript.parse import parse_transcript

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from snapcompact.fonts.atlas import Atlas
    from snapcompact.fonts.font import Font

MOST_GLYPH_BYTES = 256 << 20
MOST_BLOB_BYTES = 1 << 30
_SOURCE_BLOCK = 1 << 20


def open_archive(path: Path | str) -> Archive:
    """The archive in the folder or zip at `path`.

    Raises DiskError if nothing is there, ArchiveError if it is none, VersionError if a newer tool
    wrote it.
    """
    store = open_store(Path(path))
    try:
        data = read_file(store, names.MANIFEST, MOST_MANIFEST_BYTES)
        return Archive(store, load_manifest(data, f"{store.where}: {names.MANIFEST}"))
    except BaseException:
        store.close()
        raise


class Archive:
    """See :func:`open_archive`; a context manager. `manifest` says what is covered."""

    def __init__(self, store: Store, manifest: Manifest) -> None:
        self.store = store
        self.manifest = manifest

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the zip, where it is one."""
        self.store.close()

    @cached_property
    def shape(self) -> Shape:
        """The shape of its pages."""
        return parse_shape(str(self.manifest.options.get("shape", "")))

    @cached_property
    def font(self) -> Font:
        """The glyphs its pages are printed with, from the archive itself."""
        from snapcompact.fonts.bdf import parse_bdf

        name = self.manifest.small_file(names.GLYPHS)
        if name is None:
            raise ArchiveError(f"{self.store.where}: the manifest names no {names.GLYPHS}")
        data = read_file(self.store, name, MOST_GLYPH_BYTES)
        return parse_bdf(data.decode("utf-8", "replace"), f"{self.store.where}: {name}")

    @cached_property
    def atlas(self) -> Atlas:
        """The glyphs of :attr:`font` by their ids."""
        from snapcompact.fonts.atlas import build_atlas

        return build_atlas(self.font)

    # --- rows

    def pages(self, start: int = 1) -> Iterator[PageRow]:
        """The rows of the pages from number `start` on."""
        for row in self._rows_near(lambda row: row.page, start):
            if row.page >= start:
                yield row

    def pages_at(self, offset: int, length: int) -> Iterator[PageRow]:
        """The rows of the pages that hold these bytes of the transcript."""
        for row in self._rows_near(lambda row: row.offset, offset):
            if row.offset >= offset + length:
                return
            if row.offset + row.length > offset:
                yield row

    def message_rows(self, start: int = 0, stop: int | None = None) -> Iterator[MessageRow]:
        """The rows of messages `start` (from 0) up to, not including, `stop`."""
        stop = self.manifest.messages if stop is None else min(stop, self.manifest.messages)
        for row in self._message_rows_near(start) if start < stop else ():
            if row.message >= stop:
                return
            if row.message >= start:
                yield row

    def message_rows_at(self, at: int) -> Iterator[MessageRow]:
        """The rows of messages read from byte `at` of the source on, where these are in order."""
        for row in self._message_rows_near(at - 1, lambda row: row.at):
            if row.at >= at:
                yield row

    def _message_rows_near(
        self, target: int, key: Callable[[MessageRow], int] = lambda row: row.message
    ) -> Iterator[MessageRow]:
        """All message rows from the last one on whose `key` is at most `target`."""
        length = self.manifest.lengths.get(names.MESSAGES, 0)
        where = f"{self.store.where}: {names.MESSAGES}"
        if length:
            with self.store.open(names.MESSAGES) as file:
                at = find_start(file, length, load_message_row, key, target, where)
                yield from rows_from(file, length, load_message_row, where, start=at)
        if self.manifest.last_message is not None:
            yield self.manifest.last_message

    def _rows_near(self, key: Callable[[PageRow], int], target: int) -> Iterator[PageRow]:
        """All page rows from the last one on whose `key` is at most `target`."""
        length = self.manifest.lengths.get(names.PAGES, 0)
        where = f"{self.store.where}: {names.PAGES}"
        if length:
            with self.store.open(names.PAGES) as file:
                at = find_start(file, length, load_page_row, key, target, where)
                yield from rows_from(file, length, load_page_row, where, start=at)
        if self.manifest.last_page is not None:
            yield self.manifest.last_page

    # --- pages

    def page_png(self, row: PageRow) -> bytes:
        """The PNG file of a page."""
        if row.size > MOST_PAGE_BYTES:
            raise ArchiveError(f"{self.store.where}: page {row.page} claims {row.size:,} bytes")
        return read_file(self.store, row.file, MOST_PAGE_BYTES)

    def page_pixels(self, row: PageRow) -> NDArray[np.uint8]:
        """(height, width) pixels of a page, 1 is ink, 0 is paper."""
        from snapcompact.pages.png import decode

        return decode(self.page_png(row)).pixels

    def page_text(self, row: PageRow) -> bytes:
        """The transcript's bytes on a page, decoded from its pixels.

        Raises ArchiveError if they are not the bytes that were printed.
        """
        from snapcompact.archive.page import read_page

        text = read_page(self.page_png(row), self.atlas, self.shape).text
        if text is None or hashlib.sha256(text).hexdigest() != row.text_sha256:
            raise ArchiveError(
                f"{self.store.where}: page {row.page} ({row.file}) does not hold the text "
                "it was printed with; `snapcompact verify` says where it differs"
            )
        return text

    def transcript(self, offset: int = 0, length: int | None = None) -> Iterator[bytes]:
        """The transcript's bytes from `offset` on, decoded from the pages that hold them."""
        end = self.manifest.transcript_bytes if length is None else offset + length
        for row in self.pages_at(offset, end - offset):
            text = self.page_text(row)
            yield text[max(offset - row.offset, 0) : end - row.offset]

    # --- messages

    def messages(
        self, start: int = 0, stop: int | None = None, *, blobs: bool = False
    ) -> Iterator[Message]:
        """Messages `start` up to `stop`, read from the pages, with ids, times and usage.

        With `blobs`, images and files carry their bytes.
        """
        for row, text in self._message_texts(start, stop):
            parsed = list(parse_transcript([text]))
            if len(parsed) != 1:
                raise ArchiveError(
                    f"{self.store.where}: message {row.message} parses as {len(parsed)} messages"
                )
            yield self._complete(parsed[0], row, blobs)

    def _message_texts(self, start: int, stop: int | None) -> Iterator[tuple[MessageRow, bytes]]:
        """Each message's row and transcript bytes; every page is decoded once."""
        rows = self.message_rows(start, stop)
        first = next(rows, None)
        if first is None:
            return
        pieces = self.transcript(first.offset)
        held, base = b"", first.offset
        row: MessageRow | None = first
        while row is not None:
            parts, size = [held], len(held)
            while size < row.offset + row.length - base:
                piece = next(pieces, None)
                if piece is None:
                    raise ArchiveError(
                        f"{self.store.where}: message {row.message} lies behind the last page"
                    )
                parts.append(piece)
                size += len(piece)
            held = b"".join(parts)  # once a message: a long one spans thousands of pages
            at = row.offset - base
            yield row, held[at : at + row.length]
            held, base = held[at + row.length :], row.offset + row.length
            row = next(rows, None)

    def _complete(self, message: Message, row: MessageRow, blobs: bool) -> Message:
        calls = iter(row.calls)
        usage = None if row.usage is None else Usage(*row.usage)
        meta = Meta(row.id, row.time, row.model, row.stop, usage, row.line, row.at)
        blocks = tuple(self._block(block, calls, row.call_id, blobs) for block in message.blocks)
        return replace(message, blocks=blocks, meta=meta)

    def _block(self, block: Block, calls: Iterator[str], call_id: str, blobs: bool) -> Block:
        if isinstance(block, ToolCall):
            return replace(block, id=next(calls, block.id))
        if isinstance(block, ToolResult):
            parts = block.content
            if blobs:
                parts = tuple(self._filled(p) if isinstance(p, Blob) else p for p in parts)
            return replace(block, call_id=call_id, content=parts)
        return self._filled(block) if blobs and isinstance(block, Blob) else block

    def _filled(self, blob: Blob) -> Blob:
        return replace(blob, data=self.blob(blob.sha256)) if blob.sha256 else blob

    # --- what is kept beside the pages

    def blob(self, sha256: str) -> bytes:
        """Bytes of a blob; ArchiveError if they are missing or do not have this hash."""
        data = read_file(self.store, names.blob_path(sha256), MOST_BLOB_BYTES)
        if hashlib.sha256(data).hexdigest() != sha256:
            raise ArchiveError(f"{self.store.where}: blob {sha256[:16]}… is damaged")
        return data

    def source(self) -> Iterator[bytes]:
        """The original bytes of the session, in blocks, each segment's hash checked at its end.

        Raises UsageError if the archive was made without them, ArchiveError if they are damaged.
        """
        if not self.manifest.source:
            raise UsageError(
                f"{self.store.where} holds no source (made with --no-source or --redact); "
                "use --from pixels"
            )
        import zstandard

        with self.store.open(names.SOURCE) as file:
            reader = zstandard.ZstdDecompressor().stream_reader(file, read_across_frames=True)
            for segment in self.manifest.source:
                digest, left = hashlib.sha256(), segment.bytes
                while left:
                    try:
                        block = reader.read(min(left, _SOURCE_BLOCK))
                    except zstandard.ZstdError as exc:
                        raise ArchiveError(
                            f"{self.store.where}: {names.SOURCE} is damaged: {exc}"
                        ) from exc
                    if not block:
                        raise ArchiveError(f"{self.store.where}: {names.SOURCE} is cut off")
                    digest.update(block)
                    left -= len(block)
                    yield block
                if digest.hexdigest() != segment.sha256:
                    raise ArchiveError(
                        f"{self.store.where}: {names.SOURCE} does not have the hash in the manifest"
                    )
