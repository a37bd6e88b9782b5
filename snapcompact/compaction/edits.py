"""Changes to items that keep their place: each names the entry, what it becomes and what it saves.

Nothing is lost by an edit: the entry's original stays in the session and the archive, and the text
put in its place says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from snapcompact.history.model import Block, Message, Text, ToolResult, wtf8

if TYPE_CHECKING:
    from snapcompact.compaction.entries import Item


@dataclass(frozen=True, slots=True)
class Edit:
    """Block `block` of item `index` becomes `text`; `saved` tokens, by the caller's estimate."""

    index: int
    block: int
    text: str
    saved: int
    why: str


@dataclass(frozen=True, slots=True)
class Part:
    """A tool result and where it stands."""

    index: int
    block: int
    result: ToolResult


def result_parts(items: Sequence[Item]) -> tuple[Part, ...]:
    """Every tool result of `items`, oldest first."""
    return tuple(
        Part(index, place, block)
        for index, item in enumerate(items)
        for place, block in enumerate(item.message.blocks)
        if isinstance(block, ToolResult)
    )


def replaced(result: ToolResult, text: str) -> ToolResult:
    """`result` with `text` for all it held."""
    return replace(result, content=(Text(wtf8(text)),))


def _edited(block: Block, text: str) -> Block:
    return replaced(block, text) if isinstance(block, ToolResult) else Text(wtf8(text))


def edited_message(message: Message, edits: Iterable[Edit]) -> Message:
    """`message` with `edits` made; those of other messages must not be among them."""
    blocks = list(message.blocks)
    for edit in edits:
        blocks[edit.block] = _edited(blocks[edit.block], edit.text)
    return replace(message, blocks=tuple(blocks))


def apply_edits(items: Sequence[Item], edits: Sequence[Edit]) -> tuple[Item, ...]:
    """`items` with `edits` made, in the same order and number."""
    by_index: dict[int, list[Edit]] = {}
    for edit in edits:
        by_index.setdefault(edit.index, []).append(edit)
    return tuple(
        replace(item, message=edited_message(item.message, by_index[index]))
        if index in by_index
        else item
        for index, item in enumerate(items)
    )


def saved_tokens(edits: Iterable[Edit]) -> int:
    """Tokens saved by all of `edits`."""
    return sum(edit.saved for edit in edits)
