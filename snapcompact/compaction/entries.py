"""What the engine decides over: the entries of a session file, in file order.

An :class:`Entry` is a message or a mark (a compaction, a branch summary, a model change). The
engine never touches the file; ids are those of the tool that wrote it, so that a plan can name
them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from snapcompact.history.model import (
    Blob,
    Message,
    Role,
    Text,
    ToolCall,
    ToolResult,
    wtf8,
)

SUMMARY = "summary"
"""Label of a message that stands for a compacted past."""
BRANCH_SUMMARY = "branch summary"
"""Label of a message that stands for an abandoned branch."""
BASH = "bash"
"""Label of a user's own shell run: command, output, then maybe ``Other('exit', code)``."""
CUSTOM = "custom"
"""Label of a message put in by an extension."""


class Kind(StrEnum):
    """What an entry is."""

    MESSAGE = "message"
    CUSTOM = "custom_message"
    BRANCH = "branch_summary"
    COMPACTION = "compaction"
    RESET = "reset"
    """A clear: nothing before it belongs to the context any more."""
    MODEL = "model_change"
    THINKING = "thinking_level_change"
    META = "meta"


@dataclass(frozen=True, slots=True)
class Files:
    """Paths a stretch of history read and changed, each sorted."""

    read: tuple[str, ...] = ()
    modified: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Mark:
    """What a compaction or branch summary recorded."""

    summary: str
    first_kept: str = ""
    files: Files = Files()
    foreign: bool = False
    """Made by an extension: its file lists are not carried on."""
    restored: tuple[Message, ...] = ()
    """Messages carried word for word between summary and kept tail."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry. ``parent`` is None for a root; ``value`` is the level or model a mark sets."""

    id: str
    kind: Kind
    message: Message | None = None
    parent: str | None = None
    mark: Mark | None = None
    time_ms: int = 0
    provider: str = ""
    value: str = ""
    reported_total: int = 0
    """The provider's own total of tokens, 0 where it gave none."""
    useless: bool = False
    """The tool itself said that its result holds nothing of interest."""
    tools: Mapping[str, str] = field(default_factory=dict)
    """Tool names by call id, where the file names the tool beside the result."""

    @property
    def failed(self) -> bool:
        """True where the answer was cut off or is an error."""
        stop = self.message.meta.stop if self.message else ""
        return stop == "aborted" or stop.startswith("error")


@dataclass(frozen=True, slots=True)
class Item:
    """A message of the effective context and the entry that brought it there."""

    entry: Entry
    message: Message

    @property
    def id(self) -> str:
        """Id of the entry."""
        return self.entry.id


def summary_message(text: str, role: Role = Role.USER, label: str = SUMMARY) -> Message:
    """The message a summary becomes in the context."""
    return Message(role, (Text(wtf8(text)),), label)


def is_summary(message: Message) -> bool:
    """True for the message of a compaction."""
    return message.label == SUMMARY


def calls_of(message: Message) -> tuple[ToolCall, ...]:
    """The tool calls of `message`, in order."""
    return tuple(block for block in message.blocks if isinstance(block, ToolCall))


def results_of(message: Message) -> tuple[ToolResult, ...]:
    """The tool results of `message`, in order."""
    return tuple(block for block in message.blocks if isinstance(block, ToolResult))


def words_of(message: Message) -> str:
    """All text of `message` a reader sees: its text blocks and those of its results."""
    parts = [message.text] if message.text else []
    parts += [result.text for result in results_of(message)]
    return "\n".join(parts)


def blobs_of(message: Message) -> tuple[Blob, ...]:
    """The images and files of `message`, those inside tool results included."""
    found: list[Blob] = []
    for block in message.blocks:
        if isinstance(block, Blob):
            found.append(block)
        elif isinstance(block, ToolResult):
            found += [part for part in block.content if isinstance(part, Blob)]
    return tuple(found)


def tool_names(entries: Sequence[Entry]) -> dict[str, str]:
    """Tool name of each call id: the call's own name, else the name beside the result."""
    names: dict[str, str] = {}
    for entry in entries:
        for call_id, name in entry.tools.items():
            names.setdefault(call_id, name)
        if entry.message:
            names.update((call.id, call.name) for call in calls_of(entry.message))
    return names
