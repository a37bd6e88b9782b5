"""Records of pi's session files as entries of the engine."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

from snapcompact.compaction.entries import (
    BASH,
    BRANCH_SUMMARY,
    CUSTOM,
    SUMMARY,
    Entry,
    Files,
    Kind,
    Mark,
    summary_message,
)
from snapcompact.history.blobs import blob_base64
from snapcompact.history.blocks import blocks, json_of, name_of, result_content, text_of
from snapcompact.history.formats.pi_entries import usage_of
from snapcompact.history.model import (
    Block,
    Message,
    Meta,
    Other,
    Role,
    Text,
    ToolResult,
    wtf8,
)

if TYPE_CHECKING:
    from snapcompact.compaction.writers.contract import Json


def pi_entry(record: Json, entry_id: str, parent: str | None, numbered: list[str]) -> Entry:
    """The entry of a record. `numbered` are the ids by file line, for version 1's indexes."""
    kind = text_of(record.get("type"))
    time_ms = _time_ms(record)
    if kind in ("compaction", "branch_summary"):
        return _summary(record, entry_id, parent, numbered, time_ms)
    if kind == "model_change":
        model = text_of(record.get("modelId")) or text_of(record.get("model"))
        provider = text_of(record.get("provider"))
        return Entry(entry_id, Kind.MODEL, parent=parent, provider=provider, value=model)
    if kind == "thinking_level_change":
        level = text_of(record.get("thinkingLevel"))
        return Entry(entry_id, Kind.THINKING, parent=parent, value=level)
    if kind == "reset_boundary":
        return Entry(entry_id, Kind.RESET, parent=parent, time_ms=time_ms)
    if kind == "custom_message":
        said = Message(Role.USER, tuple(blocks(record.get("content"))), CUSTOM, Meta(entry_id))
        return Entry(entry_id, Kind.CUSTOM, said, parent, time_ms=time_ms)
    if kind != "message":
        return Entry(entry_id, Kind.META, parent=parent, time_ms=time_ms)
    return _message(json_of(record.get("message")), entry_id, parent, time_ms)


def _summary(
    record: Json, entry_id: str, parent: str | None, numbered: list[str], time_ms: int
) -> Entry:
    text, details = text_of(record.get("summary")), json_of(record.get("details"))
    files = Files(_paths(details.get("readFiles")), _paths(details.get("modifiedFiles")))
    foreign = record.get("fromHook") is True or record.get("fromExtension") is True
    if record["type"] == "branch_summary":
        said = summary_message(text, label=BRANCH_SUMMARY)
        return Entry(entry_id, Kind.BRANCH, said, parent, Mark(text, "", files, foreign), time_ms)
    first = text_of(record.get("firstKeptEntryId"))
    index = record.get("firstKeptEntryIndex")
    if not first and isinstance(index, int) and 0 <= index < len(numbered) - 1:
        first = next((one for one in numbered[index:-1] if one), "")
    said = Message(Role.USER, (Text(wtf8(text)), *_frames(record)), SUMMARY)
    return Entry(
        entry_id, Kind.COMPACTION, said, parent, Mark(text, first, files, foreign), time_ms
    )


def _paths(value: Any) -> tuple[str, ...]:
    listed = value if isinstance(value, list) else []
    return tuple(path for path in listed if isinstance(path, str))


def _frames(record: Json) -> list[Block]:
    """The pictures and edges of text that oh-my-pi puts behind a summary."""
    kept = json_of(json_of(record.get("preserveData")).get("snapcompact"))
    found = blocks(text_of(kept.get("textHead")))
    frames = kept.get("frames")
    for frame in frames if isinstance(frames, list) else []:
        data = json_of(frame).get("data")
        if isinstance(data, str):
            found.append(blob_base64("image", text_of(json_of(frame).get("mimeType")), data))
    return found + blocks(text_of(kept.get("textTail")))


def _message(said: Json, entry_id: str, parent: str | None, time_ms: int) -> Entry:
    role = text_of(said.get("role"))
    total = json_of(said.get("usage")).get("totalTokens")
    entry = Entry(
        entry_id, Kind.MESSAGE, None, parent,
        time_ms=said["timestamp"] if isinstance(said.get("timestamp"), int) else time_ms,
        provider=text_of(said.get("provider")),
        reported_total=total if isinstance(total, int) else 0,
    )  # fmt: skip
    error = text_of(said.get("errorMessage"))
    meta = Meta(
        entry_id, model=text_of(said.get("model")), usage=usage_of(said.get("usage")),
        stop=f"error: {error}" if error else text_of(said.get("stopReason")),
    )  # fmt: skip
    content = tuple(blocks(said.get("content")))
    tools = {}
    if role == "system":  # pi's own prompt, sent whatever is compacted
        return entry
    if role == "assistant":
        message = Message(Role.ASSISTANT, content, meta=meta)
    elif role == "toolResult":
        call = name_of(said.get("toolCallId"))
        failed = said.get("isError") is True
        tools = {call: name_of(said.get("toolName"))}
        result = ToolResult(call, result_content(said.get("content")), failed)
        message = Message(Role.TOOL, (result,), meta=meta)
    elif role == "bashExecution":
        if said.get("excludeFromContext") is True:
            return entry
        message = _bash(said, meta)
    elif role in ("custom", "hookMessage"):
        message = Message(Role.USER, content, CUSTOM, meta)
    elif role == "user":
        message = Message(Role.USER, content, meta=meta)
    else:
        message = Message(Role.NOTE, content, role, meta)
    return Entry(
        entry.id, entry.kind, message, parent, time_ms=entry.time_ms, provider=entry.provider,
        reported_total=entry.reported_total, tools=tools,
    )  # fmt: skip


def _bash(said: Json, meta: Meta) -> Message:
    parts: list[Block] = [
        Text(wtf8(text_of(said.get("command")))), Text(wtf8(text_of(said.get("output")))),
    ]  # fmt: skip
    if code := said.get("exitCode"):
        parts.append(Other("exit", str(code).encode()))
    return Message(Role.USER, tuple(parts), BASH, meta)


def _time_ms(record: Json) -> int:
    try:
        return int(datetime.fromisoformat(text_of(record.get("timestamp"))).timestamp() * 1000)
    except ValueError:
        return 0
