"""``claude -p --output-format stream-json``: snake-case envelope, file order is the order.

The user's prompt is not in the stream. Sub-agents are interleaved and carry the label
``agent CALL-ID``; their prompt is in that call's arguments.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from snapcompact.history.blocks import Json, blocks, text_of
from snapcompact.history.formats.claude_records import Records, compaction, meta_of, note
from snapcompact.history.model import Message, Role, Text, wtf8
from snapcompact.history.records import records
from snapcompact.history.seen import Seen

if TYPE_CHECKING:
    from collections.abc import Iterator

    from snapcompact.history.formats import Head, Options
    from snapcompact.history.report import Report
    from snapcompact.history.source import Source

_SKIP = {
    b'{"type":"system","subtype":"thinking_tokens",': "system thinking_tokens",
    b'{"type":"tool_progress",': "tool_progress",
    b'{"type":"stream_event",': "stream_event",
}
"""Bookkeeping that makes half of the records of a real stream; not even parsed."""

_BOOKKEEPING = ("rate_limit_event", "stream_event", "tool_progress", "keep_alive")
_SYSTEM_BOOKKEEPING = (
    "api_retry",
    "background_tasks_changed",
    "hook_",
    "init",
    "status",
    "task_",
    "thinking_tokens",
)


def sniff(head: Head) -> bool:
    """A ``system`` record of subtype ``init`` or ``hook_started`` with a ``session_id``."""
    return any(
        isinstance(record, dict)
        and record.get("type") == "system"
        and record.get("subtype") in ("init", "hook_started")
        and "session_id" in record
        for record in head.records
    ) or (head.some("session_id", "parent_tool_use_id", "message"))


def read(source: Source, options: Options, report: Report) -> Iterator[Message]:
    """The messages in file order."""
    report.notes.append("the prompt is not recorded in this format")
    return _Stream(report).read(source)


class _Stream:
    def __init__(self, report: Report) -> None:
        self._report = report
        self._records = Records(report)
        self._seen = Seen()
        self._compacted = False
        self._last_words = b""

    def read(self, source: Source) -> Iterator[Message]:
        for record, line, offset in records(source, self._report, skip=_SKIP):
            uuid = record.get("uuid")
            if isinstance(uuid, str) and uuid and not self._seen.add(uuid):
                self._report.duplicates["repeated record"] += 1
                continue
            match record.get("type"):
                case "assistant" | "user":
                    yield from self._conversation(record, line, offset)
                case "system":
                    yield from self._system(record, line, offset)
                case "result":
                    yield from self._result(record, line, offset)
                case kind if kind in _BOOKKEEPING:
                    self._report.skipped[text_of(kind)] += 1
                case kind:
                    yield note(record, f"unknown {text_of(kind)}".strip(), None, line, offset)

    def _conversation(self, record: Json, line: int, offset: int) -> Iterator[Message]:
        call = record.get("parent_tool_use_id")
        label = f"agent {call}" if isinstance(call, str) and call else ""
        if record.get("type") == "user" and record.get("isSynthetic") is True:
            label = "summary" if self._compacted else "context"
            self._compacted = False
        for message in self._records.conversation(record, line, offset, label):
            if message.role is Role.ASSISTANT:
                for block in message.blocks:
                    if isinstance(block, Text):
                        self._last_words = block.data
            yield message

    def _system(self, record: Json, line: int, offset: int) -> Iterator[Message]:
        subtype = text_of(record.get("subtype"))
        if subtype == "init":
            for key, name in (("session_id", "id"), ("cwd", "cwd"), ("model", "model")):
                self._report.learn(name, record.get(key))
            self._report.learn("version", record.get("claude_code_version"))
        if subtype == "compact_boundary":
            self._compacted = True
            yield compaction(record, line, offset)
        elif subtype.startswith(_SYSTEM_BOOKKEEPING):
            self._report.skipped[f"system {subtype}"] += 1
        else:
            yield note(record, f"system {subtype}".strip(), record.get("content"), line, offset)

    def _result(self, record: Json, line: int, offset: int) -> Iterator[Message]:
        """The end of a run; its words repeat the last answer, but not where it failed."""
        said = record.get("result")
        words = wtf8(said) if isinstance(said, str) else b""
        if words and words == self._last_words:
            self._report.duplicates["result"] += 1
            return
        if not words:
            self._report.skipped["result"] += 1
            return
        label = "error" if record.get("is_error") is True else "result"
        found = tuple(blocks(said))
        yield Message(Role.NOTE, found, label, meta_of(record, {}, line, offset))
