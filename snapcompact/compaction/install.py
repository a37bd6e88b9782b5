"""The messages after a compaction, in their order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from snapcompact.compaction.entries import Item, summary_message
from snapcompact.history.model import Message, Role

if TYPE_CHECKING:
    from snapcompact.compaction.prepare import Partition

CONTINUATION = "continuation"
"""Label of the words that stand after a summary."""


def installed(
    partition: Partition, summary: str, role: str = "user", *, carried: Sequence[Item] = (),
    continuation: Message | None = None, replay: Message | None = None,
    restored: Message | None = None,
) -> tuple[Message, ...]:  # fmt: skip
    """What was kept in front, the summary, what is carried word for word, the tail, the replay.

    `carried` are items the summary holds too (skill text); pinned items stand before the tail.
    """
    middle = [restored] if restored else []
    return (
        *(item.message for item in partition.before),
        summary_message(summary, Role(role)),
        *([continuation] if continuation else []),
        *(item.message for item in carried),
        *(item.message for item in partition.pinned),
        *middle,
        *(item.message for item in partition.kept),
        *([replay] if replay else []),
    )


def continuation_message(text: str) -> Message:
    """The assistant's words after a summary."""
    return Message(Role.ASSISTANT, summary_message(text).blocks, CONTINUATION)
