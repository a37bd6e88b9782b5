"""Codex CLI rollouts, ``rollout-*.jsonl`` and ``.jsonl.zst``.

Everything said is there twice, as ``response_item`` and as ``event_msg`` (twins.py keeps one).
A ``thread_rolled_back`` leaves the last user turns before it; they are found in a first reading,
made only where the file has such a record.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from snapcompact.history.blocks import Json, blocks, json_of, messages, text_of
from snapcompact.history.formats import codex_items
from snapcompact.history.jsontext import json_text
from snapcompact.history.model import Block, Message, Meta, Other, Role, Text, wtf8
from snapcompact.history.records import contains, records
from snapcompact.history.report import Report
from snapcompact.history.resume import CannotResume, Mark, Point
from snapcompact.history.spans import Span, Spans
from snapcompact.history.titles import Titles
from snapcompact.history.twins import Twins
from snapcompact.history.usage import usage_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from snapcompact.history.formats import Head, Options
    from snapcompact.history.source import Source

_TYPES = {"session_meta", "response_item", "event_msg", "turn_context", "compacted"}
_OLD_TYPES = {"tool_call", "tool_result", "reasoning", "function_call", "function_call_output"}
_BOOKKEEPING = {
    "inter_agent_communication_metadata",
    "state",
    "token_usage_record",
    "turn_context",
    "world_state",
}
_EVENT_BOOKKEEPING = {
    "agent_reasoning_section_break",
    "context_compacted",
    "sub_agent_activity",
    "task_complete",
    "task_started",
    "thread_goal_updated",
    "thread_rolled_back",
    "thread_settings_applied",
    "turn.completed",
    "turn_diff",
}
_TOLD = {"user_message": "message", "agent_message": "message", "agent_reasoning": "text"}
_TOLD_ITEMS = {"UserMessage": Role.USER, "AgentMessage": Role.ASSISTANT, "Plan": Role.ASSISTANT}
_RESULTS = ("function_call_output", "custom_tool_call_output")
CALLS_REMEMBERED = 65_536


def sniff(head: Head) -> bool:
    """Envelopes with an object ``payload``; or the bare items of very old files."""
    if any(isinstance(record, dict) and _is_envelope(record) for record in head.records):
        return True
    return bool(head.types() & _OLD_TYPES) and head.some("timestamp", "role", "content")


def _is_envelope(record: Json) -> bool:
    return (
        text_of(record.get("type")) in _TYPES
        and "timestamp" in record
        and isinstance(record.get("payload"), dict)
    )


def read(source: Source, options: Options, report: Report) -> Iterator[Message]:
    """The messages that were not rolled back; with branch ``all`` those too, marked as left."""
    spans = Spans(_rolled_back(source), options.branch)
    report.branches += spans.branches
    rollout = _Rollout(report)
    for record, line, offset in records(source, report):
        if spans.ended(line):
            break
        if spans.dropped(line):
            report.skipped["left branch"] += 1
            continue
        rollout.mark(record, line, offset)
        for message in rollout.feed(record, line, offset):
            yield spans.marked(message)
    for message in rollout.rest():
        yield spans.marked(message)
    rollout.leave_point()


def resume(source: Source, options: Options, report: Report, point: Point) -> Iterator[Message]:
    """The messages from `point` on, where nothing behind its warm-up was rolled back."""
    if contains(source, b'"thread_rolled_back"'):
        raise CannotResume("turns were rolled back")
    rollout = _Rollout(report, point)
    for record, line, offset in records(source, report, first=point.warm_line):
        if offset == point.offset:  # what was counted up to here was counted before
            report.skipped.clear()
            report.skipped.update(point.skipped)
            report.damage.counts.clear()
            report.damage.counts.update(point.damage)
        rollout.mark(record, line, offset)
        for message in rollout.feed(record, line, offset):
            if message.meta.offset >= point.offset:
                yield message
    yield from (m for m in rollout.rest() if m.meta.offset >= point.offset)
    rollout.leave_point()


def _rolled_back(source: Source) -> Iterator[Span]:
    """The last user turns before each rollback."""
    if not contains(source, b'"thread_rolled_back"'):
        return
    turns: list[int] = []
    quiet = Report()
    for record, line, _ in records(source, quiet):
        payload = json_of(record.get("payload"))
        if payload.get("role") == "user":
            said = codex_items.item(payload, Meta(), quiet)
            turns += [line] if any(message.label == "" for message in said) else []
        elif payload.get("type") == "thread_rolled_back":
            count = payload.get("num_turns")
            if type(count) is int and count > 0 and turns:
                yield Span(turns[-min(count, len(turns))], line)
                del turns[-count:]


class _Rollout:
    def __init__(self, report: Report, point: Point | None = None) -> None:
        self._report = report
        self._twins = Twins(report)
        self._titles = Titles(report, ("thread_name",))
        self._calls: dict[str, None] = {}
        self._model = ""
        self._own = self._resumed = point is not None
        self._total: object = None
        if point:
            self._titles.rank, self._model = point.title, point.words

    def mark(self, record: Json, line: int, offset: int) -> None:
        """A later reading could begin with a question or a result."""
        trail, payload = self._report.trail, json_of(record.get("payload"))
        asks = payload.get("role") == "user" or payload.get("type") in _RESULTS
        if trail is not None and asks and record.get("type") == "response_item" and trail.due():
            skipped, damage = dict(self._report.skipped), dict(self._report.damage.counts)
            trail.marks.append(Mark(offset, line, 0, (), skipped, damage, self._model))

    def leave_point(self) -> None:
        """All is told. The twins know what came some 200 items before: reading begins there."""
        trail = self._report.trail
        if trail is not None and len(trail.marks) == trail.marks.maxlen:
            warm = trail.marks[0]
            trail.point = Point(
                *trail.last._replace(words=warm.words),
                title=self._titles.rank,
                warm_offset=warm.offset,
                warm_line=warm.line,
            )

    def _may_know(self, call: str) -> None:
        """Raise CannotResume where a call that is not known here may be one from before."""
        if self._resumed and call:
            raise CannotResume(f"call {call} may have been told before")

    def feed(self, record: Json, line: int, offset: int) -> Iterator[Message]:
        """The messages that are decided once `record` is known."""
        self._record(record, line, offset)
        return self._twins.ready()

    def rest(self) -> Iterator[Message]:
        """The messages still held at the end."""
        return self._twins.rest()

    def _record(self, record: Json, line: int, offset: int) -> None:
        kind = text_of(record.get("type")) or text_of(record.get("record_type"))
        meta = Meta(
            time=text_of(record.get("timestamp")), model=self._model, line=line, offset=offset
        )
        payload = json_of(record.get("payload"))
        if "payload" not in record and kind not in _BOOKKEEPING:
            self._bare(record, kind, meta)
            return
        match kind:
            case "session_meta":
                self._session_meta(payload, meta)
            case "response_item":
                self._item(payload, meta)
            case "event_msg":
                self._event(payload, meta)
            case "compacted":
                self._compacted(payload, meta)
            case _ if kind in _BOOKKEEPING:
                self._report.skipped[kind] += 1
                self._learn_model(payload)
            case _:
                self._twins.other([_note(f"unknown {kind}".strip(), record, meta)])

    def _bare(self, record: Json, kind: str, meta: Meta) -> None:
        """A record of a very old file: an item by itself, or the header."""
        if "role" in record or kind in _OLD_TYPES or kind.endswith(("_call", "_output")):
            self._item(record, meta)
        elif kind:
            self._twins.other([_note(kind, record, meta)])
        elif "id" in record and "timestamp" in record:
            self._session_meta(record, meta)
        else:
            self._twins.other([_note("no type", record, meta)])

    def _session_meta(self, payload: Json, meta: Meta) -> None:
        """The first is the file's own; later ones came with the records of a parent thread."""
        if self._own:
            self._report.skipped["session_meta of another thread"] += 1
            return
        self._own = True
        learn = self._report.learn
        learn("id", payload.get("id"))
        learn("cwd", payload.get("cwd"))
        learn("version", payload.get("cli_version"))
        learn("parent", payload.get("forked_from_id") or payload.get("parent_thread_id"))
        said = payload.get("base_instructions", payload.get("instructions"))
        found = blocks(json_of(said).get("text") if isinstance(said, dict) else said)
        self._twins.other(list(messages(Role.SYSTEM, found, "instructions", meta)))

    def _learn_model(self, payload: Json) -> None:
        if model := text_of(payload.get("model")):
            self._model = model
            self._report.learn("model", model)

    def _item(self, payload: Json, meta: Meta) -> None:
        meta = meta._replace(id=text_of(payload.get("id")))
        found = codex_items.item(payload, meta, self._report)
        for message in found:
            if message.role is Role.USER and not message.label:
                self._titles.prompt(message.text)
        self._remember(payload.get("call_id"), payload.get("id"))
        self._twins.item(found, codex_items.texts(found))

    def _remember(self, *ids: object) -> None:
        for call in ids:
            if isinstance(call, str) and call:
                self._calls[call] = None
        while len(self._calls) > CALLS_REMEMBERED:
            del self._calls[next(iter(self._calls))]

    def _event(self, payload: Json, meta: Meta) -> None:
        kind = text_of(payload.get("type"))
        call = text_of(payload.get("call_id", payload.get("callId")))
        if kind in _TOLD:
            self._told(kind, payload, meta)
        elif kind == "item_completed":
            self._completed(json_of(payload.get("item")), meta)
        elif kind == "token_count":
            self._tokens(payload)
        elif kind == "thread_name_updated":
            self._titles.add("thread_name", payload.get("thread_name"))
            self._report.skipped[f"event {kind}"] += 1
        elif kind in _EVENT_BOOKKEEPING or kind.endswith(("_begin", "_delta")):
            self._report.skipped[f"event {kind}"] += 1
        elif call and call in self._calls:
            self._report.duplicates["event twin"] += 1
        elif kind == "tool_call":
            self._may_know(call)
            call_of = codex_items.tool_call(payload)
            self._twins.other([Message(Role.ASSISTANT, (call_of,), "", meta)])
        else:
            self._may_know(call)
            self._twins.other([_event_note(kind, payload, meta)])

    def _told(self, kind: str, payload: Json, meta: Meta) -> None:
        said = text_of(payload.get(_TOLD[kind]))
        words = said.strip()
        if not words:
            self._report.skipped[f"event {kind}"] += 1
            return
        role = "assistant" if kind == "agent_message" else "user"
        told: Json = {"type": "message", "role": role, "content": said}
        if kind == "agent_reasoning":
            told = {"type": "reasoning", "summary": [{"text": said}]}
        self._twins.event(kind, codex_items.item(told, meta, self._report), words)

    def _completed(self, item: Json, meta: Meta) -> None:
        """An item told whole for the screen, before its twin; ids of user messages differ."""
        kind, item_id = text_of(item.get("type")), text_of(item.get("id"))
        if item_id in self._calls:
            self._report.duplicates["event twin"] += 1
            return
        self._may_know(item_id)
        if kind == "Reasoning":
            found: list[Block] = []
        elif kind in _TOLD_ITEMS:
            content = item.get("content", item.get("text"))
            parts = content if isinstance(content, list) else [content]
            texts = [part.get("text") if isinstance(part, dict) else part for part in parts]
            found = blocks([text for text in texts if isinstance(text, str)])
        else:
            self._twins.other([_event_note(f"item {kind}", item, meta)])
            return
        if not found:
            self._report.skipped[f"event item {kind}"] += 1
            return
        role = _TOLD_ITEMS[kind]
        message = Message(role, tuple(found), "plan" if kind == "Plan" else "", meta)
        self._twins.event("item_completed", [message], _joined(found))

    def _tokens(self, payload: Json) -> None:
        """Usage of the newest answer; the same total again says nothing new."""
        info = json_of(payload.get("info"))
        total, spent = info.get("total_token_usage"), usage_of(info.get("last_token_usage"))
        if spent is None or total == self._total or not self._twins.usage(spent):
            self._report.skipped["event token_count"] += 1
        self._total = total

    def _compacted(self, payload: Json, meta: Meta) -> None:
        """The summary; the new context it stands in repeats what the file has already."""
        said = text_of(payload.get("message"))
        found: list[Block] = [Text(wtf8(said or "Context compacted"))]
        history = payload.get("replacement_history")
        if isinstance(history, list):
            self._report.duplicates["compacted context"] += len(history)
        self._twins.other([Message(Role.NOTE, tuple(found), "compaction", meta)])


def _joined(found: list[Block]) -> str:
    return "".join(block.text.strip() for block in found if isinstance(block, Text))


def _note(label: str, record: Json, meta: Meta) -> Message:
    return Message(Role.NOTE, (Other(label, json_text(record)),), label, meta)


def _event_note(kind: str, payload: Json, meta: Meta) -> Message:
    """An event that no item repeats: its words, else all of it."""
    if kind in ("error", "warning", "stream_error", "background_event"):
        said = text_of(payload.get("message"))
        if said:
            return Message(Role.NOTE, (Text(wtf8(said)),), kind, meta)
    if kind == "image_generation_end" and (found := codex_items.picture(payload)):
        return Message(Role.NOTE, (found,), kind, meta)
    return _note(f"event {kind}".strip(), payload, meta)
