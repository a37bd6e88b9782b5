"""Runs of reads, searches and shell commands folded: each result of a run becomes one label.

A run is adjacent pairs of one call and its result. Anything else ends it; writes never fold.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from snapcompact.compaction.counting import TokenRules, count_text, output_json
from snapcompact.compaction.edits import Edit, replaced
from snapcompact.compaction.entries import Item, calls_of, results_of
from snapcompact.compaction.files import call_args
from snapcompact.history.model import Message, Text, ToolCall, ToolResult

_DEFAULT_KINDS = {
    "read_file": "read", "Read": "read", "read": "read",
    "grep": "search", "glob": "search", "Grep": "search", "Glob": "search", "find": "search",
    "bash": "shell", "shell_execute": "shell", "Shell": "shell", "Bash": "shell",
}  # fmt: skip

_NOUNS = {
    "read": ("file read", "file reads"),
    "search": ("search", "searches"),
    "shell": ("shell command", "shell commands"),
    "mixed": ("mixed operation", "mixed operations"),
}


@dataclass(frozen=True, slots=True)
class CollapseRules:
    """What folds. ``kinds``: tool name to read, search or shell."""

    enabled: bool = True
    kinds: Mapping[str, str] = field(default_factory=lambda: dict(_DEFAULT_KINDS))
    min_group: int = 2
    protect_messages: int = 5
    hints: int = 5
    hint_chars: int = 80
    only_shrinking: bool = True
    """A run that would grow stays as it is."""


@dataclass(frozen=True, slots=True)
class Group:
    """One folded run."""

    kind: str
    count: int
    label: str
    before: int
    after: int
    edits: tuple[Edit, ...]


def _hint(call: ToolCall, kind: str, limit: int) -> str:
    args = call_args(call)

    def arg(*names: str) -> str:
        return next((str(args[name]) for name in names if isinstance(args.get(name), str)), "")

    if kind == "read":
        hint = arg("path", "file_path", "filePath")
    elif kind == "search":
        parts = (arg("path", "dir"), arg("pattern", "query", "glob"))
        hint = ":".join(part for part in parts if part)
    else:
        hint = arg("command", "cmd")
    return hint[:limit]


def _pair(call: Message, result: Message, rules: CollapseRules) -> ToolCall | None:
    """The call of a foldable pair of messages, else None."""
    calls, results = calls_of(call), results_of(result)
    others = [b for b in call.blocks if not isinstance(b, ToolCall) and b != Text(b"")]
    single = len(calls) == 1 and len(results) == 1 and len(result.blocks) == 1 and not others
    if not single or results[0].call_id != calls[0].id or results[0].is_error:
        return None
    return calls[0] if calls[0].name in rules.kinds else None


def _result_tokens(result: ToolResult, name: str, tokens: TokenRules) -> int:
    return count_text(f"{name} {output_json(result)}", tokens)


def _label(calls: Sequence[ToolCall], kind: str, rules: CollapseRules) -> str:
    hints = [_hint(call, rules.kinds[call.name], rules.hint_chars) for call in calls]
    unique = list(dict.fromkeys(hint for hint in hints if hint))
    shown = unique[: rules.hints]
    if len(unique) > rules.hints:
        shown.append(f"+{len(unique) - rules.hints} more")
    noun = _NOUNS[kind][len(calls) != 1]
    tail = f" — {', '.join(shown)}" if shown else ""
    return f"[Collapsed: {len(calls)} {noun}{tail}]"


def _group(
    items: Sequence[Item], pairs: Sequence[tuple[int, ToolCall]], rules: CollapseRules,
    tokens: TokenRules,
) -> Group | None:  # fmt: skip
    calls = [call for _, call in pairs]
    kinds = {rules.kinds[call.name] for call in calls}
    kind = kinds.pop() if len(kinds) == 1 else "mixed"
    label = _label(calls, kind, rules)
    edits, before, after = [], 0, 0
    for index, call in pairs:
        result = results_of(items[index].message)[0]
        old = _result_tokens(result, call.name, tokens)
        new = _result_tokens(replaced(result, label), call.name, tokens)
        before, after = before + old, after + new
        edits.append(Edit(index, 0, label, old - new, "collapsed"))
    if rules.only_shrinking and after >= before:
        return None
    return Group(kind, len(calls), label, before, after, tuple(edits))


def collapse(items: Sequence[Item], rules: CollapseRules, tokens: TokenRules) -> tuple[Group, ...]:
    """The runs to fold among all but the newest messages, oldest first."""
    end = len(items) - rules.protect_messages
    groups: list[Group] = []
    run: list[tuple[int, ToolCall]] = []
    index = 0
    while index < end + 1:
        pair = index + 1 < end and _pair(items[index].message, items[index + 1].message, rules)
        if pair:
            run.append((index + 1, pair))
            index += 2
            continue
        if len(run) >= rules.min_group:
            made = _group(items, run, rules, tokens)
            groups += [made] if made else []
        run = []
        index += 1
    return tuple(groups)
