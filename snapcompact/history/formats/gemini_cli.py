"""Gemini CLI chat logs: one document, or JSON Lines that rewrite and take back what they said.

A message written again under its id is told by what is new in it, so that a growing file gives
growing messages. ``$rewindTo`` leaves messages; they are found in a first reading.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from snapcompact.history.answers import Answers
from snapcompact.history.blocks import Json, json_of, messages, name_of, text_of
from snapcompact.history.documents import document
from snapcompact.history.formats.gemini_contents import part_blocks
from snapcompact.history.jsontext import json_text
from snapcompact.history.model import (
    Blob,
    Block,
    Message,
    Meta,
    Other,
    Role,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    wtf8,
)
from snapcompact.history.records import contains, records
from snapcompact.history.report import Report
from snapcompact.history.seen import Seen
from snapcompact.history.spans import Span, Spans
from snapcompact.history.titles import Titles
from snapcompact.history.usage import usage

if TYPE_CHECKING:
    from collections.abc import Iterator

    from snapcompact.history.formats import Head, Options
    from snapcompact.history.source import Source

_ROLES = {
    "user": Role.USER,
    "gemini": Role.ASSISTANT,
    "model": Role.ASSISTANT,
}
_TYPES = {"user", "gemini", "model", "info", "error", "warning"}
_CONTEXT_START = b"<session_context>"
_BAD_STATES = {"error", "cancelled"}


def sniff(head: Head) -> bool:
    """``sessionId`` with ``projectHash`` or ``startTime``; or a message or list of ``gemini``."""
    whole = head.document
    if isinstance(whole, dict):
        if "sessionId" in whole and ("projectHash" in whole or "startTime" in whole):
            return True
        history = whole.get("history")
        if isinstance(history, list):
            return any(json_of(item).get("role") == "gemini" for item in history)
        return whole.get("type") == "gemini" and "id" in whole and "content" in whole
    return head.some("sessionId", "projectHash")


def read(source: Source, options: Options, report: Report) -> Iterator[Message]:
    """The messages that were not rewound; with branch ``all`` those too, marked as left."""
    chat = _Chat(report)
    whole = document(source, report)
    if whole is not None and "$set" not in json_of(whole.value):
        yield from chat.document(json_of(whole.value))
        return
    spans = Spans(_rewound(source), options.branch)
    report.branches += spans.branches
    for record, line, offset in records(source, report):
        if spans.ended(line):
            return
        if spans.dropped(line):
            report.skipped["left branch"] += 1
            continue
        for message in chat.record(record, Meta(line=line, offset=offset)):
            yield spans.marked(message)


def _rewound(source: Source) -> Iterator[Span]:
    """From the message named to the rewind; all before it where its id is unknown."""
    if not contains(source, b'"$rewindTo"'):
        return
    lines: dict[str, int] = {}
    for record, line, _ in records(source, Report()):
        if "$rewindTo" in record:
            first = lines.get(name_of(record["$rewindTo"]), 1)
            yield Span(first, line)
            while lines and next(reversed(lines.values())) >= first:
                lines.popitem()
        elif isinstance(record.get("id"), str):
            lines.setdefault(record["id"], line)


class _Chat:
    def __init__(self, report: Report) -> None:
        self._report = report
        self._answers = Answers(report)
        self._titles = Titles(report)
        self._messages = Seen()
        self._results = Seen()

    def document(self, whole: Json) -> Iterator[Message]:
        self._header(whole)
        listed = whole.get("messages", whole.get("history"))
        for item in listed if isinstance(listed, list) else [whole]:
            yield from self._message(json_of(item) or {"content": item}, Meta())

    def record(self, record: Json, meta: Meta) -> Iterator[Message]:
        if "$set" in record:
            yield from self._checkpoint(json_of(record["$set"]), meta)
        elif "$rewindTo" in record:
            self._report.skipped["$rewindTo"] += 1
        elif "sessionId" in record and "type" not in record:
            self._header(record)
            listed = record.get("messages")
            for item in listed if isinstance(listed, list) else []:
                yield from self._message(json_of(item), meta)
        elif "type" in record or "content" in record or "parts" in record:
            yield from self._message(record, meta)
        else:
            label = "unknown record"
            yield Message(Role.NOTE, (Other(label, json_text(record)),), label, meta)

    def _header(self, record: Json) -> None:
        self._report.learn("id", record.get("sessionId"))
        self._report.learn("project", record.get("projectHash"))
        self._report.learn("title", record.get("summary"))

    def _checkpoint(self, record: Json, meta: Meta) -> Iterator[Message]:
        """A list that replaces the one so far; what was said before it was said better."""
        listed = record.get("messages")
        if not isinstance(listed, list):
            self._report.skipped["$set"] += 1
            return
        for item in listed:
            said = json_of(item)
            if self._messages.add(_key(said)):
                yield from self._message(said, meta)
            else:
                self._report.duplicates["checkpoint"] += 1

    def _message(self, item: Json, place: Meta) -> Iterator[Message]:
        key = _key(item)
        if key:
            self._messages.add(key)
        kind = text_of(item.get("type")) or text_of(item.get("role"))
        role = _ROLES.get(kind, Role.NOTE)
        meta = place._replace(
            id=text_of(item.get("id")),
            time=text_of(item.get("timestamp")),
            model=text_of(item.get("model")),
            usage=_usage(json_of(item.get("tokens"))),
        )
        self._report.learn("model", meta.model)
        found = self._answers.fresh(key, self._blocks(item))
        if not found:
            self._report.skipped["nothing new"] += 1
            return
        label = _label(role, kind, found)
        if role is Role.USER and not label:
            self._titles.prompt(" ".join(b.text for b in found if isinstance(b, Text)))
        yield from messages(role, found, label, meta)

    def _blocks(self, item: Json) -> list[Block]:
        found: list[Block] = [_thought(thought) for thought in _list(item.get("thoughts"))]
        said = part_blocks(_list(item.get("content", item.get("parts"))))
        found += [b for b in said if not isinstance(b, ToolResult) or self._new_result(b)]
        for call in _list(item.get("toolCalls")):
            found += self._call(json_of(call))
        return found

    def _call(self, call: Json) -> Iterator[Block]:
        call_id, name = name_of(call.get("id")), name_of(call.get("name"))
        yield ToolCall(call_id, name, json_text(call.get("args")))
        failed = call.get("status") in _BAD_STATES
        for block in part_blocks(_list(call.get("result"))):
            if isinstance(block, ToolResult):
                result = replace(block, call_id=call_id, is_error=failed or block.is_error)
            elif isinstance(block, Text | Blob | Other):
                result = ToolResult(call_id, (block,), failed)
            else:
                continue
            if self._new_result(result):
                yield result

    def _new_result(self, result: ToolResult) -> bool:
        """Whether a call's result is told for the first time: the log has each one twice."""
        if not result.call_id or self._results.add(result.call_id):
            return True
        self._report.duplicates["tool result"] += 1
        return False


def _key(item: Json) -> str:
    """A model's turn and a function's answer can share an id."""
    said = text_of(item.get("id"))
    return f"{said} {text_of(item.get('type'))}" if said else ""


def _label(role: Role, kind: str, found: list[Block]) -> str:
    first = found[0]
    if role is Role.NOTE:
        return kind or "no type"
    if role is Role.USER and isinstance(first, Text):
        return "context" if first.data.lstrip().startswith(_CONTEXT_START) else ""
    return ""


def _thought(thought: Any) -> Thinking:
    said = json_of(thought)
    words = [text_of(said.get("subject")), text_of(said.get("description"))]
    return Thinking(wtf8("\n".join(word for word in words if word)))


def _usage(tokens: Json) -> Any:
    output, thoughts = tokens.get("output"), tokens.get("thoughts")
    if type(output) is int and type(thoughts) is int:
        output += thoughts
    return usage(tokens.get("input"), output, tokens.get("cached"), within=True)


def _list(value: Any) -> list[Any]:
    if value is None:
        return []
    return value if isinstance(value, list) else [value]
