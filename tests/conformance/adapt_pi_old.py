"""The older pi-mono's vectors under the ``pi-old`` policy. Its indexes count file lines."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from snapcompact.compaction.context import build_context, first_kept_at
from snapcompact.compaction.counting import rule_estimator
from snapcompact.compaction.cut import find_cut
from snapcompact.compaction.entries import SUMMARY, Entry, Kind
from snapcompact.compaction.event import compaction_event
from snapcompact.compaction.outcome import manual_gate
from snapcompact.compaction.policy import preset
from snapcompact.compaction.prepare import CutRequest, prepare
from snapcompact.compaction.prompt import prompt_file
from snapcompact.compaction.request import call_prompt, finish, plan_calls
from tests.conformance.notation import entries_of

OLD = preset("pi-old")
ESTIMATE = rule_estimator(OLD.tokens)


def _entries(specs: Sequence[Mapping[str, Any]]) -> tuple[Entry, ...]:
    """Entries named by their line; an index of the first kept becomes an id."""
    named = [{**spec, "id": str(number)} for number, spec in enumerate(specs)]
    entries = entries_of(named, ("anthropic", "claude"))
    made: list[Entry] = []
    for spec, entry in zip(specs, entries, strict=True):
        if entry.mark and "first_kept_index" in spec:
            kept = first_kept_at(entries, spec["first_kept_index"])
            made.append(replace(entry, mark=replace(entry.mark, first_kept=kept)))
        else:
            made.append(entry)
    return tuple(made)


def _cut(given: Mapping[str, Any]) -> int:
    cut = find_cut(
        _entries(given["entries"]), given["keep_recent_tokens"], ESTIMATE, OLD.cut,
        given["start"], given["end"],
    )  # fmt: skip
    assert cut is not None
    return cut.index


def _load(given: Mapping[str, Any]) -> dict[str, Any]:
    context = build_context(_entries(given["entries"]), OLD.context)
    names = ["summary" if i.message.label == SUMMARY else int(i.id) for i in context.items]
    return {
        "messages": names,
        "first_role": context.items[0].message.role.value if context.items else None,
        "thinking": context.thinking,
        "model": (
            {"provider": context.model[0], "modelId": context.model[1]} if context.model else None
        ),
    }


def _compact(given: Mapping[str, Any]) -> dict[str, Any]:
    entries = _entries(given["entries"])
    if manual_gate(last_is_compaction=entries[-1].kind is Kind.COMPACTION):
        return {"error": "Already compacted"}
    settings = given["settings"]
    context = build_context(entries, OLD.context)
    # The header line is no part of the range.
    context = replace(context, path=tuple(e for e in context.path if e.id != "0"))
    asked = CutRequest(keep_tokens=settings["keep_recent_tokens"])
    prepared = prepare(context, asked, ESTIMATE, OLD.prepare)
    if prepared is None:
        return {"error": "Nothing to compact"}
    rules = replace(OLD.summary, reserve_tokens=settings["reserve_tokens"])
    focus = given.get("focus") or ""
    calls = plan_calls(prepared, focus, rules)
    summary = finish(prepared, calls, ["SUM"] * len(calls), rules, OLD.files)
    text = call_prompt(calls[0], OLD.prompt, OLD.serial)
    previous = ["previous-summary"] if calls[0].previous else []
    return {
        "first_kept_index": int(prepared.first_kept),
        "tokens_before": prepared.tokens_before,
        "summary": summary.text,
        "sent": [*previous, *(int(item.id) for item in calls[0].items),
                 "instructions-as-user-message"],
        "max_tokens": calls[0].max_tokens,
        "focus_last": bool(focus)
        and text.endswith(prompt_file("focus").replace("{focus}", focus)),
    }  # fmt: skip


def _rpc(given: Mapping[str, Any]) -> dict[str, Any]:
    automatic = bool(given["request"].get("auto", False))
    record = compaction_event("2031-01-01T00:00:00Z", "S", 3, 1, auto=automatic)
    return {"event_fields": list(record), "type": record["type"]}


FUNCTIONS: Mapping[str, Callable[[Mapping[str, Any]], Any]] = {
    "compact": _compact,
    "find_cut_point_by_usage": _cut,
    "load_session": _load,
    "rpc_compact_event": _rpc,
}
