"""The project's learned token count as an :data:`Estimator`, pictures by their size."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from snapcompact.compaction.counting import TokenRules, blob_tokens
from snapcompact.compaction.entries import blobs_of
from snapcompact.history.model import (
    Block,
    Message,
    Other,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)

MESSAGE_TOKENS = 4
"""What a chat format adds around each message: role and delimiters (OpenAI's counting guide)."""


def _pieces(blocks: Iterable[Block]) -> Iterator[bytes]:
    for block in blocks:
        if isinstance(block, Text | Other):
            yield block.data
        elif isinstance(block, Thinking):
            # Sealed reasoning is base64; a letter a byte counts it as what it is sent as.
            yield block.data + b"s" * block.sealed_bytes
        elif isinstance(block, ToolCall):
            yield block.name.encode("utf-8", "surrogatepass")
            yield block.args
        elif isinstance(block, ToolResult):
            yield from _pieces(block.content)


class LearnedEstimator:
    """Counts messages by ``snapcompact.tokens``, each message once.

    A count is kept as long as the estimator, with the message, so that one pass over a session
    serves trigger, cut, prune and acceptance alike.
    """

    def __init__(self, family: str, rules: TokenRules) -> None:
        self._family = family
        self._rules = rules
        self._known: dict[int, tuple[Message, int]] = {}

    def __call__(self, message: Message) -> int:
        """Tokens of `message`."""
        if id(message) not in self._known:
            self.prime([message])
        return self._known[id(message)][1]

    def prime(self, messages: Iterable[Message]) -> None:
        """Count `messages` in one pass over their bytes; much faster than one by one."""
        from snapcompact.tokens import tokens_of_parts

        fresh = [message for message in messages if id(message) not in self._known]
        if not fresh:
            return
        texts = [b"\n".join(_pieces(message.blocks)) for message in fresh]
        cuts = np.cumsum([0, *map(len, texts)])
        counts = tokens_of_parts(b"".join(texts), cuts, self._family)
        for message, count in zip(fresh, counts, strict=True):
            pictures = sum(blob_tokens(blob, message, self._rules) for blob in blobs_of(message))
            total = round(float(count)) + pictures + MESSAGE_TOKENS
            self._known[id(message)] = (message, total)
