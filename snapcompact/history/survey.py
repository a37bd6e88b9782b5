"""What a session holds, counted while its messages pass by. Memory is flat."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from snapcompact.history.model import (
    Blob,
    Block,
    Message,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Usage,
)
from snapcompact.history.pairing import Pairing, Standing
from snapcompact.history.usage import Answers

MOST_NAMES = 10_000
"""Distinct labels, tools or models counted by name; a hostile file may have any number."""


@dataclass(slots=True)
class Survey:
    """Counts of one session. Times are texts as the file has them, compared as text."""

    messages: Counter[str] = field(default_factory=Counter)
    """By role."""
    labels: Counter[str] = field(default_factory=Counter)
    """By role and label, the labelled ones."""
    tools: Counter[str] = field(default_factory=Counter)
    """Calls by tool."""
    models: Counter[str] = field(default_factory=Counter)
    results: int = 0
    errors: int = 0
    orphans: int = 0
    unanswered: int = 0
    images: int = 0
    files: int = 0
    blob_bytes: int = 0
    without_bytes: int = 0
    thinking: int = 0
    sealed: int = 0
    text_bytes: int = 0
    first_time: str = ""
    last_time: str = ""
    answers: int = 0
    usage: Usage = field(default_factory=Usage)
    """Recorded by the provider, once for each answer."""

    def watch(self, messages: Iterable[Message]) -> Iterator[Message]:
        """`messages` as they are, counted; the counts are whole once they have ended."""
        pairing, answers = Pairing(), Answers()
        for message in messages:
            answer = pairing.feed(message)
            self.orphans += answer is not None and answer.standing is Standing.ORPHAN
            self._message(message)
            if (whole := answers.add(message)) is not None:
                self._spend(whole[1])
            yield message
        for _, spent in answers.rest():
            self._spend(spent)
        self.unanswered = len(pairing.unanswered())

    def _spend(self, spent: Usage) -> None:
        self.answers += 1
        was = self.usage
        self.usage = Usage(
            was.input + spent.input,
            was.output + spent.output,
            was.cache_read + spent.cache_read,
            was.cache_write + spent.cache_write,
        )

    def _message(self, message: Message) -> None:
        self.messages[str(message.role)] += 1
        if message.label:
            _count(self.labels, f"{message.role} {message.label}")
        if message.meta.model:
            _count(self.models, message.meta.model)
        if time := message.meta.time:
            self.first_time = min(self.first_time or time, time)
            self.last_time = max(self.last_time, time)
        for block in message.blocks:
            self._block(block)

    def _block(self, block: Block) -> None:
        match block:
            case Text():
                self.text_bytes += len(block.data)
            case Thinking():
                self.thinking += 1
                self.sealed += not block.data
                self.text_bytes += len(block.data)
            case ToolCall():
                _count(self.tools, block.name)
                self.text_bytes += len(block.args)
            case ToolResult():
                self.results += 1
                self.errors += block.is_error
                for part in block.content:
                    self._block(part)
            case Blob():
                self.images += block.kind == "image"
                self.files += block.kind != "image"
                self.blob_bytes += block.size
                self.without_bytes += not block.sha256
            case _:
                self.text_bytes += len(block.data)


def _count(counter: Counter[str], name: str) -> None:
    counter[name if name in counter or len(counter) < MOST_NAMES else "(others)"] += 1
