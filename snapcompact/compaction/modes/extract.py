"""A summary without a model: the sections filled from the records themselves.

Nothing is paraphrased: goals and constraints are the user's own sentences, files and errors come
from tool calls and their results. It says at its head what it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from snapcompact.compaction.entries import (
    calls_of,
    is_summary,
    results_of,
)
from snapcompact.compaction.files import (
    FileRules,
    call_args,
    file_lists,
    file_ops,
)
from snapcompact.compaction.modes.carried import carried, no_words
from snapcompact.compaction.modes.pointer import is_pages, said
from snapcompact.compaction.pairs import answered_calls
from snapcompact.compaction.serialise import SerialRules, call_text, cut_middle
from snapcompact.history.model import Message, Role, ToolCall, ToolResult

Sections = dict[str, list[str]]
"""Titles and their lines."""

_EARLIER = "Earlier Summary"
HEAD = "[Extract made without a model: quotations and facts from the records, nothing rephrased.]"


@dataclass(frozen=True, slots=True)
class ExtractRules:
    """How much goes into each section."""

    goals: int = 3
    goal_chars: int = 1200
    constraints: int = 40
    decisions: int = 30
    errors: int = 20
    error_chars: int = 300
    files: int = 150
    steps: int = 10
    step_chars: int = 200
    focus_lines: int = 20
    previous_chars: int = 12000


_CONSTRAINT = re.compile(
    r"\b(must(?:n't)?|never|always|don't|do not|only|without|prefer|avoid|keep|make sure|"
    r"should(?:n't)?|no need|important|instead of|at most|at least)\b",
    re.IGNORECASE,
)
_DECISION = re.compile(
    r"\b(decided?|decision|instead of|rather than|the reason|because|I(?:'ll| will) use|"
    r"we(?:'ll| will) use|chose|switch(?:ed|ing)? to|root cause)\b",
    re.IGNORECASE,
)
_ERROR = re.compile(
    r"\b(error|exception|traceback|failed|failure|fatal|panic|not found|denied|"
    r"exit code [1-9]\d*)\b",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
_CHECKBOX = re.compile(r"^\s*[-*] \[ \] (.+)$", re.MULTILINE)
_MORE_FILES = re.compile(r"and \d+ more files")
_TODO_TOOLS = ("todo", "todowrite", "todo_write", "update_plan", "update_todo_list")
_ASKED = ("Goal", "Constraints & Preferences")
"""Sections that only the user fills."""
_OPEN = ("pending", "in_progress", "in progress", "todo", "open", "blocked")


def _sentences(text: str) -> list[str]:
    return [part.strip() for part in _SENTENCE.split(text) if part.strip()]


def _cut(text: str, limit: int) -> str:
    return cut_middle(" ".join(text.split()), limit, 0.7, " […] ")


def _goals(messages: Sequence[Message], rules: ExtractRules) -> list[str]:
    asked = said(messages, Role.USER)
    chosen = asked[:1] + asked[1:][-(rules.goals - 1) :] if rules.goals > 1 else asked[:1]
    return [f'"{_cut(text, rules.goal_chars)}"' for text in chosen]


def _matching(texts: Iterable[str], pattern: re.Pattern[str], limit: int) -> list[str]:
    found = dict.fromkeys(
        _cut(sentence, 300)
        for text in texts
        for sentence in _sentences(text)
        if pattern.search(sentence)
    )
    return [f'"{sentence}"' for sentence in list(found)[-limit:]]


def _is_error(result: ToolResult) -> bool:
    lines = result.text.strip().splitlines()
    return result.is_error or any(_ERROR.search(line) for line in (*lines[:3], *lines[-3:]))


def _subject(call: ToolCall) -> str:
    """What a call was about, so that a later try can be told from another matter."""
    args = call_args(call)
    keys = ("path", "file_path", "filePath", "command", "cmd", "pattern")
    value = next((str(args[key]) for key in keys if isinstance(args.get(key), str)), "")
    return f"{call.name} {value.split(' ')[0] if value else ''}".strip()


def _error_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return next((line for line in reversed(lines) if _ERROR.search(line)), lines[-1] if lines
                else "(no words)")  # fmt: skip


def _errors(messages: Sequence[Message], rules: ExtractRules) -> list[str]:
    """Errors in order, each with how its subject ended: a later try worked, or none did."""
    calls = answered_calls(messages)
    ended: dict[str, bool] = {}
    found: list[tuple[str, str]] = []
    for index, message in enumerate(messages):
        for place, result in enumerate(message.blocks):
            if not isinstance(result, ToolResult):
                continue
            call = calls.get((index, place))
            subject = _subject(call) if call else "a tool"
            failed = _is_error(result)
            if failed:
                found.append((subject, _error_line(result.text)))
            ended[subject] = not failed
    return [
        f"{subject}: {_cut(line, rules.error_chars)} "
        + ("— a later try worked" if ended[subject] else "— open")
        for subject, line in found[-rules.errors :]
    ]


def _todo_items(call: ToolCall) -> list[str]:
    args = call_args(call)
    lists = [value for value in args.values() if isinstance(value, list)]
    made: list[str] = []
    for entry in lists[0] if lists else []:
        if not isinstance(entry, dict):
            continue
        status = str(entry.get("status", "pending")).lower()
        words = next((str(entry[key]) for key in ("content", "step", "text", "title")
                      if isinstance(entry.get(key), str)), "")  # fmt: skip
        if words and status in _OPEN:
            made.append(f"{words} ({status.replace('_', ' ')})")
    return made


def open_todos(messages: Sequence[Message]) -> list[str]:
    """What was still to do: the newest todo list given to a tool, else the newest open boxes."""
    for message in reversed(messages):
        for call in reversed(calls_of(message)):
            if call.name.lower() in _TODO_TOOLS:
                return _todo_items(call)
    for message in reversed(messages):
        boxes = _CHECKBOX.findall(message.text)
        if boxes:
            return boxes
    return []


def _steps(messages: Sequence[Message], rules: ExtractRules) -> list[str]:
    serial = SerialRules(argument_limit=rules.step_chars, call_limit=rules.step_chars)
    steps: list[str] = []
    for message in messages:
        if message.role is not Role.ASSISTANT:
            continue
        if message.text.strip():
            steps.append(_cut(message.text, rules.step_chars))
        steps += [_cut(call_text(call, serial), rules.step_chars) for call in calls_of(message)]
    return steps[-rules.steps :]


def _about(messages: Sequence[Message], focus: str, rules: ExtractRules) -> list[str]:
    words = [word.lower() for word in re.findall(r"\w{4,}", focus)]
    if not words:
        return []
    found: dict[str, None] = {}
    for message in messages:
        texts = [message.text, *(result.text for result in results_of(message))]
        for sentence in (s for text in texts for s in _sentences(text)):
            if any(word in sentence.lower() for word in words):
                found[f"{message.role.value}: {_cut(sentence, 300)}"] = None
    return list(found)[-rules.focus_lines :]


def _section(title: str, lines: Sequence[str], empty: str = "None.") -> str:
    return f"## {title}\n" + ("\n".join(f"- {line}" for line in lines) if lines else empty)


def _sections(messages: Sequence[Message], rules: ExtractRules, files: FileRules) -> Sections:
    lists = file_lists(file_ops(messages, files), files)
    asked, answers = said(messages, Role.USER), said(messages, Role.ASSISTANT)
    return {
        "Goal": _goals(messages, rules),
        "Constraints & Preferences": _matching(asked, _CONSTRAINT, rules.constraints),
        "Progress": [f"changed {path}" for path in lists.modified]
        + [f"read {path}" for path in lists.read],
        "Key Decisions": _matching(answers, _DECISION, rules.decisions),
        "Errors": _errors(messages, rules),
        "Next Steps": open_todos(messages),
        "Last Steps": _steps(messages, rules),
    }


def _parsed(text: str) -> Sections:
    """The sections of an extract made earlier."""
    found: Sections = {}
    title = ""
    for line in text.splitlines():
        if line.startswith("## "):
            title = line[3:]
            found[title] = []
        elif title and line.startswith("- ") and not _MORE_FILES.fullmatch(line[2:]):
            found[title].append(line[2:])
    return found


def _merged(old: Sections, new: Sections, rules: ExtractRules) -> Sections:
    """Both in one: the first goal stays, the newest lines of each section up to its limit.

    What is still to do, and what was done last, is what the newer one says, if it says anything.
    """
    limits = {
        "Constraints & Preferences": rules.constraints,
        "Progress": rules.files,
        "Key Decisions": rules.decisions,
        "Errors": rules.errors,
    }
    made: Sections = {}
    for title, lines in new.items():
        before = old.get(title, [])
        both = list(dict.fromkeys([*before, *lines]))
        if title == "Goal":
            made[title] = list(dict.fromkeys([*before[:1], *both[-(rules.goals - 1) :]]))
        elif title in limits:
            made[title] = both[-limits[title] :]
        else:
            made[title] = lines or before
    return made


def extract(
    messages: Sequence[Message],
    *,
    previous: str = "",
    focus: str = "",
    rules: ExtractRules | None = None,
    files: FileRules | None = None,
) -> str:
    """The summary of `messages`, and of `previous` before them, by rules alone; deterministic.

    An earlier extract is merged section by section; any other summary stands whole at the end, cut
    in the middle where it is longer than ``previous_chars``. Of pages only the archive is named.
    """
    rules, files = rules or ExtractRules(), files or FileRules()
    earlier = carried(previous, messages, files)
    messages = [message for message in messages if not is_pages(message)]
    sections = _sections(messages, rules, files)
    if earlier.startswith(HEAD):
        old, _, earlier = earlier.partition(f"\n\n## {_EARLIER}\n")
        sections = _merged(_parsed(old), sections, rules)
    empty = {} if said(messages, Role.USER) else dict.fromkeys(_ASKED, no_words(earlier))
    progress = sections["Progress"]
    if len(progress) > rules.files:
        left = len(progress) - rules.files
        sections["Progress"] = [*progress[: rules.files], f"and {left} more files"]
    parts = [HEAD, *(_section(t, lines, empty.get(t, "None.")) for t, lines in sections.items())]
    if focus.strip():
        parts.append(_section(f"About: {_cut(focus, 200)}", _about(messages, focus, rules)))
    if earlier:
        kept = cut_middle(earlier, rules.previous_chars, 0.7, "\n[…]\n")
        parts.append(f"## {_EARLIER}\n{kept}")
    return "\n\n".join(parts)


def summary_input(messages: Sequence[Message], previous: str = "") -> str:
    """The plain dump some tools fall back on: previous summary, then ``ROLE: words`` paragraphs."""
    lines = [f"Previous Summary:\n{previous.strip()}", "Conversation Transcript:"]
    for message in messages:
        mark = " (SUMMARY)" if is_summary(message) else ""
        lines.append(f"{message.role.value.upper()}{mark}: {message.text}")
    return "\n\n".join(lines if previous.strip() else lines[1:])
