"""Tokens of messages: the words a model is sent, counted per message in one pass.

Counted are texts, thinking that has words, tool names, arguments and results. Not counted are
pictures and files (providers/price.py prices them), sealed thinking, and what a provider writes
around a message; recorded usage covers these (usage.py).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from snapcompact.history.model import Block, Message, Other, Text, Thinking, ToolCall, ToolResult
from snapcompact.tokens.estimate import DEFAULT_FAMILY, tokens_of_parts

if TYPE_CHECKING:
    from numpy.typing import NDArray


def message_tokens(
    messages: Sequence[Message], family: str = DEFAULT_FAMILY, *, fast: bool = False
) -> NDArray[np.float64]:
    """Estimated tokens of the words of each message.

    Raises UnknownNameError for a family without a table.
    """
    words = [b"\n".join(piece for b in m.blocks for piece in _words(b)) for m in messages]
    cuts = np.cumsum([0, *map(len, words)])
    return tokens_of_parts(b"".join(words), cuts, family, fast=fast)


def _words(block: Block) -> Iterator[bytes]:
    """The words of `block` as they are sent."""
    match block:
        case Text(data) | Thinking(data) | Other(_, data):
            yield data
        case ToolCall(_, name, args):
            yield name.encode("utf-8", "surrogatepass")
            yield args
        case ToolResult(_, content):
            yield from (part.data for part in content if isinstance(part, Text | Other))
