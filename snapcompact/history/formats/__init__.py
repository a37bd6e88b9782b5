"""The session formats, one module each, in the order in which they are tried.

A format module has two functions, a third where one file holds many conversations, a fourth where
files grow at their end:

- ``sniff(head: Head) -> bool``: whether the content is this format; earlier rows have said no.
- ``read(source: Source, options: Options, report: Report) -> Iterator[Message]``: the messages,
  streamed, so that a prefix of the file gives a prefix of the messages. Facts, skipped records,
  copies and damage go to `report`.
- ``conversations(source: Source) -> tuple[Conversation, ...]``.
- ``resume(source, options, report, point) -> Iterator[Message]``, where a file that has grown need
  not be read from its beginning: ``read`` then leaves points in ``report.trail`` (``resume.py``).

To add one here: a module and a row in FORMATS. To add one from outside: an entry point in the
group ``snapcompact.formats`` that names such a module; it may also have ``TITLE`` and ``PLACES``.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any, Protocol, cast

from snapcompact.errors import FormatError, UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from snapcompact.history.model import Message
    from snapcompact.history.report import Report
    from snapcompact.history.source import Source

ENTRY_POINTS = "snapcompact.formats"
"""Group of entry points that name format modules of other packages."""


@dataclass(frozen=True, slots=True)
class Head:
    """The beginning of a session file, unpacked, for telling its format."""

    data: bytes
    """At most the first megabyte."""
    records: tuple[Any, ...]
    """JSON values of its first 200 or so lines that parse."""
    document: Any
    """The one JSON value the file is, perhaps cut short inside; None where it is none."""
    name: str = ""

    def some(self, *keys: str) -> bool:
        """Whether one record is an object that has all `keys`."""
        return any(
            isinstance(record, dict) and all(key in record for key in keys)
            for record in self.records
        )

    def types(self) -> set[str]:
        """Values of ``type`` among the records."""
        found = (record.get("type") for record in self.records if isinstance(record, dict))
        return {kind for kind in found if isinstance(kind, str)}


@dataclass(frozen=True, slots=True)
class Options:
    """What to read of a session."""

    branch: str = "active"
    """``active``, ``all``, or the id of a branch's last record."""
    select: str = ""
    """Id of the conversation, where one file holds many; empty for all of them."""


@dataclass(frozen=True, slots=True)
class Conversation:
    """One conversation of a file that holds many."""

    id: str
    title: str = ""
    time: str = ""


class FormatModule(Protocol):
    """What a format module offers; see the module's head."""

    def sniff(self, head: Head) -> bool:
        """Whether the content is this format."""

    def read(self, source: Source, options: Options, report: Report) -> Iterator[Message]:
        """The messages of `source`."""


@dataclass(frozen=True, slots=True)
class Format:
    """A row of the table. `places` are globs below the home folder where its sessions lie."""

    name: str
    module: str
    title: str
    places: tuple[str, ...] = ()

    def load(self) -> FormatModule:
        """The module, imported. Raises FormatError where a third party's cannot be."""
        try:
            return cast("FormatModule", import_module(self.module))
        except ImportError as error:
            raise FormatError(
                f"format {self.name}: cannot import {self.module}: {error}"
            ) from error


def _own(name: str, title: str, *places: str) -> Format:
    return Format(name, f"{__name__}.{name}", title, places)


FORMATS: tuple[Format, ...] = (
    _own("opencode_db", "OpenCode database", ".local/share/opencode/opencode.db"),
    _own("export_zip", "ChatGPT or Claude.ai account export, zipped"),
    _own("atif", "ATIF trajectory (Harbor)"),
    _own("chatgpt_export", "ChatGPT conversations.json"),
    _own("claude_ai_export", "Claude.ai conversations.json"),
    _own("sharegpt", "ShareGPT conversations"),
    _own("opencode_export", "OpenCode export"),
    _own("gemini_cli", "Gemini CLI chat log", ".gemini/tmp/*/chats/session-*.json*"),
    _own("gemini_contents", "Gemini API contents"),
    _own("openai_responses", "OpenAI Responses items"),
    _own("anthropic_messages", "Anthropic Messages request"),
    _own("vercel_ai", "Vercel AI SDK messages"),
    _own("gemini_stream", "Gemini CLI stream-json"),
    _own(
        "codex_rollout",
        "Codex CLI rollout",
        ".codex/sessions/*/*/*/rollout-*.jsonl*",
        ".codex/archived_sessions/rollout-*.jsonl*",
    ),  # before chat messages: its oldest records look like those
    _own("snapcompact_messages", "snapcompact's own JSON Lines of messages"),
    _own("openai_chat", "OpenAI Chat Completions messages"),
    _own("openai_finetune", "Fine-tune conversations"),
    _own(
        "opencode_storage", "OpenCode file store", ".local/share/opencode/storage/session/*/*.json"
    ),
    _own("ohmypi", "oh-my-pi session", ".omp/agent/sessions/*/*.jsonl"),
    _own("kit", "kit session", ".kit/sessions/*/*.jsonl"),
    _own("pi", "pi session", ".pi/agent/sessions/*/*.jsonl"),
    _own("plugsuits_session", "plugsuits session"),
    _own("codex_exec", "codex exec --json"),
    _own("claude_stream", "Claude Code stream-json"),
    _own("claude_code", "Claude Code session", ".claude/projects/*/*.jsonl"),
    _own("plugsuits_headless", "plugsuits headless stream"),
    _own("aider", "aider chat history"),
    _own("specstory", "SpecStory Markdown"),
)
"""Our formats in order of detection (first match wins); `text` comes after all others."""

TEXT = _own("text", "Markdown or plain text")


@cache
def table() -> tuple[Format, ...]:
    """All formats in order of detection: ours, then other packages', then text.

    Raises FormatError where another package takes a name that is in use.
    """
    rows = list(FORMATS)
    names = {row.name for row in (*FORMATS, TEXT)}
    for entry in sorted(entry_points(group=ENTRY_POINTS)):
        if entry.name in names:
            raise FormatError(f"format {entry.name} of {entry.value} is a name already in use")
        names.add(entry.name)
        module = import_module(entry.value)
        title, places = getattr(module, "TITLE", entry.name), getattr(module, "PLACES", ())
        rows.append(Format(entry.name, entry.value, title, tuple(places)))
    return (*rows, TEXT)


def by_name(name: str) -> Format:
    """The row called `name`. Raises UnknownNameError."""
    for row in table():
        if row.name == name:
            return row
    known = ", ".join(sorted(row.name for row in table()))
    raise UnknownNameError(f"unknown format {name!r}; known: {known}")
