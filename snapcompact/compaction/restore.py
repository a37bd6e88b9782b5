"""What is put back after a compaction: files and skills in use, protected text; within budgets."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from snapcompact.compaction.prompt import tagged
from snapcompact.history.model import Message, Role, Text, wtf8

_SKILL = re.compile(r"<skill[ >]|<skill_content\b")


@dataclass(frozen=True, slots=True)
class RestoreRules:
    """Budgets of the restoration list."""

    max_total: int = 50000
    max_item: int = 5000
    max_items: int = 10
    cut_share: float = 0.8
    """A larger item keeps this share of the item budget."""
    notice: str = "\n[… cut to fit; read it again for the rest]"
    protect_skills: bool = True
    """Messages with skill text in the summarised range are kept word for word."""


@dataclass(frozen=True, slots=True)
class Restorable:
    """Something that may be put back. ``kind`` is file, skill or context."""

    label: str
    content: str
    priority: int = 0
    kind: str = "file"


@dataclass(frozen=True, slots=True)
class Restored:
    """What is put back, and at what size."""

    label: str
    content: str
    tokens: int
    truncated: bool
    kind: str = "file"


def is_protected(text: str) -> bool:
    """True for text that brings a skill into the conversation."""
    return bool(_SKILL.search(text))


def _tracked(items: Sequence[Restorable], limit: int) -> list[Restorable]:
    """At most `limit` items: each one too many drives out the first of the lowest priority."""
    held: list[Restorable] = []
    for item in items:
        held = [one for one in held if one.label != item.label] + [item]
        if len(held) > limit:
            held.remove(min(held, key=lambda one: one.priority))
    return held


def _mentioned(label: str, texts: Sequence[str]) -> bool:
    word = re.compile(rf"(?<![\w]){re.escape(label)}(?![\w])")
    return any(word.search(text) for text in texts)


def restoration(
    items: Sequence[Restorable], kept_texts: Sequence[str], count: Callable[[str], int],
    rules: RestoreRules,
) -> tuple[Restored, ...]:  # fmt: skip
    """What to put back, best first; labels that the kept tail already names are left out.

    Order: priority, then the smaller, then the label. What does not fit is skipped; smaller items
    after it may still fit.
    """
    wanted = [
        item
        for item in _tracked(items, rules.max_items)
        if item.content and not _mentioned(item.label, kept_texts)
    ]
    sized = [_sized(item, count, rules) for item in wanted]
    order = sorted(
        zip(wanted, sized, strict=True),
        key=lambda pair: (-pair[0].priority, pair[1].tokens, pair[0].label),
    )
    chosen: list[Restored] = []
    total = 0
    for _, made in order:
        if total + made.tokens <= rules.max_total:
            chosen.append(made)
            total += made.tokens
    return tuple(chosen)


def _sized(item: Restorable, count: Callable[[str], int], rules: RestoreRules) -> Restored:
    tokens = count(item.content)
    if tokens <= rules.max_item:
        return Restored(item.label, item.content, tokens, False, item.kind)
    keep = int(len(item.content) * rules.max_item * rules.cut_share / tokens)
    text = item.content[:keep] + rules.notice
    return Restored(item.label, text, count(text), True, item.kind)


def restoration_message(items: Sequence[Restored]) -> Message | None:
    """One user message that holds `items`, each in its tag; None without any."""
    if not items:
        return None
    parts = [f"{item.label}\n{tagged(f'restored-{item.kind}', item.content)}" for item in items]
    return Message(Role.USER, (Text(wtf8("\n\n".join(parts))),), "restored")
