"""oh-my-pi's vectors under the ``oh-my-pi`` policy."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from snapcompact.compaction.context import build_context
from snapcompact.compaction.counting import count_message, rule_estimator
from snapcompact.compaction.edits import Edit, saved_tokens
from snapcompact.compaction.files import split_selector
from snapcompact.compaction.frames import frame_for, frame_tokens
from snapcompact.compaction.guard import Progress, judge_progress
from snapcompact.compaction.micro import shake_regions
from snapcompact.compaction.modes.command import HINT, resolve_order
from snapcompact.compaction.occupancy import trigger_tokens
from snapcompact.compaction.policy import preset
from snapcompact.compaction.prepare import CutRequest, Preparation, prepare
from snapcompact.compaction.prune import prune_input, prune_old, prune_stale
from snapcompact.compaction.request import finish, plan_calls
from snapcompact.compaction.serialise import serialise
from snapcompact.compaction.trigger import resolve_threshold, should_compact, speculation_lead
from snapcompact.tokens.usage import prompt_tokens, window_tokens
from tests.conformance.notation import (
    entries_of,
    items_of,
    log_entries,
    message_of,
    text_of,
    usage_of,
)
from tests.conformance.pi_messages import (
    cut_dict,
    overflow_message,
    prepared_of,
    role_message,
    scripted,
    trigger_of,
)

if TYPE_CHECKING:
    from snapcompact.compaction.entries import Item
from tests.conformance.oh_my_pi_modes import (
    auto,
    manual,
    mode_def,
    parse_args_vector,
    retry,
    usable_vector,
    walk,
)

OMP = preset("oh-my-pi")


ESTIMATE = rule_estimator(OMP.tokens)


def _threshold(given: Mapping[str, Any]) -> dict[str, int]:
    found = resolve_threshold(trigger_of(given["settings"], OMP), given["window"])
    return {
        "threshold": found.tokens,
        "effective_reserve": found.effective_reserve,
        "budget_reserve": found.budget_reserve,
    }


def _usage(given: Mapping[str, Any]) -> dict[str, int]:
    usage, total = usage_of(given)
    assert usage is not None
    own = given.get("orchestration") or {}
    return {
        "context": window_tokens(usage, total, sum(own.values())),
        "prompt": prompt_tokens(usage),
    }


def _prepared_dict(prepared: Preparation | None) -> dict[str, Any] | None:
    if prepared is None:
        return None
    part = prepared.partition
    return {
        "first_kept": prepared.first_kept,
        "summarize": [item.id for item in (*part.recovered, *part.history)],
        "turn_prefix": [item.id for item in part.prefix],
        "recent": [item.id for item in part.kept],
        "is_split_turn": prepared.is_split,
        "tokens_before": prepared.tokens_before,
        "previous_summary": prepared.previous_summary,
    }


def _prepare_log(given: Mapping[str, Any]) -> dict[str, Any] | None:
    entries = log_entries(given["entries"])
    context = build_context(entries, OMP.context)
    kept = given["keep"].split()
    keep = sum(ESTIMATE(i.message) for i in context.items if i.id in kept)
    return _prepared_dict(prepare(context, CutRequest(keep_tokens=keep), ESTIMATE, OMP.prepare))


def _prepare(given: Mapping[str, Any]) -> dict[str, Any] | None:
    if isinstance(given["entries"], str):
        return _prepare_log(given)
    return _prepared_dict(prepared_of(given, OMP)[0])


_KINDS = {"history": "compaction_summary", "prefix": "compaction_turn_prefix",
          "short": "compaction_short_summary"}  # fmt: skip


def _compact(given: Mapping[str, Any]) -> dict[str, Any]:
    prepared, _ = prepared_of(given, OMP)
    if prepared is None:
        return {"error": "Nothing to compact (session too small)"}
    rules = replace(OMP.summary, reserve_tokens=given["settings"].get("reserveTokens") or 16384)
    calls = plan_calls(prepared, given.get("focus") or "", rules, model_reasons=True)
    if str(given.get("llm", "")).startswith("error"):
        return {"error": "Summarization failed: boom", "calls": 1}
    summary = finish(prepared, calls, scripted(given, len(calls)), rules, OMP.files)
    return {
        "summary": summary.text,
        "short": summary.short,
        "details": {
            "readFiles": list(summary.files.read),
            "modifiedFiles": list(summary.files.modified),
        },
        "calls": [
            [_KINDS[call.kind.value], call.max_tokens, "high" if call.reasoning else None]
            for call in calls
        ],
    }


def _selector(given: Mapping[str, Any]) -> dict[str, Any]:
    path, selector = split_selector(given["path"])
    key = f"{path}\0{selector}" if selector else path
    return {
        "path": path,
        "sel": selector or None,
        "supersede_key": None if "://" in given["path"] else key,
    }


def _pruned(items: tuple[Item, ...], edits: tuple[Edit, ...]) -> dict[str, Any]:
    return {
        "pruned": len(edits),
        "saved": saved_tokens(edits),
        "changed": [[items[edit.index].id, edit.text] for edit in edits],
    }


def _superseded(given: Mapping[str, Any]) -> dict[str, Any]:
    items, config = items_of(entries_of(given["entries"])), given["config"]
    rules = replace(
        OMP.prune,
        supersede=bool(config.get("supersede")),
        useless=bool(config.get("pruneUseless")),
        cache_warm_suffix=config.get("cacheWarmSuffixTokens", OMP.prune.cache_warm_suffix),
        idle_flush_ms=config.get("idleFlushMs", OMP.prune.idle_flush_ms),
    )
    seen = prune_input(items, ESTIMATE, config.get("now", 0))
    return _pruned(items, prune_stale(seen, ESTIMATE, rules))


def _tool_outputs(given: Mapping[str, Any]) -> dict[str, Any]:
    items, config = items_of(entries_of(given["entries"])), given["config"]
    warm = config.get("cacheWarmSuffixTokens")
    rules = replace(
        OMP.prune,
        protect_tokens=config.get("protectTokens", OMP.prune.protect_tokens),
        min_savings=config.get("minimumSavings", OMP.prune.min_savings),
        guard_age=warm is not None,
        cache_warm_suffix=warm or OMP.prune.cache_warm_suffix,
    )
    seen = prune_input(items, ESTIMATE, config.get("now", 0))
    boundary = config.get("keepBoundaryId", "")
    return _pruned(items, prune_old(seen, ESTIMATE, rules, boundary=boundary))


def _prune_defaults(_: Mapping[str, Any]) -> dict[str, Any]:
    rules = OMP.prune
    return {
        "protect_tokens": rules.protect_tokens,
        "minimum_savings": rules.min_savings,
        "superseded": rules.superseded_notice,
        "useless": rules.useless_notice,
        "cache_warm_suffix": rules.cache_warm_suffix,
        "idle_flush_ms_engine": rules.idle_flush_ms,
        "idle_flush_ms_agent": rules.agent_idle_flush_ms,
    }


def _shake(given: Mapping[str, Any]) -> list[list[Any]]:
    items, config = items_of(entries_of(given["entries"])), given["config"]
    rules = replace(
        OMP.shake,
        protect_tokens=config["protectTokens"],
        min_savings=config["minSavings"],
        min_block=config["fenceMinTokens"],
    )
    found = shake_regions(items, ESTIMATE, rules, OMP.prune.protected_tools)
    kinds = {"fence": "block", "xml": "block"}
    return [[items[one.index].id, kinds.get(one.kind, one.kind), one.tokens] for one in found]


def _shape(given: Mapping[str, Any]) -> dict[str, Any]:
    model = given["model"] or {"api": "", "id": ""}
    frame = frame_for(model["api"], model["id"], OMP.frames)
    tokens, detail = frame_tokens(frame, model["api"], OMP.frames)
    return {
        "font": frame.font,
        "cell": [frame.cell_width, frame.cell_height],
        "frame": frame.size,
        "geometry": {
            "cols": frame.columns,
            "rows": frame.rows,
            "capacity": frame.columns * frame.rows,
        },
        "tokens_per_frame": tokens,
        "detail": detail or None,
    }


def _limits(_: Mapping[str, Any]) -> dict[str, Any]:
    modes, serial = OMP.modes, OMP.serial
    return {
        "max_frames": modes.max_pages,
        "frame_token_estimate": modes.page_tokens,
        "frame_bytes_estimate": modes.page_bytes,
        "bytes_budget": modes.max_page_bytes,
        "frames_for_bytes": modes.max_page_bytes // modes.page_bytes,
        "hq_edge_frames": modes.edge_pages,
        "image_budgets": dict(OMP.frames.budgets),
        "default_image_budget": modes.default_image_budget,
        "tool_result_max": serial.result_limit,
        "tool_arg_max": serial.argument_limit,
        "tool_call_max": serial.call_limit,
        "head_ratio": serial.head_share,
        "unrenderable_limit": modes.unrenderable_limit,
    }


def _serialize(given: Mapping[str, Any]) -> Any:
    specs = given["messages"]
    text = serialise([message_of(spec, n) for n, spec in enumerate(specs)], OMP.serial)
    if not any("text_repeat" in spec for spec in specs):
        return text
    whole = text_of(specs[0])
    return {
        "length": len(text),
        "keeps_end": whole[-3:] + "\n</out>" == text[-10:],
        "marker": f"{len(whole) - OMP.serial.result_limit}ch elided"
        if f"{len(whole) - OMP.serial.result_limit}ch elided" in text else None,
    }  # fmt: skip


def _progress(given: Mapping[str, Any]) -> dict[str, Any]:
    residual = given.get("residual", 0)
    stuck = "preparation" in given and given["preparation"] is None
    found: Progress = judge_progress(
        None if stuck or given.get("no_headroom") else residual,
        given.get("window", 0), OMP.trigger, OMP.accept,
        reason=given.get("reason", "threshold"), will_retry=given.get("will_retry", False),
        queued=given.get("queued_messages", 0),
    )  # fmt: skip
    made: dict[str, Any] = {
        "fits": found.fits,
        "continue": found.may_continue,
        "shake_rescue": found.rescue,
        "warning": "dead end" if found.dead_end else None,
    }
    if stuck:
        made |= {
            "end_event": {"skipped": True},
            "blocks_automatic_continuation": found.dead_end,
        }
    return made


FUNCTIONS: Mapping[str, Callable[[Mapping[str, Any]], Any]] = {
    "auto_compact_fallback": auto,
    "calculate_context_tokens": _usage,
    "collect_shake_regions": _shake,
    "compact": _compact,
    "compact_acp_hint": lambda _: {"hint": HINT},
    "compact_mode_def": mode_def,
    "compaction_context_tokens": lambda given: trigger_tokens(
        OMP.usage, given["provider"], given["stored_estimate"]
    ),
    "estimate_tokens": lambda given: count_message(role_message(given), OMP.tokens),
    "find_cut_point": lambda given: cut_dict(given, OMP, given["keep_recent_tokens"]),
    "is_context_overflow_message": lambda given: overflow_message(given, OMP),
    "manual_compact_fallback": manual,
    "method_order_walk": walk,
    "method_usable": usable_vector,
    "parse_compact_args": parse_args_vector,
    "prepare_compaction": _prepare,
    "progress_guard": _progress,
    "prune_defaults": _prune_defaults,
    "prune_superseded": _superseded,
    "prune_tool_outputs": _tool_outputs,
    "read_selector": _selector,
    "resolve_method_order": lambda given: list(resolve_order(given["value"])),
    "resolve_threshold_tokens": _threshold,
    "retry_policy": retry,
    "should_compact": lambda given: should_compact(
        trigger_of(given["settings"], OMP), given["context_tokens"], given["window"]
    ),
    "snapcompact_limits": _limits,
    "snapcompact_serialize": _serialize,
    "snapcompact_shape": _shape,
    "speculation_lead_tokens": lambda given: [
        speculation_lead(OMP.trigger, threshold) for threshold in given["thresholds"]
    ],
}
