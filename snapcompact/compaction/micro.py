"""Small cuts in old messages: answers shortened, tool results cleared, blocks set aside."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from snapcompact.compaction.edits import Edit, result_parts
from snapcompact.compaction.entries import Item, is_summary, tool_names
from snapcompact.compaction.prune import result_message
from snapcompact.history.model import Message, Role, Text, ToolResult, wtf8

if TYPE_CHECKING:
    from snapcompact.compaction.counting import Estimator


@dataclass(frozen=True, slots=True)
class MicroRules:
    """Long answers and old results."""

    enabled: bool = False
    protect_tokens: int = 2000
    max_tokens: int = 500
    """Longer answers are cut."""
    keep_share: float = 0.3
    """Share of ``max_tokens`` that stays."""
    min_savings: int = 100
    notice: str = "\n\n[… {tokens} more tokens; the original is in the archive]"
    clear_results: bool = False
    keep_results: int = 3
    clearable_tools: tuple[str, ...] = ()
    """Tools whose results may go; all if there is none."""
    min_age_ms: int = 0
    cleared_notice: str = "[tool result cleared]"


@dataclass(frozen=True, slots=True)
class ShakeRules:
    """Tool results and fenced or tagged blocks moved out to where they can be read again."""

    protect_tokens: int = 16000
    min_savings: int = 4000
    min_block: int = 400


@dataclass(frozen=True, slots=True)
class Region:
    """A stretch that can be set aside: a whole tool result, or part of a text block."""

    index: int
    block: int
    kind: str
    tokens: int
    start: int = 0
    end: int = 0
    """Characters of the block's text; both 0 for a whole tool result."""


def _old_until(items: Sequence[Item], estimator: Estimator, protect: int) -> int:
    """How many items are older than the newest `protect` tokens; the one that crosses is."""
    total = 0
    for index in range(len(items) - 1, -1, -1):
        total += estimator(items[index].message)
        if total > protect:
            return index + 1
    return 0


def _count(text: str, estimator: Estimator) -> int:
    return estimator(Message(Role.USER, (Text(wtf8(text)),)))


def shorten_answers(
    items: Sequence[Item], estimator: Estimator, rules: MicroRules
) -> tuple[Edit, ...]:
    """Edits for long old answers of words alone; summaries and user text stay."""
    end = _old_until(items, estimator, rules.protect_tokens)
    edits = []
    for index, item in enumerate(items[:end]):
        blocks = item.message.blocks
        plain = len(blocks) == 1 and isinstance(blocks[0], Text)
        if item.message.role is not Role.ASSISTANT or is_summary(item.message) or not plain:
            continue
        text = item.message.text
        tokens = _count(text, estimator)
        if tokens <= rules.max_tokens:
            continue
        keep = max(1, int(len(text) * rules.max_tokens * rules.keep_share / tokens))
        made = text[:keep] + rules.notice.format(tokens=tokens - _count(text[:keep], estimator))
        saved = tokens - _count(made, estimator)
        if saved >= rules.min_savings:
            edits.append(Edit(index, 0, made, saved, "shortened"))
    return tuple(edits)


def clear_results(
    items: Sequence[Item], estimator: Estimator, rules: MicroRules, now_ms: int = 0
) -> tuple[Edit, ...]:
    """Edits that clear all but the newest results of the clearable tools."""
    if not rules.clear_results:
        return ()
    names = tool_names([item.entry for item in items])
    parts = [
        part
        for part in result_parts(items)
        if not rules.clearable_tools or names.get(part.result.call_id) in rules.clearable_tools
    ]
    edits = []
    for part in parts[: len(parts) - rules.keep_results]:
        age = now_ms - items[part.index].entry.time_ms
        if rules.min_age_ms and age < rules.min_age_ms:
            continue
        saved = _count(part.result.text, estimator) - _count(rules.cleared_notice, estimator)
        if saved > 0:
            edits.append(Edit(part.index, part.block, rules.cleared_notice, saved, "cleared"))
    return tuple(edits)


_FENCE = re.compile(r"(```+|~~~+)")
_OPEN = re.compile(r"<([a-z][a-z0-9_-]*)>\s*$")
_CLOSE = re.compile(r"</([a-z][a-z0-9_-]*)>\s*$")


def _fences(lines: Sequence[str]) -> list[tuple[int, int]]:
    """(first line, last line) of each closed fence."""
    found, opened, mark = [], -1, ""
    for number, line in enumerate(lines):
        fence = _FENCE.match(line)
        if opened < 0 and fence:
            opened, mark = number, fence[1]
        elif opened >= 0 and line.rstrip() == mark:
            found.append((opened, number))
            opened = -1
    return found


def _tagged_blocks(
    lines: Sequence[str], fences: Sequence[tuple[int, int]]
) -> list[tuple[int, int]]:
    """(first line, last line) of each closed block in lower-case tags, outside fences."""
    inside = {number for first, last in fences for number in range(first, last + 1)}
    closing: dict[str, list[int]] = {}
    for number, line in enumerate(lines):
        found = _CLOSE.match(line)
        if found and number not in inside:
            closing.setdefault(found[1], []).append(number)
    blocks: list[tuple[int, int]] = []
    for number, line in enumerate(lines):
        opening = _OPEN.match(line)
        if not opening or number in inside or (blocks and number <= blocks[-1][1]):
            continue
        ends = closing.get(opening[1], [])
        place = bisect_right(ends, number)
        if place < len(ends) and not inside.intersection((number, ends[place])):
            blocks.append((number, ends[place]))
    return blocks


def _blocks_in(text: str) -> list[tuple[str, int, int]]:
    """(kind, start, end) of closed fences and tagged blocks in `text`, in order.

    Linear in the text: a block is found by its lines.
    """
    lines = text.split("\n")
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    fences = _fences(lines)
    kinds = [("fence", *span) for span in fences]
    kinds += [("xml", *span) for span in _tagged_blocks(lines, fences)]
    found = [(kind, starts[first], starts[last + 1] - 1) for kind, first, last in kinds]
    return sorted(found, key=lambda region: region[1])


def shake_regions(
    items: Sequence[Item], estimator: Estimator, rules: ShakeRules,
    protected_tools: Sequence[str] = (),
) -> tuple[Region, ...]:  # fmt: skip
    """What can be set aside among old items, oldest first; none if it is too little in all."""
    names = tool_names([item.entry for item in items])
    regions: list[Region] = []
    newer = 0
    for index in range(len(items) - 1, -1, -1):
        message = items[index].message
        old = newer >= rules.protect_tokens or items[index].entry.useless
        newer += estimator(message)
        if not old or is_summary(message):
            continue
        for place, block in enumerate(message.blocks):
            if isinstance(block, ToolResult):
                if names.get(block.call_id) not in protected_tools:
                    tokens = estimator(result_message(block))
                    regions.append(Region(index, place, "toolResult", tokens))
            elif isinstance(block, Text):
                for kind, start, end in _blocks_in(block.text):
                    tokens = _count(block.text[start:end], estimator)
                    if tokens >= rules.min_block:
                        regions.append(Region(index, place, kind, tokens, start, end))
    regions.sort(key=lambda region: (region.index, region.block, region.start))
    total = sum(region.tokens for region in regions)
    return tuple(regions) if total >= rules.min_savings and total else ()
