"""plugsuits' vectors under the ``plugsuits`` policy."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from snapcompact.compaction.analysis import Analysis, Tally, analyse, suggestions
from snapcompact.compaction.breaker import (
    Breaker,
    BreakerRules,
    TurnCount,
    counts_as_failure,
    per_turn_cap,
)
from snapcompact.compaction.collapse import collapse
from snapcompact.compaction.counting import (
    count_message,
    count_text,
    joined_text,
    rule_estimator,
    tool_schema_tokens,
)
from snapcompact.compaction.cut import find_cut
from snapcompact.compaction.edits import apply_edits, saved_tokens
from snapcompact.compaction.entries import SUMMARY, Entry, Item, Kind, results_of
from snapcompact.compaction.facts import Fact, FactRules, extract_facts, structured_state
from snapcompact.compaction.guard import Continuation
from snapcompact.compaction.install import CONTINUATION, continuation_message
from snapcompact.compaction.micro import clear_results, shorten_answers
from snapcompact.compaction.modes.extract import summary_input
from snapcompact.compaction.outcome import Reason
from snapcompact.compaction.overflow import silent_overflow
from snapcompact.compaction.pairs import drop_broken, whole_split
from snapcompact.compaction.progressive import prune_large, prune_levels
from snapcompact.compaction.prompt import prompt_file
from snapcompact.compaction.restore import Restorable, RestoreRules, restoration
from snapcompact.compaction.shrink import cut_results
from snapcompact.compaction.speculate import blocking_events
from snapcompact.compaction.trigger import (
    Budget,
    TriggerRules,
    adaptive_ratio,
    at_hard_limit,
    context_budget,
    effective_window,
    phase_reserve,
    pressure,
    recommended_output,
    resolve_threshold,
    should_compact,
    soft_budget,
    soft_start_ratio,
    speculative_at,
    speculative_mark,
    valid_ratio,
)
from snapcompact.compaction.usage import occupancy_text
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
from tests.conformance.notation import compact_json, repeated, text_of
from tests.conformance.plugsuits_history import (
    ESTIMATE,
    PLUG,
    History,
    history_items,
    item_of,
    shown,
)

PLANNING = rule_estimator(PLUG.planning_tokens)
PLAIN = replace(PLUG.tokens, tool_divisor=0)
_BUDGET_KEYS = {
    "window": "rawContextWindow", "reserved": "reservedForCompaction",
    "effective": "effectiveContextWindow", "speculative_at": "speculativeStartAt",
    "auto_at": "autoCompactAt", "warning_at": "warningAt", "hard_at": "hardLimitAt",
}  # fmt: skip


def _words(text: str) -> int:
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


def _sdk_message(given: Mapping[str, Any]) -> Message:
    content = given["content"]
    if isinstance(content, str):
        return Message(Role(given["role"]), (Text(wtf8(content)),))
    return Message(Role(given["role"]), tuple(_sdk_block(part) for part in content))


def _schemas(given: Mapping[str, Any]) -> int:
    tools = {
        name: (tool.get("description", ""), compact_json(tool.get("inputSchema", {})))
        for name, tool in given["tools"].items()
    }
    return tool_schema_tokens(tools, PLAIN)


def _budget_dict(budget: Budget) -> dict[str, int]:
    return {shown_key: getattr(budget, key) for key, shown_key in _BUDGET_KEYS.items()}


def _budget_of(table: Mapping[str, int]) -> Budget:
    return Budget(**{key: table[shown_key] for key, shown_key in _BUDGET_KEYS.items()})


def _compute_budget(given: Mapping[str, Any]) -> dict[str, int]:
    headroom = given.get("maxOutputTokens") or given.get("reserveTokens", 0)
    ratio = given.get("thresholdRatio")
    return _budget_dict(context_budget(PLUG.trigger, given["contextLimit"], ratio, headroom))


def _speculative(given: Mapping[str, Any]) -> bool:
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


def _needs(given: Mapping[str, Any]) -> bool:
    rules = _whole_window(given.get("thresholdRatio"), enabled=given["enabled"])
    ready = given["hasMessages"]
    return ready and should_compact(rules, given["currentUsageTokens"], given["contextLimit"])


def _hard_limit(given: Mapping[str, Any]) -> bool:
    return given["enabled"] and at_hard_limit(
        given["currentUsageTokens"], given["contextLimit"], given["reserveTokens"],
        given.get("additionalTokens", 0),
    )  # fmt: skip


def _hard_phase(given: Mapping[str, Any]) -> dict[str, list[bool]]:
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


def _split_index(given: Mapping[str, Any]) -> int | None:
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


def _adjust(given: Mapping[str, Any]) -> int:
    messages = [_id_message(spec) for spec in given["messages"]]
    return whole_split(messages, given["proposed_index"])


def _sequence(given: Mapping[str, Any]) -> list[dict[str, Any]]:
    specs = given["messages"]
    messages = [_id_message(spec) for spec in specs]
    kept = {id(message) for message in drop_broken(messages)}
    return [s for s, message in zip(specs, messages, strict=True) if id(message) in kept]


def _breaker(given: Mapping[str, Any]) -> list[dict[str, Any]]:
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


def _tool_items(specs: Sequence[Mapping[str, Any]]) -> tuple[Item, ...]:
    """Items of ``{role, chars}`` and ``{tool: [[name, chars], …]}``."""
    items = []
    for number, spec in enumerate(specs):
        if "tool" in spec:
            parts = [
                {"result": name, "id": f"{name}:{number}.{place}", "chars": chars}
                for place, (name, chars) in enumerate(spec["tool"])
            ]
            items.append(item_of({"role": "tool", "parts": parts}, number))
        else:
            items.append(item_of({"role": spec["role"], "text": text_of(spec)}, number))
    return tuple(items)


def _prune_outputs(given: Mapping[str, Any]) -> dict[str, Any]:
    items, config = _tool_items(given["messages"]), given["config"]
    rules = replace(
        PLUG.levels,
        protect_tokens=config.get("protectRecentTokens", PLUG.levels.protect_tokens),
        min_savings=config.get("minSavingsTokens", PLUG.levels.min_savings),
        protected_tools=tuple(config.get("protectedToolNames", ())),
    )
    edits = prune_large(items, rule_estimator(PLAIN), PLANNING, rules)
    changed = {(edit.index, edit.block): edit.text for edit in edits}
    outputs = [
        [changed.get((index, place), "same") for place in range(len(results_of(item.message)))]
        if item.message.role is Role.TOOL else item.message.role.value
        for index, item in enumerate(items)
    ]  # fmt: skip
    return {
        "outputs": outputs,
        "pruned_count": len(edits),
        "pruned_tokens": saved_tokens(edits),
    }


def _progressive(given: Mapping[str, Any]) -> dict[str, Any]:
    items, config = _tool_items(given["messages"]), given["config"]
    rules = replace(
        PLUG.levels,
        level_protect_tokens=config.get("protectRecentTokens", PLUG.levels.level_protect_tokens),
        eager_tools=tuple(config.get("eagerPruneToolNames", PLUG.levels.eager_tools)),
        protected_tools=tuple(config.get("protectedToolNames", ())),
    )
    found = prune_levels(items, config["targetTokens"], PLANNING, rules)
    return {
        "level": found.level,
        "tokens_before": found.before,
        "tokens_after": found.after,
        "pruned_indexes": sorted({edit.index for edit in found.edits}),
    }


def _part_items(specs: Sequence[Mapping[str, Any]]) -> tuple[Item, ...]:
    return tuple(item_of(spec, number) for number, spec in enumerate(specs))


def _collapse(given: Mapping[str, Any]) -> dict[str, Any]:
    items, options = _part_items(given["messages"]), given["options"]
    rules = replace(
        PLUG.collapse,
        protect_messages=options.get("protectRecentMessages", PLUG.collapse.protect_messages),
        min_group=options.get("minGroupSize", PLUG.collapse.min_group),
    )
    groups = collapse(items, rules, PLAIN)
    return {
        "groups": [
            {
                "collapsedTokens": group.after, "count": group.count, "label": group.label,
                "originalTokens": group.before, "type": group.kind,
            }
            for group in groups
        ],
        "tokens_saved": max(0, sum(group.before - group.after for group in groups)),
        "rewritten": sorted(edit.index for group in groups for edit in group.edits),
    }  # fmt: skip


def _micro_item(spec: Mapping[str, Any], number: int) -> Item:
    if "parts" not in spec:
        label = SUMMARY if spec.get("summary") else ""
        text = Text(b"x" * spec["chars"])
        message = Message(Role(spec["role"]), (text,), label)
        return Item(Entry(f"e{number}", Kind.MESSAGE, message, time_ms=number), message)
    blocks: list[Block] = []
    tools = {}
    for place, part in enumerate(spec["parts"]):
        if "tool_result" in part:
            call_id = f"{part['tool_result']}:{number}.{place}"
            tools[call_id] = part["tool_result"]
            blocks.append(ToolResult(call_id, (Text(b"x" * part["chars"]),)))
        elif part["type"] == "text":
            blocks.append(Text(b"x" * part["text_chars"]))
        else:
            blocks.append(ToolCall(f"c{number}.{place}", "t", b"{}"))
    message = Message(Role(spec["role"]), tuple(blocks))
    return Item(Entry(f"e{number}", Kind.MESSAGE, message, time_ms=number, tools=tools), message)


def _micro(given: Mapping[str, Any]) -> dict[str, Any]:
    specs, options = given["messages"], given["options"]
    items = tuple(_micro_item(spec, number) for number, spec in enumerate(specs))
    rules = replace(
        PLUG.micro,
        protect_tokens=options.get("protectRecentTokens", PLUG.micro.protect_tokens),
        max_tokens=options.get("maxResponseTokens", PLUG.micro.max_tokens),
        clear_results=options.get("clearToolResults", False),
        keep_results=options.get("keepRecentToolResults", PLUG.micro.keep_results),
        clearable_tools=tuple(options.get("clearableToolNames", ())),
    )
    shortened = shorten_answers(items, PLANNING, rules)
    cleared = clear_results(items, PLANNING, rules)
    edits = (*shortened, *cleared)
    after = apply_edits(items, edits)
    return {
        "modified": len({edit.index for edit in edits}),
        "tokens_saved": saved_tokens(edits),
        "cleared": len(cleared),
        "changed": sorted({edit.index for edit in edits}),
        "lengths": [
            None if "parts" in spec else len(item.message.text)
            for spec, item in zip(specs, after, strict=True)
        ],
    }


def _silent(given: Mapping[str, Any]) -> bool:
    tokens = given["usage"].get("inputTokens")
    usage = Usage(input=tokens) if tokens is not None else None
    return silent_overflow(usage, "stop", given["window"], PLUG.overflow)


def _continuation(given: Mapping[str, Any]) -> dict[str, Any]:
    Continuation(given["variant"])
    message = continuation_message(prompt_file("continue"))
    return {
        "role": message.role.value,
        "is_continuation": message.label == CONTINUATION,
        "variants": [variant.value for variant in Continuation],
    }


def _analyse(given: Mapping[str, Any]) -> dict[str, Any]:
    items = _part_items(given["messages"])
    found = analyse(items, PLAIN, given["options"].get("topN", 5))
    return {
        "total": found.total,
        "by_role": dict(found.by_role),
        "tool_results": {
            name: {"count": tally.count, "tokens": tally.tokens}
            for name, tally in found.by_tool.items()
        },
        "duplicate_reads": {
            path: {"count": tally.count, "wastedTokens": tally.tokens}
            for path, tally in found.duplicate_reads.items()
        },
        "largest": [list(row) for row in found.largest],
    }


def _suggestions(given: Mapping[str, Any]) -> list[dict[str, Any]]:
    stats = given["stats"]
    found = Analysis(
        total=stats["total"],
        by_role={},
        by_tool={
            name: Tally(one["count"], one["tokens"]) for name, one in stats["tool_results"].items()
        },
        duplicate_reads={
            path: Tally(one["count"], one["wastedTokens"])
            for path, one in stats["duplicate_reads"].items()
        },
        largest=tuple(tuple(row) for row in stats["largest"]),
    )
    made = suggestions(found, _budget_of(given["budget"]), given["tokens"])
    return [
        {"level": one.level, "message": one.text}
        | ({"estimatedSavings": one.saving} if one.saving else {})
        for one in made
    ]


def _restoration(given: Mapping[str, Any]) -> list[dict[str, Any]]:
    config = given["config"]
    rules = RestoreRules(
        max_total=config.get("maxTotalTokens", 50000),
        max_item=config.get("maxItemTokens", 5000),
        max_items=config.get("maxItems", 10),
    )
    items = [
        Restorable(one["label"], repeated(one["content"]), one.get("priority", 0))
        for one in given["items"]
    ]
    found = restoration(items, given["kept_texts"], _words, rules)
    return [{"label": one.label, "tokens": one.tokens, "truncated": one.truncated} for one in found]


def _facts(given: Mapping[str, Any]) -> dict[str, Any]:
    found = extract_facts(given["text"])
    return {"count": len(found), "facts": [[f.category, f.key, f.value] for f in found]}


def _state(given: Mapping[str, Any]) -> str | None:
    facts = [Fact(*fact) for fact in given["facts"]]
    rules = FactRules(max_tokens=given.get("max_tokens", 500))
    return structured_state(facts, _words, rules)


def _history(given: Mapping[str, Any]) -> History:
    settings = {**given.get("defaults", {}), **given.get("config", {})}
    trigger = replace(
        PLUG.trigger,
        enabled=settings.get("enabled", True),
        keep_tokens=settings.get("keepRecentTokens", 2000),
        reserve_tokens=settings.get("reserveTokens"),
    )
    policy = replace(PLUG, trigger=trigger)
    summary: str | None = settings.get("summary", "Summary")
    if "summarizer" in given:
        said = given["summarizer"]
        summary = {"empty": "", "blank": "  "}.get(said, said) if said is not None else None
    return History(
        items=history_items(given["history_spec"]),
        window=settings["contextLimit"],
        policy=policy,
        summary=summary,
        reserve=settings.get("reserveTokens", 2000),
        direction=settings.get("compactionDirection", "keep-recent"),
        state=text_of(given, "structured_state"),
        pruning=bool(given.get("pruning", {}).get("enabled")),
    )


_REASONS = {
    Reason.NO_SUMMARISER: "no summarizeFn",
    Reason.NOTHING: "no messages to summarize",
}


def _history_compact(given: Mapping[str, Any]) -> dict[str, Any]:
    history = _history(given)
    before = len(history.items)
    run = history.compact(given.get("options", {}).get("auto"))
    done = run.reason is Reason.DONE
    return {
        "success": done,
        "reason": None if done else _REASONS.get(run.reason, run.reason.value),
        "method": run.method,
        "variant": run.variant,
        "before": before,
        "all": [shown(item) for item in history.all],
        "active": [shown(item) for item in history.items],
    }


def _filled(given: Mapping[str, Any]) -> History:
    """A history of equal user messages, and a summary of a stated size."""
    spec = given["user_message"]
    part, times = spec["repeat"]
    texts = [
        part * times + spec.get("suffix", "").replace("{i}", str(number))
        for number in range(given["messages"])
    ]
    items = [item_of({"role": "user", "text": t}, number) for number, t in enumerate(texts)]
    config, limit = given["config"], given["context_limit"]
    trigger = replace(
        PLUG.trigger,
        enabled=True,
        keep_tokens=config["keepRecentTokens"],
        threshold_ratio=config["thresholdRatio"],
        max_tokens=limit // 2,
    )
    accept = replace(PLUG.accept, ratio=config["thresholdRatio"])
    said, count = given["summary_repeat"]
    return History(
        items=items, window=limit, policy=replace(PLUG, trigger=trigger, accept=accept),
        summary=said * count, reserve=config["reserveTokens"],
    )  # fmt: skip


def _gate(given: Mapping[str, Any]) -> dict[str, Any]:
    history = _filled(given)
    run = history.compact(given["options"].get("auto"))
    judged = run.acceptance
    assert judged is not None
    return {
        "success": judged.accepted,
        "reason": None if judged.accepted else judged.reason.value,
        "rejection": None if judged.accepted else "exceeds-budget",
        "fits_budget": judged.fits_budget,
        "below_trigger": judged.below_trigger,
        "meets_min_savings": judged.meets_savings,
        "rolled_back": run.rolled_back,
    }


def _cap(given: Mapping[str, Any]) -> Any:
    cap = per_turn_cap(given["max"])
    if "checks" not in given:
        return cap
    history, count, ran = _filled(given), TurnCount(), []
    for _ in range(given["checks"]):
        wanted = should_compact(history.policy.trigger, history.tokens(), history.window)
        runs = wanted and not count.reached(cap)
        ran.append(runs)
        if runs:
            count = count.after(history.compact(True).reason)
    fresh = TurnCount()
    return {
        "max": cap,
        "ran": ran,
        "accepted_ineffective": [count.accepted, count.ineffective],
        "cap_reached": count.reached(cap),
        "summarizer_calls": history.calls,
        "after_new_turn": [fresh.accepted, fresh.ineffective],
    }


def _levels(given: Mapping[str, Any]) -> list[dict[str, Any]]:
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


def _recovery(given: Mapping[str, Any]) -> dict[str, Any]:
    history = _history(given)
    found = history.recover(truncate=bool(given.get("truncate", True)))
    return {
        "success": found.success,
        "strategy": found.strategy or None,
        "error": found.error or None,
        "active": [shown(item) for item in found.items],
    }


def _over_budget(given: Mapping[str, Any]) -> dict[str, Any]:
    specs: list[dict[str, Any]] = [
        {"role": "user", "text": "go"},
        {"role": "assistant", "parts": [{"call": "read", "id": "1", "input": {}}]},
        {"role": "tool", "parts": [
            {"result": "read", "id": "1", "text": "a" * given["result_chars"]}]},
    ]  # fmt: skip
    items = tuple(item_of(spec, number) for number, spec in enumerate(specs))
    edits = cut_results(items, given["window"], given["reserve"], ESTIMATE, PLUG.shrink)
    text = edits[0].text if edits else "a" * given["result_chars"]
    notice = text[text.find("\n... [") :] if edits else ""
    return {"new_chars": len(text), "tail": text[-(len(notice) + 6) :]}


_FAILURES = {
    "no summarizeFn": Reason.NO_SUMMARISER,
    "no messages to summarize": Reason.NOTHING,
}


def _counts(given: Mapping[str, Any]) -> dict[str, int]:
    text = given["failure_reason"]
    known = {reason.value: reason for reason in Reason} | _FAILURES
    reason = known.get(text, Reason.ERROR)
    return {
        "breaker_failures": int(counts_as_failure(reason)),
        "ineffective": TurnCount().after(reason).ineffective,
    }


def _events(given: Mapping[str, Any]) -> list[list[Any]]:
    reason = "hard-limit" if given.get("hard_limited") else given.get("reason", "auto-compact")
    return [list(event) for event in blocking_events(reason, prune=given["prune"])]


def _summary_input(given: Mapping[str, Any]) -> str:
    messages = [
        Message(Role(role), (Text(wtf8(text)),), SUMMARY if rest and rest[0] else "")
        for role, text, *rest in given["messages"]
    ]
    return summary_input(messages, given.get("previous") or "")


def _usage_text(given: Mapping[str, Any]) -> str:
    usage, reserve = given["usage"], given["opts"].get("reserveTokens", 0)
    limit = usage["limit"]
    level = ""
    if limit > 0:
        budget = context_budget(PLUG.trigger, limit, given["opts"].get("thresholdRatio"), reserve)
        level = pressure(usage["used"], budget).value
    return occupancy_text(usage["used"], limit, usage["percentage"], level)


FUNCTIONS: Mapping[str, Callable[[Mapping[str, Any]], Any]] = {
    "acceptance_gate": _gate,
    "adaptive_threshold_ratio": lambda given: [
        adaptive_ratio(length) for length in given["context_lengths"]
    ],
    "adjust_split_for_tool_pairs": _adjust,
    "analyze_context_tokens": _analyse,
    "blocking_event_sequence": _events,
    "breaker_counts_failure": _counts,
    "build_summary_input": _summary_input,
    "circuit_breaker": _breaker,
    "collapse_consecutive_ops": _collapse,
    "compaction_max_tokens": lambda given: soft_budget(given["context_length"], given["reserve"]),
    "compaction_split_index": _split_index,
    "compute_context_budget": _compute_budget,
    "context_pressure_level": lambda given: (
        pressure(given["tokens"], _budget_of(given["budget"])).value
    ),
    "context_suggestions": _suggestions,
    "continuation_message": _continuation,
    "ensure_valid_tool_sequence": _sequence,
    "estimate_message_tokens": lambda given: count_message(_sdk_message(given), PLUG.tokens),
    "estimate_tokens": lambda given: _words(given["text"]),
    "estimate_tool_schemas_tokens": _schemas,
    "extract_facts": _facts,
    "extract_message_text": lambda given: joined_text(_sdk_message(given)),
    "format_context_usage": _usage_text,
    "hard_limit_phase": _hard_phase,
    "history_compact": _history_compact,
    "is_at_hard_limit": _hard_limit,
    "is_usage_silent_overflow": _silent,
    "micro_compact": _micro,
    "needs_compaction": _needs,
    "overflow_recovery": _recovery,
    "per_turn_cap": _cap,
    "post_compact_restoration": _restoration,
    "progressive_prune": _progressive,
    "prune_tool_outputs": _prune_outputs,
    "recommended_max_output_tokens": lambda given: recommended_output(
        given["contextLimit"], given["estimatedInputTokens"], given["reserveTokens"]
    ),
    "should_start_speculative": _speculative,
    "speculative_start_ratio": lambda given: soft_start_ratio(
        given["context_length"], given["reserve"]
    ),
    "structured_state": _state,
    "trigger_levels": _levels,
    "truncate_tool_results_over_budget": _over_budget,
}
