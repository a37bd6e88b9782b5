"""Claude Code session files: records linked into a tree by ``parentUuid``.

Read twice: once for the tree (a compact index, branch.py), once for the messages. What is not on
a left branch is given in file order. Sub-agents inside the file carry the label ``agent ID``.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from snapcompact.errors import SnapcompactError
from snapcompact.files import read_bounded
from snapcompact.history.blocks import Json, blocks, json_of, messages, text_of
from snapcompact.history.formats.claude_records import Records, compaction, meta_of, note
from snapcompact.history.jsontext import json_text
from snapcompact.history.links import Link, LinkNames
from snapcompact.history.model import Message, Other, Role, Text, ToolResult
from snapcompact.history.resume import CannotResume
from snapcompact.history.spans import left
from snapcompact.history.titles import Titles
from snapcompact.history.walk import Step, Walk

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from snapcompact.history.formats import Head, Options
    from snapcompact.history.report import Report
    from snapcompact.history.resume import Point
    from snapcompact.history.source import Source

_BOOKKEEPING = {
    "agent-name",
    "ai-title",
    "bridge-session",
    "custom-title",
    "file-history-delta",
    "file-history-snapshot",
    "last-prompt",
    "mode",
    "permission-mode",
    "pr-link",
    "progress",
    "queue-operation",
    "relocated",
    "started",
    "summary",
    "worktree-state",
}
_SYSTEM_BOOKKEEPING = {"bridge_status", "session_start", "stop_hook_summary", "turn_duration"}
_TITLES = {
    "custom-title": ("customTitle", "title"),
    "ai-title": ("aiTitle", "title"),
}
"""Title records, the strongest first, and the keys their text was seen under."""

NAMES = LinkNames("uuid", "parentUuid", "logicalParentUuid", "isSidechain", "message")

_FACTS = (("sessionId", "id"), ("cwd", "cwd"), ("version", "version"))
FACT_RECORDS = 500
"""Records from which the session's facts are taken; they stand in every one."""

_PERSISTED = re.compile(rb"<persisted-output>.{0,400}?saved to: ([^\n]{1,4096})", re.DOTALL)
MAX_PERSISTED_BYTES = 64 << 20


def sniff(head: Head) -> bool:
    """Records with ``parentUuid``, ``leafUuid``, or ``sessionId`` and ``uuid`` or ``message``."""
    return (
        head.some("parentUuid")
        or head.some("leafUuid")
        or head.some("sessionId", "uuid")
        or head.some("sessionId", "message")
    )


def read(source: Source, options: Options, report: Report) -> Iterator[Message]:
    """The messages of the branch asked for, in file order."""
    return _read(source, options, report, None)


def resume(source: Source, options: Options, report: Report, point: Point) -> Iterator[Message]:
    """The messages of the active branch from `point` on."""
    return _read(source, options, report, point)


def _read(
    source: Source, options: Options, report: Report, point: Point | None
) -> Iterator[Message]:
    walk = Walk(source, options, link, names=NAMES, key=_key, trail=report.trail, point=point)
    session = _Session(source.path, report, agents=not walk.all_side, point=point)
    for step in walk.steps(report):
        found = session.messages(step)
        if session.can_resume(found):
            walk.mark(step, report)
        yield from map(left, found) if step.left else found
    walk.leave_point(session.titles.rank, session.records.began_before)


def _key(record: Json) -> str:
    """A record's id, where it has a place in the tree."""
    return text_of(record.get("uuid"))


def link(record: Json) -> Link | None:
    """A record's place in the tree, None without a ``uuid``."""
    uuid = text_of(record.get("uuid"))
    if not uuid:
        return None
    said = record.get("message")
    parent = text_of(record.get("parentUuid") or record.get("logicalParentUuid"))
    side = record.get("isSidechain") is True
    if type(said) is not dict:
        return Link(uuid, parent, "", "", side)
    return Link(uuid, parent, text_of(said.get("id")), _tool(said.get("content")), side)


def _tool(content: object) -> str:
    """Id of the first call or result in a message's content."""
    if type(content) is list:
        for block in content:
            if type(block) is dict:
                kind = block.get("type")
                if kind == "tool_result":
                    return text_of(block.get("tool_use_id"))
                if kind == "tool_use":
                    return text_of(block.get("id"))
    return ""


class _Session:
    """Turns records into messages."""

    def __init__(
        self, path: Path | None, report: Report, *, agents: bool, point: Point | None
    ) -> None:
        self._path = path
        self._report = report
        self._agents = agents
        self._resumed = point is not None
        self.records = Records(report, point.answers if point else ())
        self.titles = Titles(report, tuple(_TITLES))
        self._facts_left = 0 if point else FACT_RECORDS
        if point:
            self.titles.rank = point.title

    def can_resume(self, found: Iterable[Message]) -> bool:
        """Whether reading could begin with the record that gave `found`: no answer goes on."""
        return (
            type(found) is list
            and not self._facts_left
            and len(found) > 0
            and found[0].role is not Role.ASSISTANT
        )

    def messages(self, step: Step) -> Iterable[Message]:
        """Messages of one record."""
        if self._facts_left:
            self._facts_left -= 1
            for key, name in _FACTS:
                self._report.learn(name, step.record.get(key))
        if step.record.get("type") in ("user", "assistant"):
            return self._conversation(step)
        return self._other(step.record, step.line, step.offset)

    def _conversation(self, step: Step) -> list[Message]:
        record, label = step.record, ""
        if self._agents and step.side:
            agent = text_of(record.get("agentId"))
            if self._resumed and not agent:
                raise CannotResume("sub-agents without ids are numbered from the beginning")
            label = f"agent {agent or step.side}"
        found = self.records.conversation(record, step.line, step.offset, label)
        for index, message in enumerate(found):
            if message.role is Role.TOOL:
                found[index] = self._persisted(message)
            elif message.role is Role.USER and not message.label:
                self.titles.prompt(message)
        return found

    def _other(self, record: Json, line: int, offset: int) -> Iterator[Message]:
        kind = text_of(record.get("type"))
        match kind:
            case "system":
                yield from self._system(record, line, offset)
            case "attachment":
                yield from self._attachment(record, line, offset)
            case "progress" if isinstance(json_of(record.get("data")).get("message"), dict):
                yield from self._progress(record["data"], line, offset)
            case "tool_use" | "tool_result":
                role = Role.ASSISTANT if kind == "tool_use" else Role.USER
                yield from messages(role, blocks(record), "", meta_of(record, {}, line, offset))
            case _ if kind in _BOOKKEEPING:
                self._report.skipped[kind] += 1
                self._title(kind, record)
            case _:
                yield note(record, f"unknown {kind}".strip(), None, line, offset)

    def _title(self, kind: str, record: Json) -> None:
        if kind == "summary":  # of 17 real ones none was about its own file
            self.titles.guess(record.get("summary"))
        elif keys := _TITLES.get(kind):
            self.titles.add(kind, next((record[key] for key in keys if key in record), None))

    def _progress(self, data: Json, line: int, offset: int) -> list[Message]:
        """A sub-agent's message, told as progress of its parent's call."""
        label = f"agent {text_of(data.get('agentId'))}".strip()
        return self.records.conversation(data["message"], line, offset, label)

    def _system(self, record: Json, line: int, offset: int) -> Iterator[Message]:
        subtype = text_of(record.get("subtype"))
        content = record.get("content")
        if subtype in ("compact_boundary", "microcompact_boundary"):
            yield compaction(record, line, offset)
        elif subtype in _SYSTEM_BOOKKEEPING and not content:
            self._report.skipped[f"system {subtype}"] += 1
        else:
            yield note(record, f"system {subtype}".strip(), content, line, offset)

    def _attachment(self, record: Json, line: int, offset: int) -> Iterator[Message]:
        """Context that the program added; a prompt typed while it worked is the user's."""
        inner = json_of(record.get("attachment"))
        kind = text_of(inner.get("type"))
        meta = meta_of(record, {}, line, offset)
        if kind == "queued_command" and (typed := blocks(inner.get("prompt"))):
            yield from messages(Role.USER, typed, "queued", meta)
            return
        label = f"attachment {kind}".strip()
        yield Message(Role.NOTE, (Other(kind or "attachment", json_text(inner)),), label, meta)

    def _persisted(self, message: Message) -> Message:
        """`message` with the whole of a tool's output that lies in a file beside the session."""
        result = message.blocks[0]
        if self._path is None or not isinstance(result, ToolResult):
            return message
        for part in result.content:
            if isinstance(part, Text) and (found := _PERSISTED.match(part.data)):
                whole = self._beside(found[1])
                if whole is not None:
                    result = replace(result, content=(*result.content, whole))
                    return replace(message, blocks=(result,))
        return message

    def _beside(self, said: bytes) -> Other | None:
        """The file of that name in the session's own folder; its stated path is not trusted."""
        path = self._path
        name = said.decode("utf-8", "replace").strip().replace("\\", "/").rpartition("/")[2]
        if path is None or name in ("", ".", "..") or "\0" in name:
            return None
        file = _folder(path) / "tool-results" / name
        if file.is_symlink() or not file.is_file():
            return None
        try:
            return Other(f"persisted-output {name}", read_bounded(file, MAX_PERSISTED_BYTES))
        except SnapcompactError as error:
            self._report.notes.append(str(error))
            return None


def _folder(path: Path) -> Path:
    """Folder of a session's extra files; sub-agents lie inside their parent's."""
    if path.parent.name == "subagents":
        return path.parent.parent
    return path.with_suffix("")
