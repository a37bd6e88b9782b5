"""Old tool output made small before anything is summarised: superseded, useless, then oldest.

The newest output stays; so does anything of protected tools, and whatever a provider's prompt cache
still holds, since rewriting it would cost more than it saves.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from snapcompact.compaction.edits import Edit, Part, replaced, result_parts
from snapcompact.compaction.entries import Item, tool_names
from snapcompact.compaction.files import FileRules, call_path, split_selector
from snapcompact.compaction.pairs import answered_calls
from snapcompact.history.model import Message, Role, ToolCall, ToolResult

if TYPE_CHECKING:
    from snapcompact.compaction.counting import Estimator


@dataclass(frozen=True, slots=True)
class PruneRules:
    """What is pruned. Times are milliseconds."""

    enabled: bool = True
    protect_tokens: int = 40000
    """Newest tool output that stays, counted result by result; the one that crosses stays too."""
    min_savings: int = 20000
    """Old output is only pruned where that saves as much in all."""
    min_result: int = 50
    """Smaller results are never pruned for their age."""
    protected_tools: tuple[str, ...] = ("skill", "Skill")
    protected_prefixes: tuple[str, ...] = ("skill://",)
    protect_errors: bool = True
    """A failed call's result is not pruned for its age."""
    supersede: bool = True
    useless: bool = True
    read_tools: tuple[str, ...] = ("read", "Read", "read_file", "view")
    notice: str = "[Output pruned: {tokens} tokens; the original is in the archive]"
    superseded_notice: str = "[Superseded by a newer read of this file]"
    useless_notice: str = "[Result without content left out]"
    cache_warm_suffix: int = 8000
    """More tokens than that after a result mean that it is cached: it stays, unless idle."""
    guard_age: bool = False
    """The cache guard holds for old output as well."""
    idle_flush_ms: int = 1_800_000
    agent_idle_flush_ms: int = 5_400_000
    """The same inside a running agent, where a prompt cache is kept longer."""


@dataclass(frozen=True, slots=True)
class PruneInput:
    """What pruning looks at, computed once."""

    items: Sequence[Item]
    parts: tuple[Part, ...]
    calls: Mapping[int, ToolCall]
    """The call of each part, by the part's place in ``parts``."""
    names: Mapping[str, str]
    tokens: tuple[int, ...]
    """Of each part."""
    suffix: tuple[int, ...]
    """Tokens after each item."""
    idle_ms: int


def result_message(result: ToolResult) -> Message:
    """A message that holds `result` alone, to be counted."""
    return Message(Role.TOOL, (result,))


def prune_input(items: Sequence[Item], estimator: Estimator, now_ms: int = 0) -> PruneInput:
    """The tables pruning works on; ``now_ms`` 0 means that nothing is idle."""
    parts = result_parts(items)
    by_place = answered_calls([item.message for item in items])
    calls = {
        place: by_place[part.index, part.block]
        for place, part in enumerate(parts)
        if (part.index, part.block) in by_place
    }
    counts = [estimator(item.message) for item in items]
    suffix = [0] * len(items)
    for index in range(len(items) - 2, -1, -1):
        suffix[index] = suffix[index + 1] + counts[index + 1]
    last_ms = max((item.entry.time_ms for item in items), default=0)
    return PruneInput(
        items=items,
        parts=parts,
        calls=calls,
        names=tool_names([item.entry for item in items]),
        tokens=tuple(estimator(result_message(part.result)) for part in parts),
        suffix=tuple(suffix),
        idle_ms=max(0, now_ms - last_ms) if now_ms else 0,
    )


def _tool(seen: PruneInput, place: int) -> str:
    call = seen.calls.get(place)
    return call.name if call else seen.names.get(seen.parts[place].result.call_id, "")


def _path(seen: PruneInput, place: int) -> str:
    call = seen.calls.get(place)
    return call_path(call, FileRules()) if call else ""


def _protected(seen: PruneInput, place: int, rules: PruneRules, plans: Sequence[str]) -> bool:
    path = _path(seen, place)
    return (
        _tool(seen, place) in rules.protected_tools
        or path.startswith(rules.protected_prefixes)
        or split_selector(path)[0] in plans
    )


def _edit(seen: PruneInput, place: int, notice: str, why: str, estimator: Estimator) -> Edit | None:
    part = seen.parts[place]
    after = estimator(result_message(replaced(part.result, notice)))
    saved = seen.tokens[place] - after
    return Edit(part.index, part.block, notice, saved, why) if saved > 0 else None


def _cached(seen: PruneInput, place: int, rules: PruneRules) -> bool:
    warm = seen.suffix[seen.parts[place].index] > rules.cache_warm_suffix
    return warm and seen.idle_ms < rules.idle_flush_ms


_OTHER_FORM = re.compile("raw|conflicts", re.IGNORECASE)


def superseded(seen: PruneInput, rules: PruneRules) -> tuple[int, ...]:
    """Places of reads that a later one of the same lines, or of the whole file, made stale.

    ``raw`` and ``conflicts`` show the file in another form: only the same selector replaces them.
    """
    later_whole: set[str] = set()
    later_range: set[tuple[str, str]] = set()
    found: list[int] = []
    for place in range(len(seen.parts) - 1, -1, -1):
        path = _path(seen, place)
        if not path or _tool(seen, place) not in rules.read_tools:
            continue
        name, selector = split_selector(path)
        covered = name in later_whole and not _OTHER_FORM.search(selector)
        if covered or (name, selector) in later_range:
            found.append(place)
        elif not seen.parts[place].result.is_error:
            later_range.add((name, selector))
            if not selector:
                later_whole.add(name)
    return tuple(reversed(found))


def prune_stale(
    seen: PruneInput, estimator: Estimator, rules: PruneRules, plans: Sequence[str] = ()
) -> tuple[Edit, ...]:
    """Edits for superseded reads and results their tools call useless; no minimum saving."""
    stale = set(superseded(seen, rules)) if rules.supersede else set()
    edits: list[Edit] = []
    for place, part in enumerate(seen.parts):
        useless = rules.useless and seen.items[part.index].entry.useless
        if part.result.is_error or not (useless or place in stale):
            continue
        if _protected(seen, place, rules, plans) or _cached(seen, place, rules):
            continue
        notice = rules.useless_notice if useless else rules.superseded_notice
        why = "useless" if useless else "superseded"
        edit = _edit(seen, place, notice, why, estimator)
        edits += [edit] if edit else []
    return tuple(edits)


def prune_old(
    seen: PruneInput, estimator: Estimator, rules: PruneRules,
    plans: Sequence[str] = (), boundary: str = "", done: Sequence[Edit] = (),
) -> tuple[Edit, ...]:  # fmt: skip
    """Edits for output older than the protected newest, none if they save too little in all.

    Nothing before the entry `boundary` is touched; results in `done` count, but not twice.
    """
    border = next((i for i, item in enumerate(seen.items) if item.id == boundary), 0)
    taken = {(edit.index, edit.block) for edit in done}
    edits: list[Edit] = []
    newer = 0
    for place in range(len(seen.parts) - 1, -1, -1):
        part, tokens = seen.parts[place], seen.tokens[place]
        old = newer >= rules.protect_tokens
        newer += tokens
        if not old or part.index < border or tokens < rules.min_result:
            continue
        if (part.index, part.block) in taken or _protected(seen, place, rules, plans):
            continue
        if (rules.protect_errors and part.result.is_error) or (
            rules.guard_age and _cached(seen, place, rules)
        ):
            continue
        notice = rules.notice.format(tokens=tokens)
        edit = _edit(seen, place, notice, "old", estimator)
        edits += [edit] if edit else []
    enough = sum(edit.saved for edit in edits) >= rules.min_savings
    return tuple(reversed(edits)) if enough else ()
