"""The first and the last words of a history, as text beside its pages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from snapcompact.history.model import shown

if TYPE_CHECKING:
    from snapcompact.payload.index import Count
    from snapcompact.payload.source import Source


def oldest_words(source: Source, budget: int, count: Count) -> str:
    """The first whole lines of the text within `budget` tokens."""
    text = source.text(0, 4 * budget)
    while text and count(text) > budget:
        text = text[: text.rfind(b"\n", 0, len(text) * 9 // 10) + 1]
    whole = text if len(text) == source.size else text[: text.rfind(b"\n") + 1]
    return shown(whole)


def newest_words(source: Source, budget: int, count: Count) -> str:
    """The last whole lines of the text within `budget` tokens."""
    text = source.text(max(0, source.size - 4 * budget), source.size)
    while text and count(text) > budget:
        text = text[text.find(b"\n", len(text) // 10) + 1 or len(text) :]
    return shown(text if len(text) == source.size else text[text.find(b"\n") + 1 :])
