"""One record of Claude Code, from a session file or its stream, to messages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from snapcompact.history.answers import Answers
from snapcompact.history.blocks import Json, blocks, json_of, messages, text_of
from snapcompact.history.jsontext import json_text
from snapcompact.history.model import Block, Message, Meta, Other, Role, Text, ToolResult, wtf8
from snapcompact.history.usage import usage_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from snapcompact.history.report import Report

CONTEXT_STARTS = (
    "<command-name>",
    "<command-message>",
    "<local-command-stdout>",
    "<local-command-stderr>",
    "<bash-input>",
    "<bash-stdout>",
    "<task-notification>",
    "<system-reminder>",
    "Caveat:",
    "[Request interrupted",
    "Stop hook feedback:",
)
"""How user texts begin that no person typed."""


class Records:
    """Turns records into messages; remembers what has been said under each answer's id."""

    def __init__(self, report: Report, closed: Iterable[str] = ()) -> None:
        """`closed` as for :class:`Answers`."""
        self._report = report
        self._answers = Answers(report, closed)
        self.began_before = self._answers.began_before

    def conversation(self, record: Json, line: int, offset: int, label: str = "") -> list[Message]:
        """Messages of a ``user`` or ``assistant`` record; `label` is the default label."""
        said = record.get("message")
        if not isinstance(said, dict):
            said = {"content": said}
        meta = meta_of(record, said, line, offset)
        found = blocks(said.get("content"))
        if record.get("type") == "assistant":
            found = self._answers.fresh(meta.id, found, offset)
            out = messages(Role.ASSISTANT, found, answer_label(record, said) or label, meta)
            if meta.model and "model" not in self._report.info:
                self._report.info["model"] = meta.model
        else:
            out = _user(record, found, label, meta)
        if not out:
            self._report.skipped["empty message"] += 1
        return out


def _user(record: Json, found: list[Block], label: str, meta: Meta) -> list[Message]:
    """Results, then the words, which may be labelled otherwise."""
    results: list[Block] = [block for block in found if type(block) is ToolResult]
    if len(results) == len(found):
        return messages(Role.USER, found, label, meta)
    words = [block for block in found if type(block) is not ToolResult]
    said = messages(Role.USER, words, user_label(record, words) or label, meta)
    return [*messages(Role.USER, results, label, meta), *said]


def meta_of(record: Json, said: Json, line: int, offset: int) -> Meta:
    """Where a record's messages come from."""
    failed = record.get("isApiErrorMessage") is True or record.get("error")
    return Meta(
        text_of(said.get("id")) or text_of(record.get("uuid")),
        text_of(record.get("timestamp")),
        text_of(said.get("model")),
        "error" if failed else text_of(said.get("stop_reason")),
        usage_of(said["usage"]) if "usage" in said else None,
        line,
        offset,
    )


def answer_label(record: Json, said: Json) -> str:
    """``error`` for an error in the shape of an answer."""
    if record.get("isApiErrorMessage") is True or said.get("model") == "<synthetic>":
        return "error"
    return ""


def user_label(record: Json, found: list[Block]) -> str:
    """``summary`` or ``context`` where no person typed the words, else empty."""
    if record.get("isCompactSummary") is True:
        return "summary"
    origin = json_of(record.get("origin")).get("kind")
    if (
        record.get("isMeta") is True
        or record.get("isVisibleInTranscriptOnly") is True
        or (isinstance(origin, str) and origin != "human")
    ):
        return "context"
    texts = [block for block in found if isinstance(block, Text)]
    if texts and texts[0].data.lstrip().startswith(_STARTS):
        return "context"
    return ""


_STARTS = tuple(start.encode() for start in CONTEXT_STARTS)


def compaction(record: Json, line: int, offset: int) -> Message:
    """The mark of a compaction, with its figures."""
    details = record.get("compactMetadata", record.get("compact_metadata"))
    found: list[Block] = [Text(wtf8(text_of(record.get("content")) or "Conversation compacted"))]
    if details is not None:
        found.append(Other("compactMetadata", json_text(details)))
    return Message(Role.NOTE, tuple(found), "compaction", meta_of(record, {}, line, offset))


def note(record: Json, label: str, content: Any, line: int, offset: int) -> Message:
    """A record outside the conversation: its words, or all of it as JSON."""
    block: Block = Other(label, json_text(record))
    if isinstance(content, str) and content:
        block = Text(wtf8(content))
    return Message(Role.NOTE, (block,), label, meta_of(record, {}, line, offset))
