"""The effective context of a session: what its tool would send, given its entries.

It is the newest compaction on the active path, the tail it kept, and what came later.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from snapcompact.compaction.entries import (
    Entry,
    Item,
    Kind,
    summary_message,
)
from snapcompact.errors import InputError
from snapcompact.history.model import Role


@dataclass(frozen=True, slots=True)
class ContextRules:
    """How a stored session becomes a context."""

    unknown_first_kept: str = "keep"
    """A first-kept id that is not on the path: ``keep`` all that may be meant, or ``drop`` it."""
    refuse_unknown: bool = True
    """Writing a compaction whose first-kept id does not exist is an error."""
    summary_role: str = "user"
    model_from: str = "last"
    """``last``: the newest model change or answer; ``change``: a model change wins over answers."""


@dataclass(frozen=True, slots=True)
class Context:
    """The messages a model is sent, oldest first, and what the path says beside them."""

    items: tuple[Item, ...]
    path: tuple[Entry, ...]
    """The active path, marks included."""
    compaction: Entry | None = None
    thinking: str = "off"
    model: tuple[str, str] | None = None
    """(provider, model)."""
    warnings: tuple[str, ...] = ()


def with_parents(entries: Sequence[Entry]) -> tuple[Entry, ...]:
    """`entries`, each root compaction made the child of the entry before it in the file.

    Some tools store a compaction as a new root; its past is still the branch it was made on.
    """
    return tuple(
        replace(entry, parent=entries[index - 1].id)
        if entry.parent is None and index and entry.kind is Kind.COMPACTION
        else entry
        for index, entry in enumerate(entries)
    )


def active_path(entries: Sequence[Entry], leaf: str | None = None) -> tuple[Entry, ...]:
    """Entries from the root to `leaf`; to the last entry where `leaf` is None or unknown."""
    by_id = {entry.id: entry for entry in entries}
    at = by_id.get(leaf) if leaf is not None else None
    if at is None:
        at = entries[-1] if entries else None
    path: list[Entry] = []
    seen: set[str] = set()
    while at is not None and at.id not in seen:
        seen.add(at.id)
        path.append(at)
        at = by_id.get(at.parent) if at.parent is not None else None
    return tuple(reversed(path))


def last_index(path: Sequence[Entry], kind: Kind) -> int:
    """Index of the newest entry of `kind`, -1 without one."""
    return next((i for i in range(len(path) - 1, -1, -1) if path[i].kind is kind), -1)


def _plain(entries: Sequence[Entry]) -> list[Item]:
    return [Item(entry, entry.message) for entry in entries
            if entry.message is not None and entry.kind is not Kind.COMPACTION]  # fmt: skip


def _kept_from(path: Sequence[Entry], at: int, rules: ContextRules) -> tuple[int, str]:
    """(index of the first entry the compaction at `at` kept, warning)."""
    mark = path[at].mark
    first_kept = mark.first_kept if mark else ""
    if not first_kept:
        return at, ""
    for index in range(at):
        if path[index].id == first_kept:
            return index, ""
    if rules.unknown_first_kept == "drop":
        return at, ""
    earlier = last_index(path[:at], Kind.COMPACTION)
    start = _kept_from(path, earlier, rules)[0] if earlier >= 0 else 0
    return start, (
        f"compaction {path[at].id} keeps from entry {first_kept!r}, which is not on this path; "
        "everything since the compaction before it is kept"
    )


def _restored(entry: Entry) -> list[Item]:
    return [Item(entry, message) for message in (entry.mark.restored if entry.mark else ())]


def effective_items(path: Sequence[Entry], rules: ContextRules) -> tuple[tuple[Item, ...], str]:
    """(the messages in force on `path`, a warning or nothing)."""
    reset = last_index(path, Kind.RESET)
    path = path[reset + 1 :]
    at = last_index(path, Kind.COMPACTION)
    if at < 0:
        return tuple(_plain(path)), ""
    entry = path[at]
    text = entry.mark.summary if entry.mark else ""
    summary = entry.message or summary_message(text, Role(rules.summary_role))
    start, warning = _kept_from(path, at, rules)
    items = [Item(entry, summary), *_restored(entry), *_plain(path[start:at]), *_plain(path[at:])]
    return tuple(items), warning


def _model_of(path: Sequence[Entry], rules: ContextRules) -> tuple[str, str] | None:
    answer = change = None
    newest: tuple[str, str] | None = None
    for entry in path:
        if entry.kind is Kind.MODEL:
            newest = change = (entry.provider, entry.value)
        elif entry.message is not None and entry.message.role is Role.ASSISTANT:
            newest = answer = (entry.provider, entry.message.meta.model)
    return (change or answer) if rules.model_from == "change" else newest


def build_context(
    entries: Sequence[Entry], rules: ContextRules, leaf: str | None = None, *, empty: bool = False
) -> Context:
    """The effective context at `leaf` (the last entry by default); `empty` is a leaf before all."""
    if empty:
        return Context((), ())
    path = active_path(with_parents(entries), leaf)
    items, warning = effective_items(path, rules)
    thinking = [entry.value for entry in path if entry.kind is Kind.THINKING]
    at = last_index(path, Kind.COMPACTION)
    return Context(
        items=items,
        path=path,
        compaction=path[at] if at > last_index(path, Kind.RESET) else None,
        thinking=thinking[-1] if thinking else "off",
        model=_model_of(path, rules),
        warnings=(warning,) if warning else (),
    )


def first_kept_at(entries: Sequence[Entry], index: int) -> str:
    """Id of the first entry an old-style record keeps by its file index; "" past the end."""
    return entries[index].id if 0 <= index < len(entries) else ""


def check_first_kept(entries: Sequence[Entry], first_kept: str, rules: ContextRules) -> None:
    """Refuse a compaction that keeps from an entry that is not there; "" keeps nothing.

    Raises InputError.
    """
    if rules.refuse_unknown and first_kept and all(e.id != first_kept for e in entries):
        raise InputError(
            f"first kept entry {first_kept!r} does not exist among {len(entries)} entries; "
            "nothing was written"
        )
