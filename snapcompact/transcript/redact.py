"""Secrets out of messages, before anything is drawn or stored.

Every secret becomes ``[REDACTED:kind:N]``, the same for the same value wherever it comes again,
also broken over lines; N counts a kind's values in the order met. A value met once as a secret is
one from there on wherever it stands.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from snapcompact.errors import MissingExtraError
from snapcompact.history.model import (
    Blob,
    Block,
    Content,
    Message,
    Meta,
    Other,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    unwtf8,
    wtf8,
)
from snapcompact.transcript.detectors import Finder, Span
from snapcompact.transcript.leaks import RULES
from snapcompact.transcript.library import finder

MOST_SWEPT = 1_000
"""Values looked for wherever they stand, the first found; each costs one search of every text."""

_BREAK = rb"(?:\\[rn]|[\r\n][ \t]*)*"
_LABEL = re.compile(rb"\[REDACTED:[a-z-]+:\d+\]")
_BROKEN_END = re.compile(rb"[-_]" + rb"(?P<gap>(?:\\n|\r?\n)[ \t]{0,8})(?P<rest>[\w-]{4,200})")
_WORD_BYTES = re.compile(rb"[\w-]+")


@dataclass(slots=True)
class Redactions:
    """What was found: ``values`` distinct ones and ``places``, both by kind. No secret is kept."""

    values: Counter[str] = field(default_factory=Counter)
    places: Counter[str] = field(default_factory=Counter)


def redact(messages: Iterable[Message], found: Redactions | None = None) -> Iterator[Message]:
    """`messages` without secrets, one for one, streamed; `found` is filled meanwhile.

    Covers words, thoughts, names, arguments, results, labels, blobs' names and places, and the
    bytes of blobs that are text. Raises MissingExtraError where detect-secrets is not installed.
    """
    redactor = Redactor(finder(), Redactions() if found is None else found)
    for message in messages:
        yield redactor.message(message)


def learned(messages: Iterable[Message]) -> Redactor:
    """A redactor that knows the secrets of all `messages`, so that a second reading misses none.

    A value can stand bare before the place that shows it to be a secret. Raises MissingExtraError
    where detect-secrets is not installed.
    """
    redactor = Redactor(finder(), Redactions())
    for message in messages:
        redactor.message(message)
    redactor.found.places.clear()
    return redactor


def looks_secret(messages: Iterable[Message]) -> Counter[str]:
    """How often each kind of secret seems to stand in `messages`, for a warning.

    Without detect-secrets, by our own rules alone.
    """
    counter = SecretCounter()
    for message in messages:
        counter.add(message)
    return counter.counts


class SecretCounter:
    """As :func:`looks_secret`, for messages that pass by; ``counts`` are those so far."""

    def __init__(self) -> None:
        self._found = Redactions()
        try:
            known = finder()
        except MissingExtraError:
            known = Finder(RULES)
        self._redactor = Redactor(known, self._found)

    def add(self, message: Message) -> None:
        """Count the secrets of `message`."""
        self._redactor.message(message)

    @property
    def counts(self) -> Counter[str]:
        """Places by kind."""
        return self._found.places


class Redactor:
    """Labels given so far, and the values to look for."""

    def __init__(self, known: Finder, found: Redactions) -> None:
        self.found = found
        self._finder = known
        self._labels: dict[bytes, tuple[str, bytes]] = {}
        self._sweep: dict[bytes, re.Pattern[bytes]] = {}

    def message(self, message: Message) -> Message:
        """`message` itself where it has no secret."""
        blocks = tuple(map(self._block, message.blocks))
        label, meta = self._words(message.label), self._meta(message.meta)
        if blocks == message.blocks and label == message.label and meta == message.meta:
            return message
        return Message(message.role, blocks, label, meta)

    def text(self, text: bytes) -> bytes:
        """`text` with each secret replaced by its label."""
        spans = self._spans(text)
        if not spans:
            return text
        pieces: list[bytes] = []
        end = 0
        for span in spans:
            pieces += (text[end : span.start], self._label(span, text[span.start : span.end]))
            end = span.end
        return b"".join((*pieces, text[end:]))

    def _words(self, text: str) -> str:
        return unwtf8(self.text(wtf8(text))) if text else text

    def _meta(self, meta: Meta) -> Meta:
        id_, model, stop = map(self._words, (meta.id, meta.model, meta.stop))
        if (id_, model, stop) == (meta.id, meta.model, meta.stop):
            return meta
        return meta._replace(id=id_, model=model, stop=stop)

    def _block(self, block: Block) -> Block:
        match block:
            case Text():
                return Text(self.text(block.data))
            case Thinking():
                return Thinking(self.text(block.data), block.sealed_bytes)
            case ToolCall():
                name = self._words(block.name)
                return ToolCall(self._words(block.id), name, self.text(block.args))
            case ToolResult():
                content = tuple(map(self._content, block.content))
                return ToolResult(self._words(block.call_id), content, block.is_error)
            case _:
                return self._content(block)

    def _content(self, part: Content) -> Content:
        match part:
            case Text():
                return Text(self.text(part.data))
            case Other():
                return Other(self._words(part.kind), self.text(part.data))
            case Blob():
                return self._blob(part)

    def _blob(self, blob: Blob) -> Blob:
        clean = replace(blob, name=self._words(blob.name), ref=self._words(blob.ref))
        if blob.data is None or not _is_text(blob.data):
            return clean
        data = self.text(blob.data)
        if data == blob.data:
            return clean
        return replace(clean, data=data, size=len(data), sha256=hashlib.sha256(data).hexdigest())

    def _spans(self, text: bytes) -> list[Span]:
        """Secrets in `text`, in order; labels that stand there already are none."""
        spans = [_unbroken(text, span) for span in self._finder.find(text)]
        spans = [span for span in spans if not _LABEL.search(text[span.start : span.end])]
        for span in spans:
            self._learn(span, text[span.start : span.end])
        return _joined(spans, list(self._swept(text)))

    def _swept(self, text: bytes) -> Iterator[Span]:
        """Values known from elsewhere, broken over lines or not."""
        for value, pattern in self._sweep.items():
            if value[:8] in text:
                kind = self._labels[value][0]
                for match in pattern.finditer(text):
                    yield Span(*match.span(), kind)

    def _learn(self, span: Span, raw: bytes) -> None:
        value = _plain(raw)
        if value in self._labels:
            return
        self.found.values[span.kind] += 1
        label = f"[REDACTED:{span.kind}:{self.found.values[span.kind]}]"
        self._labels[value] = (span.kind, label.encode())
        telling = len(value) >= 16 or (len(value) >= 10 and re.search(rb"\d", value))
        if telling and len(value) <= 512 and len(self._sweep) < MOST_SWEPT:
            escaped = (re.escape(value[at : at + 1]) for at in range(len(value)))
            self._sweep[value] = re.compile(_BREAK.join(escaped))

    def _label(self, span: Span, raw: bytes) -> bytes:
        self._learn(span, raw)
        kind, label = self._labels[_plain(raw)]
        self.found.places[kind] += 1
        return label


def _plain(raw: bytes) -> bytes:
    """A value as it is when it is not broken over lines."""
    return re.sub(rb"\\[rn]|[\r\n][ \t]*", b"", raw)


def _unbroken(text: bytes, span: Span) -> Span:
    """A token that a line end follows right behind a dash goes on in the next line."""
    match = _BROKEN_END.match(text, span.end - 1)
    if span.kind != "token" or match is None:
        return span
    return Span(span.start, match.end("rest"), span.kind)


def _joined(spans: list[Span], more: list[Span]) -> list[Span]:
    """All spans in order; of overlapping ones the first, the longer of two that begin together."""
    out: list[Span] = []
    for span in sorted([*spans, *more], key=lambda span: (span.start, -span.end)):
        if not out or span.start >= out[-1].end:
            out.append(span)
        elif span.end > out[-1].end:
            out[-1] = Span(out[-1].start, span.end, out[-1].kind)
    return out


def _is_text(data: bytes) -> bool:
    if b"\0" in data[:4096]:
        return False
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True
