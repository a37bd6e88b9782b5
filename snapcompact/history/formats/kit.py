"""kit sessions: pi's tree with snake-case keys and typed ``parts``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from snapcompact.history.blobs import blob_base64
from snapcompact.history.blocks import (
    Json,
    blocks,
    call_args,
    json_of,
    messages,
    name_of,
    result_content,
    text_of,
)
from snapcompact.history.formats.pi_entries import summary
from snapcompact.history.jsontext import json_text
from snapcompact.history.links import Link, LinkNames
from snapcompact.history.model import (
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
from snapcompact.history.titles import Titles
from snapcompact.history.walk import Walk, told

if TYPE_CHECKING:
    from collections.abc import Iterator

    from snapcompact.history.formats import Head, Options
    from snapcompact.history.report import Report
    from snapcompact.history.resume import Point
    from snapcompact.history.source import Source

_ROLES = {
    "user": Role.USER,
    "assistant": Role.ASSISTANT,
    "tool": Role.USER,  # its parts are results, which become messages of role TOOL
    "system": Role.SYSTEM,
}
_BOOKKEEPING = {"label", "extension_data", "model_change", "thinking_level_change"}
_SUMMARIES = {"compaction": "compaction", "branch_summary": "branch summary"}
_ENVELOPE = {"parent_id"}


NAMES = LinkNames("id", "parent_id", outside=("session", "system_prompt"))


def sniff(head: Head) -> bool:
    """A ``session`` header, and entries with ``parent_id`` or with ``role`` and ``parts``."""
    return "session" in head.types() and (
        head.some("type", "parent_id") or head.some("type", "role", "parts")
    )


def read(source: Source, options: Options, report: Report) -> Iterator[Message]:
    """The messages on the path to the last entry, in file order."""
    walk = Walk(source, options, link, names=NAMES, one_path=True, trail=report.trail)
    return told(walk, _Session(report, None), report, _asks)


def resume(source: Source, options: Options, report: Report, point: Point) -> Iterator[Message]:
    """The messages on the active path from `point` on."""
    walk = Walk(source, options, link, one_path=True, trail=report.trail, point=point)
    return told(walk, _Session(report, point), report, _asks)


def _asks(entry: Json) -> bool:
    """Whether an entry gives a message that no answer goes on with."""
    return entry.get("role") in ("user", "tool")


def link(entry: Json) -> Link | None:
    """An entry's place; the header and the system prompt stand outside the tree."""
    entry_id = text_of(entry.get("id"))
    if not entry_id or entry.get("type") in NAMES.outside:
        return None
    return Link(entry_id, text_of(entry.get("parent_id")))


class _Session:
    model = ""
    """Entries name their own."""

    def __init__(self, report: Report, point: Point | None) -> None:
        self._report = report
        self.titles = Titles(report, ("name",))
        if point:
            self.titles.rank = point.title

    def messages(self, entry: Json, line: int, offset: int) -> Iterator[Message]:
        kind = text_of(entry.get("type"))
        meta = Meta(
            id=text_of(entry.get("id")),
            time=text_of(entry.get("timestamp")),
            model=text_of(entry.get("model")),
            line=line,
            offset=offset,
        )
        match kind:
            case "message":
                yield from self._message(entry, meta)
            case "system_prompt":
                yield from messages(Role.SYSTEM, blocks(entry.get("content")), "", meta)
            case "compaction" | "branch_summary":
                said = {key: value for key, value in entry.items() if key not in _ENVELOPE}
                yield summary(said, _SUMMARIES[kind], meta)
            case "session":
                for key, name in (("id", "id"), ("cwd", "cwd"), ("parent_session_id", "parent")):
                    self._report.learn(name, entry.get(key))
            case "session_info":
                self.titles.add("name", entry.get("name"))
                self._report.skipped[kind] += 1
            case _ if kind in _BOOKKEEPING:
                self._report.skipped[kind] += 1
            case _:
                label = f"unknown {kind}".strip()
                yield Message(Role.NOTE, (Other(label, json_text(entry)),), label, meta)

    def _message(self, entry: Json, meta: Meta) -> Iterator[Message]:
        said = text_of(entry.get("role"))
        role = _ROLES.get(said, Role.NOTE)
        parts = entry.get("parts")
        found = [
            block
            for part in (parts if isinstance(parts, list) else [])
            for block in part_blocks(part, self._report)
        ]
        if role is Role.USER:
            self.titles.prompt(" ".join(b.text for b in found if isinstance(b, Text)))
        if not found:
            self._report.skipped["empty message"] += 1
        label = (said or "no role") if role is Role.NOTE else ""
        yield from messages(role, found, label, meta)


def part_blocks(part: Any, report: Report) -> list[Block]:
    """The blocks of one typed part; a ``finish`` part is counted as skipped."""
    kind, data = text_of(json_of(part).get("type")), json_of(json_of(part).get("data"))
    match kind:
        case "text":
            return blocks(data.get("text"))
        case "reasoning":
            thought = wtf8(text_of(data.get("thinking")))
            return [Thinking(thought, 0 if thought else len(text_of(data.get("signature"))))]
        case "tool_call":
            args = call_args(data.get("input"))
            return [ToolCall(name_of(data.get("id")), name_of(data.get("name")), args)]
        case "tool_result":
            call, content = name_of(data.get("tool_call_id")), result_content(data.get("content"))
            return [ToolResult(call, content, data.get("is_error") is True)]
        case "image" if isinstance(data.get("data"), str):
            return [blob_base64("image", text_of(data.get("media_type")), data["data"])]
        case "finish":
            report.skipped["finish part"] += 1
            return []
    return [Other(kind or "part", json_text(part))]
