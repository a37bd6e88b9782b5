"""Where a context's tokens go, and what could be done about it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from snapcompact.compaction.counting import TokenRules, count_text, joined_text
from snapcompact.compaction.edits import result_parts
from snapcompact.compaction.entries import Item, tool_names
from snapcompact.compaction.trigger import Budget, Pressure, pressure
from snapcompact.history.model import Other, Role, ToolResult

_PATH_KEYS = ("path", "file_path", "filePath", "file", "filename")
_PATH_IN_TEXT = re.compile(r"(?<![\w/.-])((?:[\w.-]+/)+[\w.-]+\.[A-Za-z][A-Za-z0-9]{0,7})(?![\w/])")


@dataclass(frozen=True, slots=True)
class Tally:
    """How often, and how many tokens."""

    count: int = 0
    tokens: int = 0


@dataclass(frozen=True, slots=True)
class Analysis:
    """Token figures of a context. ``largest`` holds (item index, role, tokens)."""

    total: int
    by_role: Mapping[str, int]
    by_tool: Mapping[str, Tally]
    duplicate_reads: Mapping[str, Tally] = field(default_factory=dict)
    """By path: how often it was read, tokens of all reads but the newest."""
    largest: tuple[tuple[int, str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Suggestion:
    """One piece of advice. ``saving`` is 0 where it cannot be told."""

    level: str
    text: str
    saving: int = 0


def _named_path(result: ToolResult) -> str:
    """The path a result speaks of: a path key of its JSON, else the first path in its text."""
    for text in [part.data.decode("utf-8", "replace") for part in result.content
                 if isinstance(part, Other)] + [result.text]:  # fmt: skip
        try:
            value = json.loads(text)
        except ValueError:
            continue
        inner = value.get("value") if isinstance(value, dict) else None
        for mapping in (value, inner):
            if isinstance(mapping, dict):
                for key in _PATH_KEYS:
                    if isinstance(mapping.get(key), str):
                        return str(mapping[key])
    found = _PATH_IN_TEXT.search(result.text)
    return found[1] if found else ""


def _output_text(result: ToolResult) -> str:
    others = [p.data.decode("utf-8", "replace") for p in result.content if isinstance(p, Other)]
    return others[0] if others else result.text


def analyse(items: Sequence[Item], tokens: TokenRules, top: int = 5) -> Analysis:
    """The figures of `items`; the `top` largest messages are named."""
    names = tool_names([item.entry for item in items])
    counts = [count_text(joined_text(item.message, names), tokens) for item in items]
    by_role = dict.fromkeys(("system", "user", "assistant", "tool"), 0)
    for item, count in zip(items, counts, strict=True):
        by_role[item.message.role.value] = by_role.get(item.message.role.value, 0) + count
    by_tool: dict[str, Tally] = {}
    by_path: dict[str, list[int]] = {}
    for part in result_parts(items):
        size = count_text(_output_text(part.result), tokens)
        name = names.get(part.result.call_id, "")
        old = by_tool.get(name, Tally())
        by_tool[name] = Tally(old.count + 1, old.tokens + size)
        path = _named_path(part.result)
        if path:
            by_path.setdefault(path, []).append(size)
    order = sorted(range(len(items)), key=lambda index: (-counts[index], index))
    return Analysis(
        total=sum(counts),
        by_role=by_role,
        by_tool=by_tool,
        duplicate_reads={
            path: Tally(len(sizes), sum(sizes[:-1]))
            for path, sizes in by_path.items()
            if len(sizes) > 1
        },
        largest=tuple((i, items[i].message.role.value, counts[i]) for i in order[:top]),
    )


_RANK = {"error": 0, "warning": 1, "info": 2}


def _usage_advice(tokens: int, budget: Budget) -> list[Suggestion]:
    if budget.effective <= 0:
        return []
    percent = round(tokens / budget.hard_at * 100) if budget.hard_at else 100
    text = f"Context is {percent}% full."
    level = pressure(tokens, budget)
    if level is Pressure.CRITICAL:
        return [Suggestion("error", text)]
    return [Suggestion("warning", text)] if level is Pressure.WARNING else []


def suggestions(
    found: Analysis, budget: Budget, tokens: int, *, share: float = 0.2, large: int = 5000
) -> tuple[Suggestion, ...]:
    """Advice for a context of `tokens`: errors first, then by what it would save."""
    made = _usage_advice(tokens, budget)
    in_tools = sum(tally.tokens for tally in found.by_tool.values())
    if found.total and in_tools > found.total * share:
        percent = round(in_tools / found.total * 100)
        made.append(
            Suggestion(
                "warning",
                f"Tool results: {percent}% of context — use narrower queries",
                in_tools // 4,
            )
        )
    wasted = sorted(found.duplicate_reads.items(), key=lambda pair: (-pair[1].tokens, pair[0]))
    for path, tally in wasted[:3]:
        level = "warning" if tally.tokens >= large else "info"
        made.append(Suggestion(level, f"{path} was read {tally.count} times", tally.tokens))
    for index, role, size in found.largest:
        if role == Role.TOOL.value and size > large:
            made.append(Suggestion("info", f"Result {index} holds {size} tokens", size // 2))
            break
    return tuple(sorted(made, key=lambda one: (_RANK[one.level], -one.saving)))
