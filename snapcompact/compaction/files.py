"""Which files a stretch of history read and changed, told from its tool calls alone."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from snapcompact.compaction.entries import Entry, Files, Mark, calls_of

if TYPE_CHECKING:
    from snapcompact.history.model import Message, ToolCall

_DEFAULT_OPS = {
    "read": "read", "Read": "read", "read_file": "read", "view": "read",
    "grep": "read", "find": "read", "ls": "read", "glob": "read",
    "write": "write", "Write": "write", "write_file": "write",
    "edit": "edit", "Edit": "edit", "edit_file": "edit", "apply_patch": "edit",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class FileRules:
    """How file lists are made. ``ops``: tool name to ``read``, ``write`` or ``edit``."""

    ops: Mapping[str, str] = field(default_factory=lambda: dict(_DEFAULT_OPS))
    keys: tuple[str, ...] = ("path", "file_path", "filePath")
    exclusive: bool = True
    """A changed file is not listed as read."""
    kept_tail: bool = False
    """The kept tail's calls count too."""
    selectors: bool = True
    """Strip trailing line ranges and ``raw`` from a read path."""
    skip_urls: bool = True
    style: str = "tags"
    """``tags``: two tagged lists; ``tree``: one list marked Read, Write, RW; ``none``."""
    limit: int = 200
    """Files listed at most in each list; the rest is a count."""


@dataclass(frozen=True, slots=True)
class FileOps:
    """Paths by what was done to them, unsorted sets."""

    read: frozenset[str] = frozenset()
    written: frozenset[str] = frozenset()
    edited: frozenset[str] = frozenset()


_LISTS = re.compile(
    r"\n*<(?P<tag>read-files|modified-files|files)>\n(?P<lines>.*?)\n</(?P=tag)>", re.DOTALL
)
_ROW = re.compile(r"(?P<path>.+) \((?P<mark>RW|Read|Write)\)")
_MORE = re.compile(r"\(and \d+ more\)")
_LINES = r"L?\d+(?:(?:[-+]|\.\.)(?:L?\d+)?)?"
_RANGES = rf"{_LINES}(?:,{_LINES})*"
_SELECTOR = re.compile(
    rf"(?P<path>.+?):(?P<sel>{_RANGES}:raw|raw:{_RANGES}|{_RANGES}|raw|conflicts)", re.IGNORECASE
)


def split_selector(path: str) -> tuple[str, str]:
    """(path, selector): ``:10-20``, ``:5-16,90-99``, ``:3..9``, ``:raw``, ``:conflicts`` taken off.

    The grammar is the one oh-my-pi's read tool takes; lines and ``raw`` may come together.
    """
    found = _SELECTOR.fullmatch(path)
    return (found["path"], found["sel"]) if found else (path, "")


def call_args(call: ToolCall) -> dict[str, object]:
    """The arguments of `call` as a mapping, empty where they are no JSON object."""
    try:
        parsed = json.loads(call.args)
    except ValueError:
        return {}
    return parsed if isinstance(parsed, dict) else {}


def call_path(call: ToolCall, rules: FileRules) -> str:
    """The path `call` names, "" where it names none."""
    args = call_args(call)
    value = next((args[key] for key in rules.keys if isinstance(args.get(key), str)), "")
    return str(value)


def file_ops(messages: Iterable[Message], rules: FileRules) -> FileOps:
    """What the calls of `messages` did to which paths."""
    found: dict[str, set[str]] = {"read": set(), "write": set(), "edit": set()}
    for message in messages:
        for call in calls_of(message):
            path = call_path(call, rules)
            op = rules.ops.get(call.name, "")
            if op and path and not (rules.skip_urls and "://" in path):
                found[op].add(split_selector(path)[0] if rules.selectors else path)
    return FileOps(frozenset(found["read"]), frozenset(found["write"]), frozenset(found["edit"]))


def lists_in(text: str) -> Files:
    """The lists that :func:`files_text` put into a summary, as far as they were not cut."""
    read: set[str] = set()
    modified: set[str] = set()
    for found in _LISTS.finditer(text):
        for line in found["lines"].splitlines():
            row = _ROW.fullmatch(line) if found["tag"] == "files" else None
            path, mark = (row["path"], row["mark"]) if row else (line, "")
            if path and not _MORE.fullmatch(path):
                read |= {path} if found["tag"] == "read-files" or mark in ("Read", "RW") else set()
                changed = found["tag"] == "modified-files" or mark in ("Write", "RW")
                modified |= {path} if changed else set()
    return Files(tuple(sorted(read)), tuple(sorted(modified)))


def without_lists(text: str) -> str:
    """`text` without the lists that :func:`files_text` put into it."""
    return _LISTS.sub("", text)


def _recorded(mark: Mark) -> Files:
    """The lists of `mark`: its own, else those in its words, where a format has no other place."""
    return mark.files if mark.files != Files() else lists_in(mark.summary)


def merged(ops: FileOps, earlier: Sequence[Entry]) -> FileOps:
    """`ops` and what `earlier` compactions or branch summaries recorded, unless foreign."""
    marks = [_recorded(entry.mark) for entry in earlier if entry.mark and not entry.mark.foreign]
    return FileOps(
        ops.read.union(*(mark.read for mark in marks)),
        ops.written,
        ops.edited.union(*(mark.modified for mark in marks)),
    )


def file_lists(ops: FileOps, rules: FileRules) -> Files:
    """The two sorted lists; changed files leave the read list where they are exclusive."""
    modified = ops.written | ops.edited
    read = ops.read - modified if rules.exclusive else ops.read
    return Files(tuple(sorted(read)), tuple(sorted(modified)))


def _tagged(tag: str, paths: Sequence[str], limit: int) -> str:
    if not paths:
        return ""
    more = [f"(and {len(paths) - limit} more)"] if len(paths) > limit else []
    lines = "\n".join([*paths[:limit], *more])
    return f"\n\n<{tag}>\n{lines}\n</{tag}>"


def _tree(files: Files, limit: int) -> str:
    read, modified = set(files.read), set(files.modified)
    paths = sorted(read | modified)
    if not paths:
        return ""
    marks = {(True, True): "RW", (True, False): "Read", (False, True): "Write"}
    rows = [f"{path} ({marks[path in read, path in modified]})" for path in paths[:limit]]
    more = [f"(and {len(paths) - limit} more)"] if len(paths) > limit else []
    return "\n\n<files>\n" + "\n".join([*rows, *more]) + "\n</files>"


def files_text(files: Files, rules: FileRules) -> str:
    """The lists as text to append to a summary; "" where there is nothing to list."""
    if rules.style == "tree":
        return _tree(files, rules.limit)
    if rules.style == "none":
        return ""
    read = _tagged("read-files", files.read, rules.limit)
    return read + _tagged("modified-files", files.modified, rules.limit)
