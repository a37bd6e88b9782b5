"""Messages as the readers give them, to the entries the engine decides over.

A reader gives one path, oldest first, marks as notes: ``compaction``, ``branch summary``,
``reset``. Messages of one record share its id; their entries are numbered (``id``, ``id#2``).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from snapcompact.compaction.entries import (
    BRANCH_SUMMARY,
    CUSTOM,
    SUMMARY,
    Entry,
    Files,
    Kind,
    Mark,
    summary_message,
)
from snapcompact.history.model import Message, Other, Role

_KINDS = {"compaction": Kind.COMPACTION, "branch summary": Kind.BRANCH, "reset": Kind.RESET}
_FIRST_KEPT = ("firstKeptEntryId", "first_kept_entry_id", "firstKept")
_LEFT = "left branch"


def _time_ms(text: str) -> int:
    try:
        return int(datetime.fromisoformat(text).timestamp() * 1000)
    except (ValueError, OverflowError):
        return 0


def _details(message: Message) -> dict[str, Any]:
    for block in message.blocks:
        if isinstance(block, Other):
            try:
                found = json.loads(block.data)
            except ValueError:
                return {}
            return found if isinstance(found, dict) else {}
    return {}


def _paths(table: Mapping[str, Any], *keys: str) -> tuple[str, ...]:
    for key in keys:
        value = table.get(key)
        if isinstance(value, list):
            return tuple(path for path in value if isinstance(path, str))
    return ()


def _mark(message: Message) -> Mark:
    said = _details(message)
    inner = said.get("details")
    lists: dict[str, Any] = {**said, **(inner if isinstance(inner, dict) else {})}
    first = next((said[key] for key in _FIRST_KEPT if isinstance(said.get(key), str)), "")
    files = Files(
        _paths(lists, "readFiles", "read_files"), _paths(lists, "modifiedFiles", "modified_files")
    )
    foreign = said.get("fromHook") is True or said.get("fromExtension") is True
    return Mark(message.text, first, files, foreign)


def _kind(message: Message) -> Kind:
    if message.role is Role.NOTE:
        return _KINDS.get(message.label, Kind.META)
    if message.role is Role.USER and message.label in ("context", CUSTOM):
        return Kind.CUSTOM
    return Kind.MESSAGE


def _said(message: Message, kind: Kind, mark: Mark | None) -> Message | None:
    """The message an entry brings into the context.

    A note (an unknown role, an error, an unknown record) stands where it stood: a tool may not have
    sent it, but what is summarised or archived must hold it.
    """
    if kind is Kind.BRANCH and mark:
        return summary_message(mark.summary, label=BRANCH_SUMMARY)
    if kind is Kind.COMPACTION and mark:
        return summary_message(mark.summary, label=SUMMARY)
    return None if kind is Kind.RESET else message


def _by_index(said: Mapping[str, Any], ids: Mapping[int, str]) -> str:
    """First kept id of a record that names a file line, counted from 0 with the header."""
    index = said.get("firstKeptEntryIndex")
    if not isinstance(index, int) or isinstance(index, bool):
        return ""
    return next((ids[line] for line in sorted(ids) if line >= index + 1), "")


def entries_from(messages: Iterable[Message]) -> tuple[Entry, ...]:
    """The entries of one path, each the child of the one before; left branches are passed over."""
    entries: list[Entry] = []
    seen: dict[str, int] = {}
    ids: dict[int, str] = {}
    for number, message in enumerate(messages):
        if message.label.startswith(_LEFT) or message.label == "branch":
            continue
        name = message.meta.id or f"m{number}"
        seen[name] = seen.get(name, 0) + 1
        entry_id = name if seen[name] == 1 else f"{name}#{seen[name]}"
        kind = _kind(message)
        mark = _mark(message) if kind in (Kind.COMPACTION, Kind.BRANCH) else None
        if mark and kind is Kind.COMPACTION and not mark.first_kept:
            kept = _by_index(_details(message), ids)
            mark = Mark(mark.summary, kept, mark.files, mark.foreign)
        ids.setdefault(message.meta.line, entry_id)
        entries.append(
            Entry(
                id=entry_id,
                kind=kind,
                message=_said(message, kind, mark),
                parent=entries[-1].id if entries else None,
                mark=mark,
                time_ms=_time_ms(message.meta.time),
            )
        )
    return tuple(entries)
