"""pi-mono's vectors under the ``pi`` policy."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from snapcompact.compaction.branch import branch_input
from snapcompact.compaction.counting import count_message
from snapcompact.compaction.cut import slots_of, turn_start
from snapcompact.compaction.entries import BASH, Kind
from snapcompact.compaction.files import FileOps, file_lists, files_text
from snapcompact.compaction.modes.command import parse_command
from snapcompact.compaction.occupancy import estimate_context, last_usage, occupancy
from snapcompact.compaction.outcome import Reason, manual_gate
from snapcompact.compaction.prompt import prompt_file
from snapcompact.compaction.recovery import Action, Answer, Situation, after_answer
from snapcompact.compaction.request import SummaryCall, call_prompt, finish, plan_calls
from snapcompact.compaction.serialise import serialise
from snapcompact.compaction.trigger import should_compact
from snapcompact.history.model import (
    Message,
    Role,
)
from snapcompact.tokens.usage import window_tokens
from tests.conformance.notation import (
    entries_of,
    items_of,
    message_of,
    name_of,
    usage_of,
)
from tests.conformance.pi_messages import (
    ESTIMATE,
    PI,
    context_of,
    cut_dict,
    overflow_message,
    prepared_of,
    role_message,
    scripted,
    trigger_of,
)


def _usage_total(given: Mapping[str, Any]) -> int:
    usage, total = usage_of(given)
    assert usage is not None
    return window_tokens(usage, total)


def _estimate_context(given: Mapping[str, Any]) -> dict[str, Any]:
    found = estimate_context(items_of(entries_of(given["messages"])), ESTIMATE, PI.usage)
    return {
        "tokens": found.total,
        "usageTokens": found.measured,
        "trailingTokens": found.estimated,
        "lastUsageIndex": found.answer,
    }


def _turn_start(given: Mapping[str, Any]) -> int:
    slots = slots_of(entries_of(given["entries"]), ESTIMATE, PI.cut)
    return turn_start(slots, given["index"], given["start"])


def _prepare(given: Mapping[str, Any]) -> dict[str, Any] | None:
    prepared, _ = prepared_of(given, PI)
    if prepared is None:
        return None
    part = prepared.partition
    return {
        "first_kept": prepared.first_kept,
        "summarize": [item.id for item in part.history],
        "turn_prefix": [item.id for item in part.prefix],
        "is_split_turn": prepared.is_split,
        "tokens_before": prepared.tokens_before,
        "previous_summary": prepared.previous_summary,
        "read": sorted(prepared.ops.read),
        "written": sorted(prepared.ops.written),
        "edited": sorted(prepared.ops.edited),
    }


def _call(call: SummaryCall, focus: str) -> dict[str, Any]:
    text = call_prompt(call, PI.prompt, PI.serial)
    said = prompt_file("focus").replace("{focus}", focus)
    return {
        "max_tokens": call.max_tokens,
        "reasoning": "high" if call.reasoning else None,
        "has_previous_summary_tag": f"<{PI.prompt.previous_tag}>" in text,
        "ends_with_focus": bool(focus) and text.endswith(said),
    }


def _compact(given: Mapping[str, Any]) -> dict[str, Any]:
    prepared, _ = prepared_of(given, PI)
    if prepared is None:
        return {"error": "Nothing to compact (session too small)"}
    focus = given.get("focus") or ""
    rules = replace(PI.summary, reserve_tokens=given["settings"].get("reserveTokens", 16384))
    reasons = bool((given.get("model") or {}).get("reasoning"))
    calls = plan_calls(prepared, focus, rules, model_reasons=reasons)
    if str(given.get("llm", "")).startswith("error"):
        return {"error": "Summarization failed: boom", "calls": [_call(c, focus) for c in calls]}
    summary = finish(prepared, calls, scripted(given, len(calls)), rules, PI.files)
    return {
        "summary": summary.text,
        "first_kept": prepared.first_kept,
        "tokens_before": prepared.tokens_before,
        "details": {
            "readFiles": list(summary.files.read),
            "modifiedFiles": list(summary.files.modified),
        },
        "calls": [_call(call, focus) for call in calls],
    }


def _serialize(given: Mapping[str, Any]) -> Any:
    specs = given["messages"]
    messages = [message_of(spec, number) for number, spec in enumerate(specs)]
    text = serialise(messages, PI.serial)
    if not any("text_repeat" in spec for spec in specs):
        return text
    return {
        "length": len(text),
        "kept_chars": len(text.split("\n\n[... ")[0]) - len("[Tool result]: "),
        "tail": text[-(7 + len("\n\n[... 3000 more characters truncated]")) :],
        "truncated": "more characters truncated" in text,
    }


def _file_lists(given: Mapping[str, Any]) -> dict[str, Any]:
    ops = FileOps(frozenset(given["read"]), frozenset(given["written"]), frozenset(given["edited"]))
    lists = file_lists(ops, PI.files)
    return {
        "readFiles": list(lists.read),
        "modifiedFiles": list(lists.modified),
        "text": files_text(lists, PI.files),
    }


_ROLES = {Kind.COMPACTION: "compactionSummary", Kind.BRANCH: "branchSummary",
          Kind.CUSTOM: "custom"}  # fmt: skip


def _role(message: Message, kind: Kind) -> str:
    if message.label == BASH:
        return "bashExecution"
    plain = {Role.TOOL: "toolResult"}.get(message.role, message.role.value)
    return _ROLES.get(kind, plain)


def _session_context(given: Mapping[str, Any]) -> dict[str, Any]:
    context = context_of(given, PI)
    return {
        "messages": [name_of(item) for item in context.items],
        "roles": [_role(item.message, item.entry.kind) for item in context.items],
        "thinking": context.thinking,
        "model": (
            {"provider": context.model[0], "modelId": context.model[1]} if context.model else None
        ),
    }


def _parse_lines(given: Mapping[str, Any]) -> int:
    def good(line: str) -> bool:
        try:
            return isinstance(json.loads(line), dict)
        except ValueError:
            return False

    return sum(good(line) for line in given["text"].split("\n") if line.strip())


def _branch(given: Mapping[str, Any]) -> dict[str, Any]:
    found = branch_input(
        entries_of(given["entries"]), given["token_budget"], ESTIMATE, PI.branch, PI.files
    )
    return {
        "messages": [name_of(item) for item in found.items],
        "total_tokens": found.tokens,
        "read": sorted(found.ops.read),
        "edited": sorted(found.ops.edited),
    }


def _answer(given: Mapping[str, Any]) -> Answer:
    last = given.get("last") or (given.get("messages") or [{"stop": "stop"}])[-1]
    usage, total = usage_of(last.get("usage"))
    known = last.get("total") or (window_tokens(usage, total) if usage else None)
    return Answer(
        last.get("stop", "stop"), last.get("error", ""), known, usage, last.get("at", 1),
        last.get("same_model", True),
    )  # fmt: skip


def _check(given: Mapping[str, Any]) -> dict[str, Any]:
    good = given.get("last_good_usage")
    if isinstance(good, dict):
        good_total, good_at = good.get("total"), good.get("at", 1)
    else:
        good_total, good_at = good, given.get("last_good_at", 1)
    if given.get("last_good_before_compaction"):
        good_at = -1
    situation = Situation(
        window=given["window"],
        last=_answer(given),
        last_good=good_total,
        last_good_at_ms=good_at,
        compaction_at_ms=given.get("compaction_at"),
        before_prompt=given.get("pre_prompt", False),
        attempted=given.get("overflow_recovery_attempted", False),
        queued=given.get("queued_messages", 0),
    )
    trigger = trigger_of({"enabled": given["enabled"], "reserveTokens": given["reserve"]})
    decision = after_answer(situation, trigger, PI.overflow, PI.recovery)
    if decision.action is Action.NONE:
        return {"action": "none"}
    if decision.action is Action.GIVE_UP:
        return {"action": "end_event_with_error", "retry": False}
    then = "continue after 100 ms because messages are queued" if decision.deliver_queue else ""
    return {
        "action": "compact",
        "reason": decision.reason,
        "will_retry": decision.will_retry,
        "then": then,
    }


def _context_usage(given: Mapping[str, Any]) -> dict[str, Any] | None:
    after = given.get("assistant_after", True)
    answered = bool(after) and not (
        isinstance(after, dict) and after.get("stop") in ("error", "aborted")
    )
    tokens = given.get("tokens", 0)
    found = occupancy(given["window"], tokens, known=answered or not given.get("compaction"))
    return None if found is None else {"tokens": found.tokens, "percent": found.percent}


_ERRORS = {
    Reason.ALREADY: "Already compacted",
    Reason.NO_MESSAGES: "Nothing to compact (session too small)",
    Reason.NO_MODEL: "No model selected",
    Reason.NO_KEY: "No API key for provider",
    Reason.CANCELLED: "Compaction cancelled",
}


def _manual_errors(given: Mapping[str, Any]) -> dict[str, Any]:
    entries = given.get("entries", ["one", "two"])
    gate = manual_gate(
        messages=len(entries),
        last_is_compaction=given.get("last_entry") == "compaction",
        has_model=given.get("model", "m") is not None,
        has_key=given.get("api_key", "k") is not None,
        cancelled=given.get("hook") == "cancel",
    )
    return {"error": _ERRORS[gate.reason] if gate else None}


def _parse_command(given: Mapping[str, Any]) -> dict[str, Any]:
    line = given["text"]
    found = parse_command(line, strict=True)
    if found is None:
        return {"focus": "not a compact command"}
    return {"focus": None if line == "/compact" else found}


def _should(given: Mapping[str, Any]) -> bool:
    return should_compact(trigger_of(given["settings"]), given["context_tokens"], given["window"])


FUNCTIONS: Mapping[str, Callable[[Mapping[str, Any]], Any]] = {
    "build_session_context": _session_context,
    "calculate_context_tokens": _usage_total,
    "check_compaction": _check,
    "compact": _compact,
    "estimate_context_tokens": _estimate_context,
    "estimate_tokens": lambda given: count_message(role_message(given), PI.tokens),
    "file_lists": _file_lists,
    "find_cut_point": lambda given: cut_dict(given, PI, given["keep_recent_tokens"]),
    "find_turn_start_index": _turn_start,
    "get_context_usage": _context_usage,
    "is_context_overflow_message": lambda given: overflow_message(given, PI),
    "last_assistant_usage_total": lambda given: last_usage(entries_of(given["entries"]), PI.usage),
    "manual_compact_errors": _manual_errors,
    "parse_compact_command": _parse_command,
    "parse_session_lines": _parse_lines,
    "prepare_branch_entries": _branch,
    "prepare_compaction": _prepare,
    "serialize_conversation": _serialize,
    "should_compact": _should,
}
