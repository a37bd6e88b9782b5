"""plugsuits: pruning, folding, shortening, analysis, restoration, facts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from snapcompact.compaction.analysis import Analysis, Tally, analyse, suggestions
from snapcompact.compaction.collapse import collapse
from snapcompact.compaction.counting import (
    rule_estimator,
)
from snapcompact.compaction.edits import apply_edits, saved_tokens
from snapcompact.compaction.entries import SUMMARY, Entry, Item, Kind, results_of
from snapcompact.compaction.facts import Fact, FactRules, extract_facts, structured_state
from snapcompact.compaction.micro import clear_results, shorten_answers
from snapcompact.compaction.modes.extract import summary_input
from snapcompact.compaction.progressive import prune_large, prune_levels
from snapcompact.compaction.restore import Restorable, RestoreRules, restoration
from snapcompact.compaction.shrink import cut_results
from snapcompact.history.model import (
    Block,
    Message,
    Role,
    Text,
    ToolCall,
    ToolResult,
    wtf8,
)
from tests.conformance.notation import repeated, text_of
from tests.conformance.plugsuits_history import (
    ESTIMATE,
    PLUG,
    item_of,
)
from tests.conformance.plugsuits_limits import PLAIN, PLANNING, budget_of, words


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


def prune_outputs(given: Mapping[str, Any]) -> dict[str, Any]:
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


def progressive(given: Mapping[str, Any]) -> dict[str, Any]:
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


def collapse_vector(given: Mapping[str, Any]) -> dict[str, Any]:
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


def micro(given: Mapping[str, Any]) -> dict[str, Any]:
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


def analyse_vector(given: Mapping[str, Any]) -> dict[str, Any]:
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


def suggestions_vector(given: Mapping[str, Any]) -> list[dict[str, Any]]:
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
    made = suggestions(found, budget_of(given["budget"]), given["tokens"])
    return [
        {"level": one.level, "message": one.text}
        | ({"estimatedSavings": one.saving} if one.saving else {})
        for one in made
    ]


def restoration_vector(given: Mapping[str, Any]) -> list[dict[str, Any]]:
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
    found = restoration(items, given["kept_texts"], words, rules)
    return [{"label": one.label, "tokens": one.tokens, "truncated": one.truncated} for one in found]


def facts(given: Mapping[str, Any]) -> dict[str, Any]:
    found = extract_facts(given["text"])
    return {"count": len(found), "facts": [[f.category, f.key, f.value] for f in found]}


def state(given: Mapping[str, Any]) -> str | None:
    facts = [Fact(*fact) for fact in given["facts"]]
    rules = FactRules(max_tokens=given.get("max_tokens", 500))
    return structured_state(facts, words, rules)


def over_budget(given: Mapping[str, Any]) -> dict[str, Any]:
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


def summary_input_vector(given: Mapping[str, Any]) -> str:
    messages = [
        Message(Role(role), (Text(wtf8(text)),), SUMMARY if rest and rest[0] else "")
        for role, text, *rest in given["messages"]
    ]
    return summary_input(messages, given.get("previous") or "")
