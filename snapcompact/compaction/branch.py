"""What a branch summary is made from: the entries of a branch that was left."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from snapcompact.compaction.entries import Entry, Item, Kind, summary_message
from snapcompact.compaction.files import FileOps, FileRules, file_ops, merged
from snapcompact.history.model import Role

if TYPE_CHECKING:
    from snapcompact.compaction.counting import Estimator


@dataclass(frozen=True, slots=True)
class BranchRules:
    """Limits of a branch summary."""

    reserve_tokens: int = 16384
    window: int = 128000
    """Window where it is not known."""
    summary_share: float = 0.9
    """A summary that does not fit is still taken while less than this share is used."""
    max_output: int = 2048
    enabled: bool = True


@dataclass(frozen=True, slots=True)
class BranchInput:
    """The messages to summarise, oldest first, and what they did to files."""

    items: tuple[Item, ...]
    tokens: int
    ops: FileOps


def left_behind(
    old_path: Sequence[Entry], new_path: Sequence[Entry]
) -> tuple[tuple[Entry, ...], str]:
    """(entries of the old branch after the deepest common ancestor, the ancestor's id or "")."""
    common = 0
    for old, new in zip(old_path, new_path, strict=False):
        if old.id != new.id:
            break
        common += 1
    return tuple(old_path[common:]), old_path[common - 1].id if common else ""


def _as_item(entry: Entry) -> Item | None:
    if entry.kind in (Kind.COMPACTION, Kind.BRANCH) and entry.mark:
        return Item(entry, summary_message(entry.mark.summary))
    if entry.message is None or entry.message.role is Role.TOOL:
        return None
    return Item(entry, entry.message)


def branch_input(
    entries: Sequence[Entry], budget: int, estimator: Estimator, rules: BranchRules,
    files: FileRules,
) -> BranchInput:  # fmt: skip
    """The newest of `entries` that fit `budget` tokens (0: all); tool results are left out.

    File lists come from all entries, nested branch summaries included, even where the text is cut.
    """
    chosen: list[Item] = []
    total = 0
    for entry in reversed(entries):
        item = _as_item(entry)
        if item is None:
            continue
        tokens = estimator(item.message)
        if budget and total + tokens > budget:
            is_mark = entry.kind in (Kind.COMPACTION, Kind.BRANCH)
            if is_mark and total < budget * rules.summary_share:
                chosen.append(item)
                total += tokens
            break
        chosen.append(item)
        total += tokens
    messages = [entry.message for entry in entries if entry.message]
    nested = [entry for entry in entries if entry.kind is Kind.BRANCH]
    return BranchInput(tuple(reversed(chosen)), total, merged(file_ops(messages, files), nested))
