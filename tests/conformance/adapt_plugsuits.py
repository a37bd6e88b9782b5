"""plugsuits' vectors under the ``plugsuits`` policy."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from snapcompact.compaction.breaker import (
    TurnCount,
    counts_as_failure,
    per_turn_cap,
)
from snapcompact.compaction.counting import (
    count_message,
    joined_text,
)
from snapcompact.compaction.guard import Continuation
from snapcompact.compaction.install import CONTINUATION, continuation_message
from snapcompact.compaction.outcome import Reason
from snapcompact.compaction.prompt import prompt_file
from snapcompact.compaction.speculate import blocking_events
from snapcompact.compaction.trigger import (
    adaptive_ratio,
    pressure,
    recommended_output,
    should_compact,
    soft_budget,
    soft_start_ratio,
)
from tests.conformance.notation import text_of
from tests.conformance.plugsuits_history import (
    PLUG,
    History,
    history_items,
    item_of,
    shown,
)
from tests.conformance.plugsuits_limits import (
    adjust,
    breaker,
    budget_of,
    compute_budget,
    hard_limit,
    hard_phase,
    levels,
    needs,
    schemas,
    sdk_message,
    sequence,
    silent,
    speculative,
    split_index,
    usage_text,
    words,
)
from tests.conformance.plugsuits_pruning import (
    analyse_vector,
    collapse_vector,
    facts,
    micro,
    over_budget,
    progressive,
    prune_outputs,
    restoration_vector,
    state,
    suggestions_vector,
    summary_input_vector,
)


def _continuation(given: Mapping[str, Any]) -> dict[str, Any]:
    Continuation(given["variant"])
    message = continuation_message(prompt_file("continue"))
    return {
        "role": message.role.value,
        "is_continuation": message.label == CONTINUATION,
        "variants": [variant.value for variant in Continuation],
    }


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


def _recovery(given: Mapping[str, Any]) -> dict[str, Any]:
    history = _history(given)
    found = history.recover(truncate=bool(given.get("truncate", True)))
    return {
        "success": found.success,
        "strategy": found.strategy or None,
        "error": found.error or None,
        "active": [shown(item) for item in found.items],
    }


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


FUNCTIONS: Mapping[str, Callable[[Mapping[str, Any]], Any]] = {
    "acceptance_gate": _gate,
    "adaptive_threshold_ratio": lambda given: [
        adaptive_ratio(length) for length in given["context_lengths"]
    ],
    "adjust_split_for_tool_pairs": adjust,
    "analyze_context_tokens": analyse_vector,
    "blocking_event_sequence": _events,
    "breaker_counts_failure": _counts,
    "build_summary_input": summary_input_vector,
    "circuit_breaker": breaker,
    "collapse_consecutive_ops": collapse_vector,
    "compaction_max_tokens": lambda given: soft_budget(given["context_length"], given["reserve"]),
    "compaction_split_index": split_index,
    "compute_context_budget": compute_budget,
    "context_pressure_level": lambda given: (
        pressure(given["tokens"], budget_of(given["budget"])).value
    ),
    "context_suggestions": suggestions_vector,
    "continuation_message": _continuation,
    "ensure_valid_tool_sequence": sequence,
    "estimate_message_tokens": lambda given: count_message(sdk_message(given), PLUG.tokens),
    "estimate_tokens": lambda given: words(given["text"]),
    "estimate_tool_schemas_tokens": schemas,
    "extract_facts": facts,
    "extract_message_text": lambda given: joined_text(sdk_message(given)),
    "format_context_usage": usage_text,
    "hard_limit_phase": hard_phase,
    "history_compact": _history_compact,
    "is_at_hard_limit": hard_limit,
    "is_usage_silent_overflow": silent,
    "micro_compact": micro,
    "needs_compaction": needs,
    "overflow_recovery": _recovery,
    "per_turn_cap": _cap,
    "post_compact_restoration": restoration_vector,
    "progressive_prune": progressive,
    "prune_tool_outputs": prune_outputs,
    "recommended_max_output_tokens": lambda given: recommended_output(
        given["contextLimit"], given["estimatedInputTokens"], given["reserveTokens"]
    ),
    "should_start_speculative": speculative,
    "speculative_start_ratio": lambda given: soft_start_ratio(
        given["context_length"], given["reserve"]
    ),
    "structured_state": state,
    "trigger_levels": levels,
    "truncate_tool_results_over_budget": over_budget,
}
