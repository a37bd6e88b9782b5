"""Two simpler ways to prune: all large old output at once, or in levels until a target is met."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from snapcompact.compaction.edits import Edit, Part, apply_edits, replaced, result_parts
from snapcompact.compaction.entries import Item, tool_names
from snapcompact.compaction.prune import result_message
from snapcompact.history.model import Message, Role, Text, ToolResult, wtf8

if TYPE_CHECKING:
    from snapcompact.compaction.counting import Estimator


@dataclass(frozen=True, slots=True)
class LevelRules:
    """How much goes, and what never does."""

    protect_tokens: int = 2000
    """Newest messages that stay; the walk ends at the first that does not fit."""
    min_savings: int = 200
    min_factor: float = 2
    """An output must be more than so many times the notice."""
    protected_tools: tuple[str, ...] = ()
    notice: str = "[output pruned — too large]"
    level_notice: str = "[output pruned]"
    input_share: float = 0.6
    """What is to be summarised is brought under this share of the window first; 0 is off."""
    levels: tuple[float, ...] = (0.1, 0.2, 0.5, 1.0)
    """Share of the prunable results that goes at level 1, 2, …"""
    level_protect_tokens: int = 40000
    eager_tools: tuple[str, ...] = (
        "read_file", "readFile", "grep", "grep_files", "grepFiles",
        "list_dir", "listDir", "list_files", "listFiles",
    )  # fmt: skip
    eager_keep: int = 2
    """Newest results of an eager tool that stay even so."""


@dataclass(frozen=True, slots=True)
class Levelled:
    """The outcome of :func:`prune_levels`; tokens are of all items."""

    level: int
    before: int
    after: int
    edits: tuple[Edit, ...]


def _protected_from(items: Sequence[Item], estimator: Estimator, protect: int) -> int:
    """Index of the first item of the newest `protect` tokens."""
    total = 0
    for index in range(len(items) - 1, -1, -1):
        total += estimator(items[index].message)
        if total > protect:
            return index + 1
    return 0


def _bare_tokens(part: Part, estimator: Estimator) -> int:
    """Tokens of the output's text alone, without what a tool message adds."""
    return estimator(Message(Role.USER, (Text(wtf8(part.result.text)),)))


def prune_large(
    items: Sequence[Item], text_estimator: Estimator, estimator: Estimator, rules: LevelRules
) -> tuple[Edit, ...]:
    """Edits for every old output worth it, none if all of them save too little.

    ``saved`` is the tokens of the output itself; the notice is not taken off.
    """
    names = tool_names([item.entry for item in items])
    border = _protected_from(items, estimator, rules.protect_tokens)
    notice = text_estimator(Message(Role.USER, (Text(wtf8(rules.notice)),)))
    edits = []
    for part in result_parts(items):
        tokens = _bare_tokens(part, text_estimator)
        name = names.get(part.result.call_id, "")
        if part.index >= border or name in rules.protected_tools:
            continue
        if tokens > notice * rules.min_factor:
            edits.append(Edit(part.index, part.block, rules.notice, tokens, "large"))
    return tuple(edits) if sum(edit.saved for edit in edits) >= rules.min_savings else ()


def _eager_places(parts: Sequence[Part], names: Mapping[str, str], rules: LevelRules) -> set[int]:
    """Places of eager tools' results, less the newest of each tool."""
    seen: Counter[str] = Counter()
    places: set[int] = set()
    for place in range(len(parts) - 1, -1, -1):
        name = names.get(parts[place].result.call_id, "")
        if name in rules.eager_tools:
            seen[name] += 1
            if seen[name] > rules.eager_keep:
                places.add(place)
    return places


def _prunable(items: Sequence[Item], estimator: Estimator, rules: LevelRules) -> list[Part]:
    parts = result_parts(items)
    names = tool_names([item.entry for item in items])
    border = _protected_from(items, estimator, rules.level_protect_tokens)
    eager = _eager_places(parts, names, rules)
    return [
        part
        for place, part in enumerate(parts)
        if names.get(part.result.call_id, "") not in rules.protected_tools
        and (part.index < border or place in eager)
        and part.result.text != rules.level_notice
    ]


def _middle(parts: Sequence[Part], share: float) -> Sequence[Part]:
    """The middle `share` of `parts`: the oldest set the scene, the newest are in use."""
    count = math.floor(len(parts) * share + 1e-9)
    start = (len(parts) - count) // 2
    return parts[start : start + count]


def _level_edit(part: Part, items: Sequence[Item], estimator: Estimator, notice: str) -> Edit:
    def tokens(result: ToolResult) -> int:
        return estimator(result_message(result))

    saved = tokens(part.result) - tokens(replaced(part.result, notice))
    return Edit(part.index, part.block, notice, saved, "level")


def prune_levels(
    items: Sequence[Item], target: int, estimator: Estimator, rules: LevelRules
) -> Levelled:
    """The lowest level whose pruning brings `items` to `target` tokens; else the highest."""
    before = sum(estimator(item.message) for item in items)
    if before <= target:
        return Levelled(0, before, before, ())
    prunable = _prunable(items, estimator, rules)
    reached = Levelled(0, before, before, ())
    for level, share in enumerate(rules.levels, 1):
        edits = tuple(
            _level_edit(part, items, estimator, rules.level_notice)
            for part in _middle(prunable, share)
        )
        after = sum(estimator(item.message) for item in apply_edits(items, edits))
        reached = Levelled(level, before, after, edits)
        if after <= target:
            break
    return reached
