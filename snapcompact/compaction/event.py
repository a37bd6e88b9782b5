"""The event a finished compaction is announced with over JSON lines."""

from __future__ import annotations


def compaction_event(
    timestamp: str, summary: str, first_kept_index: int, tokens_before: int, *, auto: bool = False
) -> dict[str, object]:
    """The event's fields, in the order the seed prints them; ``auto`` only where it is true.

    `first_kept_index` counts file lines from 0, the header included.
    """
    event: dict[str, object] = {
        "type": "compaction",
        "timestamp": timestamp,
        "summary": summary,
        "firstKeptEntryIndex": first_kept_index,
        "tokensBefore": tokens_before,
    }
    return {**event, "auto": True} if auto else event
