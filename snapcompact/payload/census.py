"""Where the tokens of a history are: by role, by tool, by kind, the largest, what is said twice.

A message counts its parts and a fixed overhead; images count by their size in pixels, never by the
characters of their base64. What the session's own usage measured stands beside the estimate. One
pass, memory of one batch and of a digest for each long part (seen.py).
"""

from __future__ import annotations

import heapq
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from snapcompact.history.model import (
    Blob,
    Block,
    Message,
    Other,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    wtf8,
)
from snapcompact.payload.seen import Seen
from snapcompact.providers.price import image_price
from snapcompact.tokens.usage import ContextMeter, ContextTokens

if TYPE_CHECKING:
    from collections.abc import Sequence

    from snapcompact.providers.rows import Model

CountParts = Callable[[bytes, "Sequence[int]"], "Sequence[float]"]
"""Tokens of each stretch between ascending offsets of a buffer."""

MESSAGE_TOKENS = 4
"""Role and borders of one message; OpenAI's chat format took 3 and a role (1)."""

SEALED_BYTES_PER_TOKEN = 4
"""A guess, in a kind of its own: what sealed reasoning costs when it is sent again is not known."""

LARGEST = 10
DUPLICATE_BYTES = 256
"""Shorter parts that repeat (``ok``, empty results) are no waste worth naming."""

BATCH_BYTES = 1 << 22
BATCH_PARTS = 1 << 14
CALLS_REMEMBERED = 10_000


@dataclass(slots=True)
class Tally:
    """A sum: ``items`` messages or parts, bytes of text, tokens (whole ones, once finished)."""

    items: int = 0
    bytes: int = 0
    tokens: float = 0.0

    def add(self, size: int, tokens: float) -> None:
        """One more item."""
        self.items += 1
        self.bytes += size
        self.tokens += tokens


@dataclass(frozen=True, slots=True)
class Large:
    """One of the largest messages; ``message`` counts from 0, ``line`` is that of its file."""

    message: int
    role: str
    what: str
    line: int
    bytes: int
    tokens: int


@dataclass(frozen=True, slots=True)
class Census:
    """The result; the tables are sorted by tokens, most first."""

    total: Tally
    roles: dict[str, Tally]
    tools: dict[str, Tally]
    kinds: dict[str, Tally]
    largest: tuple[Large, ...]
    duplicates: Tally
    images: int
    refused_images: int
    """Images that the model does not take as they are: too large, or none at all."""
    context: ContextTokens
    """The context the session ends in: what its usage measured, and an estimate of the rest."""


@dataclass(frozen=True, slots=True)
class _Part:
    kind: str
    tool: str
    data: bytes
    tokens: float = 0.0
    refused: bool = False


@dataclass(slots=True)
class _Waiting:
    """A message whose text is still to be counted."""

    number: int
    message: Message
    parts: list[_Part]


@dataclass(slots=True)
class CensusTaker:
    """Counts messages as they come; `count_parts` and `model` say how."""

    count_parts: CountParts
    model: Model
    _waiting: list[_Waiting] = field(default_factory=list)
    _waiting_bytes: int = 0
    _waiting_parts: int = 0
    _messages: int = 0
    _total: Tally = field(default_factory=Tally)
    _tables: dict[str, dict[str, Tally]] = field(
        default_factory=lambda: {k: defaultdict(Tally) for k in ("role", "tool", "kind")}
    )
    _duplicates: Tally = field(default_factory=Tally)
    _largest: list[tuple[float, int, Large]] = field(default_factory=list)
    _seen: Seen = field(default_factory=Seen)
    _tools: OrderedDict[str, str] = field(default_factory=OrderedDict)
    _images: int = 0
    _refused: int = 0
    _meter: ContextMeter = field(default_factory=ContextMeter)

    def add(self, message: Message) -> None:
        """Count one more message."""
        parts = [part for block in message.blocks for part in self._parts(block)]
        self._waiting.append(_Waiting(self._messages, message, parts))
        self._messages += 1
        self._waiting_bytes += sum(len(part.data) for part in parts)
        self._waiting_parts += len(parts) + 1
        if self._waiting_bytes > BATCH_BYTES or self._waiting_parts > BATCH_PARTS:
            self._flush()

    def result(self) -> Census:
        """The census of all messages added."""
        self._flush()
        ranked = sorted(self._largest, reverse=True)
        return Census(
            total=_whole(self._total),
            roles=_sorted(self._tables["role"]),
            tools=_sorted(self._tables["tool"]),
            kinds=_sorted(self._tables["kind"]),
            largest=tuple(large for _, _, large in ranked),
            duplicates=_whole(self._duplicates),
            images=self._images,
            refused_images=self._refused,
            context=self._meter.result(),
        )

    def _parts(self, block: Block) -> Iterator[_Part]:
        match block:
            case Text(data):
                yield _Part("text", "", data)
            case Thinking(data, sealed_bytes):
                if data:
                    yield _Part("thinking", "", data)
                if sealed_bytes:
                    yield _Part("sealed", "", b"", sealed_bytes / SEALED_BYTES_PER_TOKEN)
            case ToolCall(call_id, name, args):
                self._remember(call_id, name)
                yield _Part("call", name, wtf8(name) + b" " + args)
            case ToolResult(call_id, content):
                tool = self._tools.get(call_id, "?")
                for part in content:
                    yield from self._content(part, "result", tool)
            case Blob() | Other():
                yield from self._content(block, "text", "")

    def _content(self, part: Text | Blob | Other, kind: str, tool: str) -> Iterator[_Part]:
        match part:
            case Text(data):
                yield _Part(kind, tool, data)
            case Other(_, data):
                yield _Part("other", tool, data)
            case Blob(kind="image"):
                price = image_price(self.model, part.width_px, part.height_px)
                self._images += 1
                self._refused += not price.ok
                # A model that takes no images is told of it in a line of text.
                marker = b"" if price.high_tokens else _marker(part)
                yield _Part("image", tool, marker, float(price.high_tokens), not price.ok)
            case Blob():
                yield _Part("file", tool, _marker(part))

    def _remember(self, call_id: str, name: str) -> None:
        self._tools[call_id] = name
        self._tools.move_to_end(call_id)
        if len(self._tools) > CALLS_REMEMBERED:
            self._tools.popitem(last=False)

    def _flush(self) -> None:
        data = [part.data for message in self._waiting for part in message.parts]
        cuts = [0]
        for piece in data:
            cuts.append(cuts[-1] + len(piece))
        counts = iter(self.count_parts(b"".join(data), cuts)) if data else iter(())
        for waiting in self._waiting:
            self._note(waiting, [float(next(counts)) + part.tokens for part in waiting.parts])
        self._waiting.clear()
        self._waiting_bytes = self._waiting_parts = 0

    def _note(self, waiting: _Waiting, tokens: list[float]) -> None:
        message, parts = waiting.message, waiting.parts
        role = str(message.role)
        size = sum(len(part.data) for part in parts)
        total = sum(tokens) + MESSAGE_TOKENS
        self._meter.add(message, total)
        self._total.add(size, total)
        self._tables["role"][role].add(size, total)
        for part, count in zip(parts, tokens, strict=True):
            self._tables["kind"][part.kind].add(len(part.data), count)
            if part.tool:
                self._tables["tool"][part.tool].add(len(part.data), count)
            if len(part.data) >= DUPLICATE_BYTES and self._seen.add(part.data):
                self._duplicates.add(len(part.data), count)
        if len(self._largest) < LARGEST or total > self._largest[0][0]:
            self._keep(total, waiting, tokens, size)

    def _keep(self, total: float, waiting: _Waiting, tokens: list[float], size: int) -> None:
        """Note one of the largest messages so far, in place of the smallest of them."""
        message = waiting.message
        what = max(zip(tokens, waiting.parts, strict=True), key=lambda t: t[0], default=None)
        name = f"{what[1].kind} {what[1].tool}".strip() if what else ""
        line = message.meta.line
        large = Large(waiting.number, str(message.role), name, line, size, round(total))
        heapq.heappush(self._largest, (total, -waiting.number, large))
        if len(self._largest) > LARGEST:
            heapq.heappop(self._largest)


def _marker(blob: Blob) -> bytes:
    return wtf8(f"[{blob.kind} {blob.mime} {blob.name or blob.ref} {blob.size} bytes]")


def _whole(tally: Tally) -> Tally:
    return Tally(tally.items, tally.bytes, round(tally.tokens))


def _sorted(table: dict[str, Tally]) -> dict[str, Tally]:
    ranked = sorted(table.items(), key=lambda item: (-item[1].tokens, item[0]))
    return {name: _whole(tally) for name, tally in ranked}
