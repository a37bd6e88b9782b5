"""kit's vectors under the ``kit`` policy."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from snapcompact.compaction.context import build_context, check_first_kept
from snapcompact.compaction.counting import count_message, count_text, rule_estimator
from snapcompact.compaction.cut import find_cut, forced_cut, slots_of, split_at
from snapcompact.compaction.entries import Entry, Kind
from snapcompact.compaction.files import file_lists, file_ops
from snapcompact.compaction.guard import check_summary
from snapcompact.compaction.install import installed
from snapcompact.compaction.media import attachment_text
from snapcompact.compaction.occupancy import tokens_after, trigger_tokens
from snapcompact.compaction.outcome import Reason, manual_gate
from snapcompact.compaction.policy import preset
from snapcompact.compaction.prepare import CutRequest, prepare
from snapcompact.compaction.prompt import PromptParts, build_prompt, prompt_file, template_text
from snapcompact.compaction.recovery import Turn, overflow_turn
from snapcompact.compaction.request import call_prompt, finish, plan_calls
from snapcompact.compaction.restore import is_protected
from snapcompact.compaction.serialise import cut_bytes
from snapcompact.compaction.trigger import keep_budget, resolve_reserve, should_compact
from snapcompact.errors import InputError
from snapcompact.history.model import (
    Blob,
    Block,
    Message,
    Role,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    wtf8,
)
from tests.conformance.notation import compact_json, log_entries

KIT = preset("kit")
ESTIMATE = rule_estimator(KIT.tokens)


def _x(count: int) -> bytes:
    return b"x" * count


def _media(chars: int) -> Blob:
    return Blob("image", size=chars * 3 // 4)


def _part(part: Mapping[str, Any]) -> list[Block]:
    blocks: list[Block] = []
    if "text_chars" in part:
        blocks.append(Text(_x(part["text_chars"])))
    if "reasoning_chars" in part:
        blocks.append(Thinking(_x(part["reasoning_chars"])))
    if "tool_call" in part:
        blocks.append(ToolCall("c", part["tool_call"], _x(part.get("input_chars", 0))))
    keys = ("tool_result_text_chars", "tool_result_error_chars")
    blocks += [ToolResult("c", (Text(_x(part[key])),)) for key in keys if key in part]
    if part.get("tool_result_error"):
        blocks.append(ToolResult("c", (Text(wtf8(part["tool_result_error"])),), is_error=True))
    if "tool_result_media_data_chars" in part:
        blocks.append(ToolResult("c", (_media(part["tool_result_media_data_chars"]),)))
    return blocks + _file(part)


def _file(part: Mapping[str, Any]) -> list[Block]:
    """A file attachment; whatever says name or size in a key that speaks of a file."""
    size, name = 0, ""
    for key, value in part.items():
        if key.startswith(("file", "data_", "attachment")):
            if "name" in key:
                name = value if isinstance(value, str) else "n" * value
            elif isinstance(value, int):
                size = value
    return [Blob("file", name=name, size=size)] if size or name else []


def estimate_message_tokens(given: Mapping[str, Any]) -> int:
    blocks = [block for part in given["parts"] for block in _part(part)]
    return count_message(Message(Role(given["role"]), tuple(blocks)), KIT.tokens)


def _calls(spec: Mapping[str, Any], number: int) -> list[ToolCall]:
    """Calls of a message: ``[[tool, path], …]`` or ``{tool: input}``."""
    given = spec.get("calls") or spec.get("tool_call") or []
    pairs = given.items() if isinstance(given, dict) else given
    return [
        ToolCall(
            f"c{number}.{place}", name,
            compact_json(value if isinstance(value, dict) else {"path": value}),
        )
        for place, (name, value) in enumerate(pairs)
    ]  # fmt: skip


def _entries(messages: list[dict[str, Any]]) -> tuple[Entry, ...]:
    made: list[Entry] = []
    for number, spec in enumerate(messages):
        role = Role(spec["role"])
        text = Text(_x(4 * spec.get("tokens", 0)))
        block: Block = ToolResult(f"t{number}", (text,)) if role is Role.TOOL else text
        message = Message(role, (block, *_calls(spec, number)))
        parent = made[-1].id if made else None
        made.append(Entry(f"e{number}", Kind.MESSAGE, message, parent))
    return tuple(made)


def find_cut_point(given: Mapping[str, Any]) -> int:
    keep = given["keep_recent_tokens"] or KIT.trigger.keep_tokens
    cut = find_cut(_entries(given["messages"]), keep, ESTIMATE, KIT.cut)
    return cut.index if cut else 0


def force_cut_point(given: Mapping[str, Any]) -> int:
    cut = forced_cut(_entries(given["messages"]), ESTIMATE, KIT.cut)
    return cut.index if cut else 0


def is_split_turn(given: Mapping[str, Any]) -> bool:
    slots = slots_of(_entries(given["messages"]), ESTIMATE, KIT.cut)
    return split_at(slots, given["cut"], KIT.cut).is_split


def _should_compact(given: Mapping[str, Any]) -> bool:
    rules = replace(KIT.trigger, reserve_tokens=given["reserve"])
    return should_compact(rules, given["context_tokens"], given["window"])


def should_compact_live(given: Mapping[str, Any]) -> bool:
    rules = replace(KIT.trigger, reserve_tokens=given.get("reserve", 16384))
    last = given.get("last_api_tokens", 0)
    tokens = trigger_tokens(KIT.usage, last, given.get("estimate", 0))
    return should_compact(rules, tokens, given["window"])


def adaptive_reserve_tokens(given: Mapping[str, Any]) -> int:
    return resolve_reserve(KIT.trigger, given.get("window", 0), given["max_output"])[0]


def adaptive_keep_recent_tokens(given: Mapping[str, Any]) -> int:
    rules = replace(KIT.trigger, reserve_tokens=given["reserve"])
    return keep_budget(rules, given["window"])


def option_defaults(given: Mapping[str, Any]) -> dict[str, int]:
    rules = replace(KIT.trigger, reserve_tokens=given["reserve"] or None)
    reserve = resolve_reserve(rules, given["window"], given["max_output"])[0]
    keep = given["keep_recent"] or keep_budget(rules, given["window"], given["max_output"])
    return {"keep_recent": keep, "reserve": reserve}


def truncate_tool_result(given: Mapping[str, Any]) -> dict[str, Any]:
    cut = cut_bytes(_x(given["chars"]), KIT.serial.result_limit, KIT.serial.marker)
    kept = cut.rstrip(b" ").split(b"\n")[0]
    return {"length": len(cut), "suffix": cut[len(kept) :].decode()}


def extract_file_ops(given: Mapping[str, Any]) -> dict[str, list[str]]:
    odd = {"(invalid json)": b"{", "(no path key)": b"{}", "(path not a string)": b'{"path":1}'}
    calls = tuple(
        ToolCall(str(number), name, odd.get(path, compact_json({"path": path})))
        for number, (name, path) in enumerate(given["calls"])
    )
    lists = file_lists(file_ops([Message(Role.ASSISTANT, calls)], KIT.files), KIT.files)
    return {"modified": list(lists.modified), "read": list(lists.read)}


def summary_prompt_structure(given: Mapping[str, Any]) -> dict[str, bool]:
    parts = PromptParts("[User]: q", given["previous"], given["focus"])
    text = build_prompt(parts, KIT.prompt)
    focus = prompt_file("focus").replace("{focus}", given["focus"])
    return {
        "anchor_first": text.startswith(f"<{KIT.prompt.previous_tag}>"),
        "focus_last": bool(given["focus"]) and text.endswith(focus),
        "has_goal_section": "## Goal" in template_text(KIT.prompt.template) and "## Goal" in text,
        "has_update_instructions": prompt_file("update") in text,
    }


def _compact_entries(given: Mapping[str, Any]) -> tuple[Entry, ...]:
    entries = list(_entries(given["messages"]))
    at = given.get("skill_message_index")
    if at is not None:
        skill = Message(Role.USER, (Text(b'<skill name="s">xxxxxxxxx'),))
        entries[at] = replace(entries[at], message=skill)
    return tuple(entries)


def _answers(given: Mapping[str, Any], count: int) -> list[str]:
    return ["" if given.get("llm") == "empty" else f"SUM{number + 1}" for number in range(count)]


def compact(given: Mapping[str, Any]) -> dict[str, Any]:
    entries = _compact_entries(given)
    gate = manual_gate(messages=len(entries), minimum=2)
    if gate:
        return {"messages": len(entries), "result": None}
    context = build_context(entries, KIT.context)
    keep = given.get("keep_recent_tokens") or KIT.trigger.keep_tokens
    prepared = prepare(context, CutRequest(keep_tokens=keep, force=True), ESTIMATE, KIT.prepare)
    if prepared is None:
        return {"messages": len(entries), "result": None}
    prepared = replace(prepared, previous_summary=given.get("previous_summary"))
    calls = plan_calls(prepared, given.get("focus", ""), KIT.summary)
    llm = str(given.get("llm", ""))
    if llm.startswith("error"):
        return {"calls": 1, "error": f"compaction summarisation failed: {llm.split(' ', 1)[1]}"}
    answers = _answers(given, len(calls))
    for made, answer in enumerate(answers, 1):
        if check_summary(answer, KIT.accept) is Reason.EMPTY:
            return {"calls": made, "error": "compaction produced an empty summary"}
    summary = finish(prepared, calls, answers, KIT.summary, KIT.files)
    carried = tuple(i for i in prepared.partition.summarised if is_protected(i.message.text))
    after = installed(prepared.partition, summary.text, KIT.summary.role, carried=carried)
    cut = next(i for i, e in enumerate(entries) if e.id == prepared.first_kept)
    return {
        "calls": [_call(call, given) for call in calls],
        "cut": cut,
        "modified": list(summary.files.modified) or None,
        "read": list(summary.files.read) or None,
        "removed": len(prepared.partition.summarised),
        "roles_after": [message.role.value for message in after],
        "summary": summary.text,
        "tokens_before": prepared.tokens_before,
    }


def _call(call: Any, given: Mapping[str, Any]) -> dict[str, Any]:
    text = call_prompt(call, KIT.prompt, KIT.serial)
    return {
        "assistant_sent": sum(m.role is Role.ASSISTANT for m in call.messages),
        "has_anchor": text.startswith(f"<{KIT.prompt.previous_tag}>"),
        "has_focus": bool(given.get("focus")) and given["focus"] in text,
        "user_turns_sent": sum(m.role is Role.USER for m in call.messages),
    }


_ENDS: Mapping[Turn, dict[str, Any]] = {
    Turn.DONE: {"compactions": 0, "replays": 0, "error": None},
    Turn.REPLAYED: {"compactions": 1, "replays": 1, "error": None},
    Turn.STILL_OVER: {"class": "context overflow", "compactions": 1, "replays": 1,
                      "wraps_original": True},
    Turn.NOT_COMPACTED: {"class": "context overflow", "wraps_original": True,
                         "error_prefix": "conversation too large to compact"},
    Turn.TOO_FEW: {"error_contains":
                   "compaction failed: cannot compact: need at least 2 messages"},
}  # fmt: skip


def _overflow_turn(given: Mapping[str, Any]) -> dict[str, Any]:
    end = overflow_turn(
        given["first"], given.get("compact", "ok"), given.get("second", "ok"),
        given.get("messages", 2),
    )  # fmt: skip
    return _ENDS[end]


def _build_context(given: Mapping[str, Any]) -> list[str]:
    context = build_context(log_entries(given["log"]), KIT.context)
    return [
        f"summary({item.id})" if item.entry.kind is Kind.COMPACTION else item.id
        for item in context.items
    ]


def append_compaction(given: Mapping[str, Any]) -> dict[str, Any]:
    try:
        check_first_kept(log_entries("m1 m2"), given["first_kept"], KIT.context)
    except InputError:
        return {"error": "first kept entry does not exist"}
    return {"error": None}


FUNCTIONS: Mapping[str, Callable[[Mapping[str, Any]], Any]] = {
    "adaptive_keep_recent_tokens": adaptive_keep_recent_tokens,
    "adaptive_reserve_tokens": adaptive_reserve_tokens,
    "adjust_post_compaction_tokens": lambda given: tokens_after(
        given["last_input_tokens"], given["original"], given["compacted"]
    ),
    "append_compaction": append_compaction,
    "build_context": _build_context,
    "compact": compact,
    "estimate_message_tokens": estimate_message_tokens,
    "estimate_tokens": lambda given: count_text(given["text"], KIT.tokens),
    "extract_file_ops": extract_file_ops,
    "find_cut_point": find_cut_point,
    "force_cut_point": force_cut_point,
    "is_protected_message": lambda given: is_protected(given["text"]),
    "is_split_turn": is_split_turn,
    "option_defaults": option_defaults,
    "overflow_turn": _overflow_turn,
    "should_compact": _should_compact,
    "should_compact_live": should_compact_live,
    "strip_media_parts": lambda given: attachment_text(
        Blob("file", mime=given["media_type"], name=given["filename"])
    ),
    "summary_prompt_structure": summary_prompt_structure,
    "truncate_tool_result": truncate_tool_result,
}
