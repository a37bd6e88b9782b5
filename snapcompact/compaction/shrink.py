"""The kept tail made smaller where no cut helps: its largest parts cut, with a pointer.

What is cut out stays in the archive (or the session); the pointer says where. Only then is a
session that ends in one huge tool result, or one huge paste, of any use again.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from snapcompact.compaction.edits import Edit, apply_edits
from snapcompact.history.model import Message, Role, Text, ToolResult, wtf8

if TYPE_CHECKING:
    from snapcompact.compaction.counting import Estimator
    from snapcompact.compaction.entries import Item


@dataclass(frozen=True, slots=True)
class ShrinkRules:
    """Where shrinking starts and ends."""

    enabled: bool = True
    start_share: float = 0.8
    """A kept tail above this share of window less reserve is shrunk …"""
    target_share: float = 0.6
    """… to this one, which leaves room for the summary and an answer."""
    min_chars: int = 200
    """Characters that stay of a part at least."""
    head_share: float = 0.6
    notice: str = "\n[… {count} characters cut; whole in {pointer} …]\n"
    window_share: float = 0.9
    """The ceiling of a context: this share of the window, or window less reserve if more."""
    chars_per_token: int = 6
    """Characters that free one token of a tool result."""
    ceiling_notice: str = "\n... [truncated {count} chars for context budget]"
    user_text: bool = True
    """A user's own words may be cut too, as the last resort, never below ``min_user_chars``."""
    min_user_chars: int = 4000


@dataclass(frozen=True, slots=True)
class Shrunk:
    """A smaller tail: its edits and what it still holds."""

    items: tuple[Item, ...]
    edits: tuple[Edit, ...]
    tokens: int
    fits: bool


@dataclass(frozen=True, slots=True)
class _Candidate:
    index: int
    block: int
    text: str
    least: int
    rank: int
    """Tool results go first (0), then answers (1), then the user's words (2)."""


def _candidates(items: Sequence[Item], rules: ShrinkRules) -> list[_Candidate]:
    found: list[_Candidate] = []
    for index, item in enumerate(items):
        role = item.message.role
        for place, block in enumerate(item.message.blocks):
            if isinstance(block, ToolResult):
                found.append(_Candidate(index, place, block.text, rules.min_chars, 0))
            elif isinstance(block, Text) and role is Role.ASSISTANT:
                found.append(_Candidate(index, place, block.text, rules.min_chars, 1))
            elif isinstance(block, Text) and role is Role.USER and rules.user_text:
                found.append(_Candidate(index, place, block.text, rules.min_user_chars, 2))
    found = [one for one in found if len(one.text) > one.least]
    return sorted(found, key=lambda one: (one.rank, -len(one.text), one.index))


def _cut(text: str, keep: int, rules: ShrinkRules, pointer: str) -> str:
    head = math.ceil(keep * rules.head_share)
    tail = keep - head
    said = rules.notice.format(count=len(text) - keep, pointer=pointer)
    return text[:head] + said + (text[-tail:] if tail else "")


def shrink_tail(
    items: Sequence[Item], target: int, estimator: Estimator, rules: ShrinkRules,
    pointer: Callable[[Item], str],
) -> Shrunk:  # fmt: skip
    """`items` cut down to `target` tokens, largest parts first; says where it still does not fit.

    `pointer` names where the whole of an item can be read again.
    """
    now = tuple(items)
    total = sum(estimator(item.message) for item in now)
    edits: list[Edit] = []
    for one in _candidates(items, rules):
        if total <= target:
            break
        before = estimator(now[one.index].message)
        per_char = before / max(1, len(one.text))
        spare = math.ceil((total - target) / per_char) + 160
        keep = max(one.least, len(one.text) - spare)
        made = _cut(one.text, keep, rules, pointer(items[one.index]))
        if len(made) >= len(one.text):
            continue
        edit = Edit(one.index, one.block, made, 0, "shrunk")
        changed = apply_edits(now, (edit,))
        saved = before - estimator(changed[one.index].message)
        if saved > 0:
            edits.append(replace(edit, saved=saved))
            now, total = changed, total - saved
    return Shrunk(now, tuple(edits), total, total <= target)


def ceiling(window: int, reserve: int, rules: ShrinkRules) -> int:
    """Tokens a context may hold after any message was added."""
    return max(math.floor(window * rules.window_share), window - reserve)


def cut_results(
    items: Sequence[Item], window: int, reserve: int, estimator: Estimator, rules: ShrinkRules
) -> tuple[Edit, ...]:
    """Edits that bring a context under its ceiling by its largest tool results, largest first."""
    over = sum(estimator(item.message) for item in items) - ceiling(window, reserve, rules)
    edits: list[Edit] = []
    tools = [one for one in _candidates(items, rules) if one.rank == 0]
    for one in tools:
        if over <= 0:
            break
        removed = min(over * rules.chars_per_token, len(one.text) - one.least)
        keep = len(one.text) - removed
        made = one.text[:keep] + rules.ceiling_notice.format(count=removed)
        saved = removed // rules.chars_per_token
        edits.append(Edit(one.index, one.block, made, saved, "ceiling"))
        over -= saved
    return tuple(edits)


def plain_message(text: str) -> Message:
    """A user message of `text`."""
    return Message(Role.USER, (Text(wtf8(text)),))
