"""Fidelity ``lean``: messages with what costs tokens and says little folded, named or cut.

Every change is counted by kind in the losses, which go into the manifest, and marked in square
brackets where it happened, so that a reader of the pages knows. The pages stay exact: they print
the lean messages, and the stored source still has everything.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

from snapcompact.history.blobs import blob, picture
from snapcompact.history.model import (
    Blob,
    Block,
    Content,
    Message,
    Other,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from snapcompact.transcript.folds import (
    fold_blanks,
    fold_look_alikes,
    name_emoji,
    replace_invalid,
)
from snapcompact.transcript.terminal import plain_text


@dataclass(frozen=True, slots=True)
class LeanOptions:
    """How lean. Sizes are bytes of the transcript."""

    result_bytes: int = 16_000
    """Longer texts of a tool result are cut to this: 60 % from the head, 40 % from the tail."""
    argument_bytes: int = 8_000
    thinking: bool = False
    """Whether reasoning is printed; else its size is."""
    repeat_window: int = 200
    """A result equal to one of so many before it is printed as a reference to that one."""
    repeat_bytes: int = 200
    """Shorter results are printed again: the reference would be no shorter."""


_DATA_URL = re.compile(
    rb"data:([\w.+-]+/[\w.+-]+)?(?:;[\w=.-]+)*;base64,([A-Za-z0-9+/_-]{64,}={0,2})"
)
_BASE64 = re.compile(rb"(?<![A-Za-z0-9+/=])[A-Za-z0-9+/]{512,}={0,2}(?![A-Za-z0-9+/=])")
_HEAD_SHARE = 0.6
_CONTINUES = re.compile(
    "[\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u064b-\u065f\u0900-\u0903\u093a-\u094f\u0e31"
    "\u0e34-\u0e3a\u0e47-\u0e4e\u200c\u200d\u20d0-\u20ff\ufe00-\ufe0f\ufe20-\ufe2f"
    "\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f]"
)


class Lean:
    """Makes messages lean one by one, counting in `losses` by kind."""

    def __init__(self, losses: dict[str, int], options: LeanOptions | None = None) -> None:
        self._losses = losses
        self._options = options or LeanOptions()
        self._results: OrderedDict[bytes, int] = OrderedDict()
        """Digest of each recent result's text → number of the result."""
        self._count = 0

    def messages(self, messages: Iterable[Message]) -> Iterator[Message]:
        """`messages`, lean."""
        for message in messages:
            blocks: list[Block] = []
            for block in message.blocks:
                blocks.extend(self._block(block))
            yield replace(message, blocks=tuple(blocks))

    def _block(self, block: Block) -> list[Block]:
        match block:
            case Text():
                return list(self._text(block.data))
            case Thinking(data, sealed) if data and not self._options.thinking:
                self._lose("thinking", 1)
                return [Thinking(b"", sealed + len(data))]
            case Thinking(data, sealed):
                return [Thinking(self._folded(data), sealed)]
            case ToolCall():
                return self._call(block)
            case ToolResult():
                return [self._result(block)]
            case Other(kind, data):
                return [Other(kind, self._cut(self._folded(data), self._options.result_bytes))]
        return [block]

    def _text(self, data: bytes, limit: int | None = None) -> Iterator[Content]:
        """The text with base64 taken out as blobs, the rest folded and, over `limit`, cut."""
        at = 0
        for start, end, found in _payloads(data):
            self._lose("base64", 1)
            if start > at:
                yield Text(self._lean(data[at:start], limit))
            yield found
            at = end
        if at < len(data) or not data:
            yield Text(self._lean(data[at:], limit))

    def _lean(self, data: bytes, limit: int | None) -> bytes:
        folded = self._folded(data)
        return folded if limit is None else self._cut(folded, limit)

    def _folded(self, data: bytes) -> bytes:
        """Every fold in order; what happened stands in brackets on a line of its own behind.

        A text that would not get shorter stays, unless it has what no page should show.
        """
        counts: Counter[str] = Counter()
        folded, counts["escape codes"], counts["redraws"] = plain_text(data)
        for kind, fold in _FOLDS:
            folded, counts[kind] = fold(folded)
        said = [f"{kind} {count}" for kind, count in counts.items() if count]
        if not said:
            return data
        folded += f"\n[folded: {', '.join(said)}]".encode()
        if len(folded) >= len(data) and not any(counts[kind] for kind in _ALWAYS):
            return data
        for kind, count in counts.items():
            self._lose(kind, count)
        return folded

    def _call(self, call: ToolCall) -> list[Block]:
        found: list[Block] = []
        pieces: list[bytes] = []
        at = 0
        for start, end, attachment in _payloads(call.args):
            self._lose("base64", 1)
            pieces += [call.args[at:start], f"[{attachment.kind} {attachment.sha256}]".encode()]
            found.append(attachment)
            at = end
        args, count = replace_invalid(b"".join([*pieces, call.args[at:]]))
        self._lose("invalid bytes", count)
        return [replace(call, args=self._cut(args, self._options.argument_bytes)), *found]

    def _result(self, result: ToolResult) -> ToolResult:
        self._count += 1
        parts: list[Content] = []
        for part in result.content:
            if isinstance(part, Text):
                parts.extend(self._repeated(part))
            else:
                parts.append(part)
        return replace(result, content=tuple(parts))

    def _repeated(self, part: Text) -> Iterable[Content]:
        """The text, or where it was printed if the same was printed lately."""
        if len(part.data) < self._options.repeat_bytes:
            return self._text(part.data, self._options.result_bytes)
        digest = hashlib.sha256(part.data).digest()
        first = self._results.pop(digest, None)
        self._results[digest] = self._count
        while len(self._results) > self._options.repeat_window:
            self._results.popitem(last=False)
        if first is None or self._count - first > self._options.repeat_window:
            return self._text(part.data, self._options.result_bytes)
        self._lose("repeated results", 1)
        back = self._count - first
        note = f"[the same {len(part.data):,} bytes as {back} results before]"
        return [Text(note.encode())]

    def _cut(self, data: bytes, limit: int) -> bytes:
        """`data`, or its head and tail with the number of bytes between them."""
        if len(data) <= limit:
            return data
        head_end = _border(data, int(limit * _HEAD_SHARE))
        tail_start = _border(data, len(data) - (limit - int(limit * _HEAD_SHARE)))
        self._lose("cuts", 1)
        self._lose("cut bytes", tail_start - head_end)
        mark = f"\n[{tail_start - head_end:,} bytes cut here]\n".encode()
        return data[:head_end] + mark + data[tail_start:]

    def _lose(self, kind: str, count: int) -> None:
        if count:
            self._losses[kind] = self._losses.get(kind, 0) + count


_ALWAYS = ("escape codes", "redraws", "invalid bytes")
_Fold = Callable[[bytes], tuple[bytes, int]]
_FOLDS: tuple[tuple[str, _Fold], ...] = (
    ("invalid bytes", replace_invalid),  # first: the folds behind it read UTF-8
    ("look-alikes", fold_look_alikes),
    ("emoji", name_emoji),
    ("blanks", fold_blanks),
)


def _payloads(data: bytes) -> Iterator[tuple[int, int, Blob]]:
    """Start, end and blob of each data: URL and of each base64 run that is a file of known type."""
    at = 0
    while match := _DATA_URL.search(data, at) or None:
        yield from _bare(data, at, match.start())
        found = _decoded(match[2])
        if found is not None:
            mime = (match[1] or b"").decode()
            yield match.start(), match.end(), blob("file", mime, found)
        at = match.end()
    yield from _bare(data, at, len(data))


def _bare(data: bytes, start: int, end: int) -> Iterator[tuple[int, int, Blob]]:
    for match in _BASE64.finditer(data, start, end):
        found = _decoded(match[0])
        if found is not None and (picture(found) or found[:4] in (b"%PDF", b"PK\x03\x04")):
            yield match.start(), match.end(), blob("file", "", found)


def _decoded(text: bytes) -> bytes | None:
    """The bytes that base64 `text`, of either alphabet, says; None where it is broken."""
    plain = text.translate(bytes.maketrans(b"-_", b"+/")).rstrip(b"=")
    try:
        return base64.b64decode(plain + b"=" * (-len(plain) % 4), validate=True)
    except binascii.Error:
        return None


def _border(data: bytes, at: int) -> int:
    """The last place at or before `at` where neither a character nor a cluster is cut."""
    while at > 0 and (data[at] & 0xC0 == 0x80):
        at -= 1
    while at > 0:
        following = data[at : at + 4].decode("utf-8", "ignore")[:1]
        before = data[max(at - 4, 0) : at].decode("utf-8", "ignore")[-1:]
        if not (following and _CONTINUES.match(following)) and before != "\u200d":
            return at
        at -= 1
        while at > 0 and (data[at] & 0xC0 == 0x80):
            at -= 1
    return 0
