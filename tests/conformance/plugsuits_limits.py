"""plugsuits: counting, budgets, thresholds, the split, the breaker."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from snapcompact.compaction.breaker import (
    Breaker,
    BreakerRules,
)
from snapcompact.compaction.counting import (
    count_text,
    rule_estimator,
    tool_schema_tokens,
)
from snapcompact.compaction.cut import find_cut
from snapcompact.compaction.entries import Entry, Kind
from snapcompact.compaction.occupancy import occupancy_text
from snapcompact.compaction.overflow import silent_overflow
from snapcompact.compaction.pairs import drop_broken, whole_split
from snapcompact.compaction.trigger import (
    Budget,
    TriggerRules,
    at_hard_limit,
    context_budget,
    effective_window,
    phase_reserve,
    pressure,
    resolve_threshold,
    should_compact,
    speculative_at,
    speculative_mark,
    valid_ratio,
)
from snapcompact.history.model import (
    Blob,
    Block,
    Content,
    Message,
    Other,
    Role,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Usage,
    wtf8,
)
from tests.conformance.notation import compact_json
from tests.conformance.plugsuits_history import (
    PLUG,
)

PLANNING = rule_estimator(PLUG.planning_tokens)


PLAIN = replace(PLUG.tokens, tool_divisor=0)


_BUDGET_KEYS = {
    "window": "rawContextWindow", "reserved": "reservedForCompaction",
    "effective": "effectiveContextWindow", "speculative_at": "speculativeStartAt",
    "auto_at": "autoCompactAt", "warning_at": "warningAt", "hard_at": "hardLimitAt",
}  # fmt: skip


def words(text: str) -> int:
    return count_text(text, PLAIN)


def _output(output: Any) -> tuple[Content, ...]:
    if isinstance(output, str):
        return (Text(wtf8(output)),)
    if isinstance(output, dict) and set(output) == {"type", "value"} and output["type"] == "text":
        return (Text(wtf8(output["value"])),)
    return (Other("json", compact_json(output)),)


def _sdk_block(part: Mapping[str, Any]) -> Block:
    if part["type"] == "text":
        return Text(wtf8(part["text"]))
    if part["type"] == "tool-call":
        return ToolCall(part["toolCallId"], part["toolName"], compact_json(part["input"]))
    if part["type"] == "tool-result":
        return ToolResult(f"{part['toolName']}:{part['toolCallId']}", _output(part["output"]))
    if part["type"] == "reasoning":
        return Thinking(wtf8(part["text"]))
    return Blob("image")


def sdk_message(given: Mapping[str, Any]) -> Message:
    content = given["content"]
    if isinstance(content, str):
        return Message(Role(given["role"]), (Text(wtf8(content)),))
    return Message(Role(given["role"]), tuple(_sdk_block(part) for part in content))


def schemas(given: Mapping[str, Any]) -> int:
    tools = {
        name: (tool.get("description", ""), compact_json(tool.get("inputSchema", {})))
        for name, tool in given["tools"].items()
    }
    return tool_schema_tokens(tools, PLAIN)


def _budget_dict(budget: Budget) -> dict[str, int]:
    return {shown_key: getattr(budget, key) for key, shown_key in _BUDGET_KEYS.items()}


def budget_of(table: Mapping[str, int]) -> Budget:
    return Budget(**{key: table[shown_key] for key, shown_key in _BUDGET_KEYS.items()})


def compute_budget(given: Mapping[str, Any]) -> dict[str, int]:
    headroom = given.get("maxOutputTokens") or given.get("reserveTokens", 0)
    ratio = given.get("thresholdRatio")
    return _budget_dict(context_budget(PLUG.trigger, given["contextLimit"], ratio, headroom))


def speculative(given: Mapping[str, Any]) -> bool:
    asked = given["input"]
    if not asked["enabled"] or not asked["hasMessages"]:
        return False
    mark = speculative_at(
        given["contextLimit"], start_ratio=asked.get("speculativeStartRatio"),
        ratio=asked.get("thresholdRatio"), reserve=asked["phaseReserveTokens"],
    )  # fmt: skip
    return bool(asked["currentUsageTokens"] >= mark)


def _whole_window(ratio: float | None, *, enabled: bool) -> TriggerRules:
    """The pure function compares with the window it is given, not with an effective one."""
    return replace(
        PLUG.trigger, enabled=enabled, threshold_ratio=valid_ratio(ratio), max_tokens=0,
        prune_reserve_share=0, prune_reserve_min=0,
    )  # fmt: skip


def needs(given: Mapping[str, Any]) -> bool:
    rules = _whole_window(given.get("thresholdRatio"), enabled=given["enabled"])
    ready = given["hasMessages"]
    return ready and should_compact(rules, given["currentUsageTokens"], given["contextLimit"])


def hard_limit(given: Mapping[str, Any]) -> bool:
    return given["enabled"] and at_hard_limit(
        given["currentUsageTokens"], given["contextLimit"], given["reserveTokens"],
        given.get("additionalTokens", 0),
    )  # fmt: skip


def hard_phase(given: Mapping[str, Any]) -> dict[str, list[bool]]:
    made = {}
    for name, intermediate in (("new_turn_at", False), ("intermediate_at", True)):
        reserve = phase_reserve(given["reserve"], intermediate=intermediate, usage_known=False)
        limit = given["window"] - reserve
        own = given["estimated_tokens"]
        made[name] = [
            at_hard_limit(own, given["window"], reserve, additional=limit - own - less)
            for less in (1, 0)
        ]
    return made


def _sized_entries(sizes: Sequence[int]) -> tuple[Entry, ...]:
    return tuple(
        Entry(f"e{i}", Kind.MESSAGE, Message(Role.USER, (Text(b"x" * (4 * size)),)))
        for i, size in enumerate(sizes)
    )


def split_index(given: Mapping[str, Any]) -> int | None:
    sizes = given["token_sizes"]
    if given.get("aggressive"):
        return len(sizes) if len(sizes) > 1 else None
    cut = find_cut(
        _sized_entries(sizes), given["keep_recent_tokens"], rule_estimator(PLAIN), PLUG.cut
    )
    return cut.index if cut else None


def _id_message(spec: Mapping[str, Any]) -> Message:
    """A message of call and result ids; id ``r:1`` belongs to tool r."""
    calls = [ToolCall(one, one.split(":")[0], b"{}") for one in spec.get("calls", ())]
    results = [ToolResult(one, (Text(b"x"),)) for one in spec.get("results", ())]
    return Message(Role(spec["role"]), (*calls, *results) or (Text(b"x"),))


def adjust(given: Mapping[str, Any]) -> int:
    messages = [_id_message(spec) for spec in given["messages"]]
    return whole_split(messages, given["proposed_index"])


def sequence(given: Mapping[str, Any]) -> list[dict[str, Any]]:
    specs = given["messages"]
    messages = [_id_message(spec) for spec in specs]
    kept = {id(message) for message in drop_broken(messages)}
    return [s for s, message in zip(specs, messages, strict=True) if id(message) in kept]


def breaker(given: Mapping[str, Any]) -> list[dict[str, Any]]:
    config = given["config"]
    rules = BreakerRules(
        max_failures=config.get("maxConsecutiveFailures", 3),
        cooldown_ms=config.get("cooldownMs", 60000),
    )
    now, state, seen = given["start_ms"], Breaker(), []
    for op in given["ops"]:
        now += op.get("advance", 0)
        state = state.at(now, rules)
        if "fail" in op:
            state = state.failed(op["fail"], now)
        if "success" in op or "reset" in op:
            state = Breaker()
        if "check" in op:
            seen.append({
                "failures": state.failures, "isOpen": state.is_open(rules),
                "lastFailureAt": state.failed_at_ms, "reason": state.reason,
            })  # fmt: skip
    return seen


def silent(given: Mapping[str, Any]) -> bool:
    tokens = given["usage"].get("inputTokens")
    usage = Usage(input=tokens) if tokens is not None else None
    return silent_overflow(usage, "stop", given["window"], PLUG.overflow)


def levels(given: Mapping[str, Any]) -> list[dict[str, Any]]:
    config = given["config"]
    rules = replace(
        PLUG.trigger, enabled=True, threshold_ratio=config["thresholdRatio"],
        max_tokens=config["maxTokens"],
        speculative_start_ratio=config.get("speculativeStartRatio", 0),
    )  # fmt: skip
    window = config["contextLimit"]
    assert effective_window(rules, window) >= 0
    mark = speculative_mark(rules, resolve_threshold(rules, window).tokens)
    return [
        {
            "tokens": tokens,
            "speculative": tokens >= mark,
            "blocking": should_compact(rules, tokens, window),
            "hard_limit": at_hard_limit(tokens, window, config["reserveTokens"]),
        }
        for tokens in given["input_tokens"]
    ]


def usage_text(given: Mapping[str, Any]) -> str:
    usage, reserve = given["usage"], given["opts"].get("reserveTokens", 0)
    limit = usage["limit"]
    level = ""
    if limit > 0:
        budget = context_budget(PLUG.trigger, limit, given["opts"].get("thresholdRatio"), reserve)
        level = pressure(usage["used"], budget).value
    return occupancy_text(usage["used"], limit, usage["percentage"], level)
