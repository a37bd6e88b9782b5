"""OpenAI Chat Completions messages: a request or a bare list as one JSON document, or JSON Lines.

Lines are messages, or requests with ``messages`` of their own. Also SWE-agent trajectories, whose
list is called ``history``. Messages whose content is in Anthropic's blocks are read as well.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from snapcompact.history.blocks import Json, blocks, call_args, json_of, messages, name_of, text_of
from snapcompact.history.blocks import result_content as content_of
from snapcompact.history.documents import document
from snapcompact.history.jsontext import json_text
from snapcompact.history.model import (
    Block,
    Message,
    Meta,
    Other,
    Role,
    Thinking,
    ToolCall,
    ToolResult,
    wtf8,
)
from snapcompact.history.records import records
from snapcompact.history.usage import usage_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from snapcompact.history.formats import Head, Options
    from snapcompact.history.report import Report
    from snapcompact.history.source import Source

_ROLES = {
    "system": Role.SYSTEM,
    "developer": Role.SYSTEM,
    "user": Role.USER,
    "assistant": Role.ASSISTANT,
    "tool": Role.TOOL,
    "function": Role.TOOL,
}
_LISTS = ("messages", "history")


def sniff(head: Head) -> bool:
    """A request with messages, a list of messages, or lines that are messages."""
    whole = head.document
    if isinstance(whole, dict) and any(isinstance(whole.get(key), list) for key in _LISTS):
        return True
    if isinstance(whole, list):
        return any(_is_message(item) for item in whole)
    return any(_is_message(item) or _is_request(item) for item in head.records)


def _is_message(item: Any) -> bool:
    return isinstance(item, dict) and "role" in item and ("content" in item or "tool_calls" in item)


def _is_request(item: Any) -> bool:
    return isinstance(item, dict) and "model" in item and isinstance(item.get("messages"), list)


def read(source: Source, options: Options, report: Report) -> Iterator[Message]:
    """The messages in file order; requests on lines of their own follow each other."""
    whole = document(source, report)
    if whole is not None:
        yield from _request(whole.value, Meta(), report)
        return
    for record, line, offset in records(source, report):
        meta = Meta(line=line, offset=offset)
        if isinstance(record.get("messages"), list):
            yield from _request(record, meta, report)
        else:
            yield from message(record, meta, report)


def _request(value: Any, meta: Meta, report: Report) -> Iterator[Message]:
    model = ""
    if isinstance(value, dict):
        model = text_of(value.get("model"))
        report.learn("model", model)
        value = next((value[key] for key in _LISTS if isinstance(value.get(key), list)), [value])
    for item in value if isinstance(value, list) else [value]:
        place = Meta(model=model, line=meta.line, offset=meta.offset)
        yield from message(json_of(item) or {"content": item}, place, report)


def message(item: Json, place: Meta, report: Report) -> Iterator[Message]:
    """Our messages for one of theirs; one that says nothing is counted as skipped."""
    said = item.get("role")
    role = _ROLES.get(said, Role.NOTE) if isinstance(said, str) else Role.NOTE
    meta = Meta(
        id=text_of(item.get("id")),
        model=text_of(item.get("model")) or place.model,
        usage=usage_of(item.get("usage")),
        line=place.line,
        offset=place.offset,
    )
    if role is Role.TOOL:
        yield Message(role, (_result(item),), _result_label(item), meta)
        return
    found = _blocks(item)
    if not found:
        report.skipped["empty message"] += 1
    yield from messages(role, found, _label(item), meta)


def _label(item: Json) -> str:
    """What the role does not say: a name unknown to us, ``developer``, ``no role``, a type."""
    said = item.get("role")
    if isinstance(said, str) and said in ("system", "user", "assistant"):
        return ""
    if said is None:
        return text_of(item.get("type")) or "no role"
    return name_of(said)


def _result_label(item: Json) -> str:
    """The old ``function`` role pairs by name, so its name is kept."""
    return f"function {name_of(item.get('name'))}" if item.get("role") == "function" else ""


def _result(item: Json) -> ToolResult:
    ids = item.get("tool_call_ids")
    call_id = item.get("tool_call_id")
    if call_id is None and isinstance(ids, list) and ids:  # SWE-agent
        call_id = ids[0]
    return ToolResult(name_of(call_id), content_of(item.get("content")))


def _blocks(item: Json) -> list[Block]:
    if "role" not in item and "content" not in item:
        return [_whole(item)]
    found: list[Block] = []
    thought = item.get("reasoning_content") or item.get("reasoning")
    if isinstance(thought, str):
        found.append(Thinking(wtf8(thought)))
    found += blocks(item.get("content"))
    found += blocks(_refusal(item))
    found += [_call(call) for call in _list(item.get("tool_calls"))]
    if isinstance(old := item.get("function_call"), dict):
        found.append(_call({"function": old}))
    return found


def _refusal(item: Json) -> str:
    return text_of(item.get("refusal"))


def _list(value: Any) -> list[Any]:
    if value is None:
        return []
    return value if isinstance(value, list) else [value]


def _call(call: Any) -> Block:
    if not isinstance(call, dict):
        return Other("tool_call", json_text(call))
    inner = json_of(call.get("function")) or json_of(call.get("custom"))
    args = inner.get("arguments", inner.get("input"))
    return ToolCall(name_of(call.get("id")), name_of(inner.get("name")), call_args(args))


def _whole(item: Json) -> Other:
    return Other(text_of(item.get("type")) or "record", json_text(item))
