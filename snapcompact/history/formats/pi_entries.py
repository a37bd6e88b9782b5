"""Entries of pi and oh-my-pi sessions, to messages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from snapcompact.history.blobs import blob_base64
from snapcompact.history.blocks import Json, blocks, json_of, messages, name_of, text_of
from snapcompact.history.blocks import result_content as content_of
from snapcompact.history.jsontext import json_text
from snapcompact.history.model import (
    Block,
    Message,
    Meta,
    Other,
    Role,
    Text,
    ToolCall,
    ToolResult,
    wtf8,
)
from snapcompact.history.times import time_text
from snapcompact.history.titles import Titles
from snapcompact.history.usage import usage

if TYPE_CHECKING:
    from collections.abc import Iterator

    from snapcompact.history.report import Report
    from snapcompact.history.resume import Point

_BOOKKEEPING = {
    "credential_pin",
    "label",
    "mode_change",
    "model_usage",
    "service_tier_change",
    "thinking_level_change",
    "ttsr_injection",
}
_SUMMARIES = {"compaction": "compaction", "branch_summary": "branch summary"}
_ENVELOPE = {"type", "id", "parentId", "timestamp", "summary", "preserveData"}


class Entries:
    """Turns entries into messages; keeps the model and the title."""

    def __init__(self, report: Report, point: Point | None = None) -> None:
        self._report = report
        self.titles = Titles(report, ("name", "title"))
        self.model = ""
        """In use; what a later reading has to know at its point."""
        if point:
            self.titles.rank, self.model = point.title, point.words

    def messages(self, entry: Json, line: int, offset: int) -> Iterator[Message]:
        """Messages of one entry, of version 1, 2 or 3."""
        kind = text_of(entry.get("type"))
        time = entry.get("timestamp")
        meta = Meta(text_of(entry.get("id")), time_text(time), line=line, offset=offset)
        match kind:
            case "message":
                yield from self._message(json_of(entry.get("message")), meta)
            case "compaction" | "branch_summary":
                yield summary(entry, _SUMMARIES[kind], meta)
            case "custom_message":
                yield from messages(Role.USER, blocks(entry.get("content")), "context", meta)
            case "session_init":
                system = blocks(entry.get("systemPrompt"))
                yield from messages(Role.SYSTEM, system, "", meta)
                yield from messages(Role.USER, blocks(entry.get("task")), "context", meta)
            case "reset_boundary":
                yield Message(Role.NOTE, (Text(b"Context reset"),), "reset", meta)
            case _:
                yield from self._bookkeeping(kind, entry, meta)

    def _bookkeeping(self, kind: str, entry: Json, meta: Meta) -> Iterator[Message]:
        learn = self._report.learn
        if kind in ("session", "model_change"):
            self.model = text_of(entry.get("modelId")) or text_of(entry.get("model"))
            learn("model", self.model)
        if kind == "session":
            learn("id", entry.get("id"))
            learn("cwd", entry.get("cwd"))
            learn("parent", entry.get("parentSession") or entry.get("branchedFrom"))
            return
        if kind == "session_info":
            self.titles.add("name", entry.get("name"))
        elif kind in ("title", "title_change"):
            self.titles.add("title", entry.get("title"))
        elif kind == "custom":
            kind = f"custom {text_of(entry.get('customType'))}".strip()
        elif kind not in _BOOKKEEPING and kind != "model_change":
            label = f"unknown {kind}".strip()
            yield Message(Role.NOTE, (Other(label, json_text(entry)),), label, meta)
            return
        self._report.skipped[kind] += 1

    def _message(self, said: Json, place: Meta) -> Iterator[Message]:
        role = text_of(said.get("role"))
        meta = Meta(
            place.id,
            place.time or time_text(said.get("timestamp")),
            text_of(said.get("model")) or self.model,
            _stop(said),
            usage_of(said.get("usage")),
            place.line,
            place.offset,
        )
        match role:
            case "user":
                found = blocks(said.get("content"))
                self.titles.prompt(" ".join(b.text for b in found if isinstance(b, Text)))
                yield from self._said(Role.USER, found, "", meta)
            case "assistant":
                yield from self._answer(said, meta)
            case "toolResult":
                yield Message(Role.TOOL, (_result(said),), "", meta)
            case "bashExecution":
                yield from _bash(said, meta)
            case "custom" | "hookMessage":
                yield from self._said(Role.USER, blocks(said.get("content")), "context", meta)
            case _:
                label = role or name_of(said.get("role")) or "no role"
                yield from self._said(Role.NOTE, blocks(said.get("content")), label, meta)

    def _answer(self, said: Json, meta: Meta) -> Iterator[Message]:
        """What was said, then the error that ended it."""
        found = blocks(said.get("content"))
        error = blocks(text_of(said.get("errorMessage")))
        if found or not error:
            yield from self._said(Role.ASSISTANT, found, "", meta)
        yield from messages(Role.NOTE, error, "error", meta)

    def _said(self, role: Role, found: list[Block], label: str, meta: Meta) -> Iterator[Message]:
        if not found:
            self._report.skipped["empty message"] += 1
        yield from messages(role, found, label, meta)


def summary(entry: Json, label: str, meta: Meta) -> Message:
    """A compaction's or branch's summary with its figures, and pictures that stand for text."""
    found: list[Block] = [Text(wtf8(text_of(entry.get("summary")) or label))]
    details = {key: value for key, value in entry.items() if key not in _ENVELOPE}
    if details:
        found.append(Other(label, json_text(details)))
    kept = json_of(json_of(entry.get("preserveData")).get("snapcompact"))
    frames = kept.get("frames")
    for frame in frames if isinstance(frames, list) else []:
        data = json_of(frame).get("data")
        if isinstance(data, str):
            found.append(blob_base64("image", text_of(json_of(frame).get("mimeType")), data))
    return Message(Role.NOTE, tuple(found), label, meta)


def usage_of(value: Any) -> Any:
    """Usage in pi's words, None where absent or absurd."""
    spent = json_of(value)
    return usage(
        spent.get("input"), spent.get("output"), spent.get("cacheRead"), spent.get("cacheWrite")
    )


def _stop(said: Json) -> str:
    error = text_of(said.get("errorMessage"))
    return f"error: {error}" if error else text_of(said.get("stopReason"))


def _result(said: Json) -> ToolResult:
    call = name_of(said.get("toolCallId"))
    return ToolResult(call, content_of(said.get("content")), said.get("isError") is True)


def _bash(said: Json, meta: Meta) -> Iterator[Message]:
    """A command the user ran by hand: a call and its result, labelled ``bash``."""
    args = {key: said[key] for key in ("command", "excludeFromContext") if said.get(key)}
    yield Message(Role.USER, (ToolCall(meta.id, "bash", json_text(args)),), "bash", meta)
    failed = said.get("exitCode") not in (0, None) or said.get("cancelled") is True
    content = content_of(said.get("output"))
    yield Message(Role.TOOL, (ToolResult(meta.id, content, failed),), "bash", meta)
