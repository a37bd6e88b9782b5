"""pi: messages, usage and settings as values of the engine; oh-my-pi shares them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from snapcompact.compaction.context import Context, build_context
from snapcompact.compaction.counting import rule_estimator
from snapcompact.compaction.cut import find_cut
from snapcompact.compaction.entries import BASH, CUSTOM, Entry, summary_message
from snapcompact.compaction.overflow import is_overflow
from snapcompact.compaction.policy import Policy, preset
from snapcompact.compaction.prepare import CutRequest, Preparation, prepare
from snapcompact.history.model import (
    Blob,
    Block,
    Content,
    Message,
    Role,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    wtf8,
)
from tests.conformance.notation import (
    compact_json,
    entries_of,
    usage_of,
)

if TYPE_CHECKING:
    from snapcompact.compaction.trigger import TriggerRules

PI = preset("pi")


ESTIMATE = rule_estimator(PI.tokens)


def trigger_of(settings: Mapping[str, Any], base: Policy = PI) -> TriggerRules:
    return replace(
        base.trigger,
        enabled=settings.get("enabled", True) and settings.get("strategy") != "off",
        reserve_tokens=settings.get("reserveTokens"),
        keep_tokens=settings.get("keepRecentTokens", base.trigger.keep_tokens),
        threshold_percent=settings.get("thresholdPercent", -1),
        threshold_tokens=settings.get("thresholdTokens", -1),
    )


def _parts(content: Any) -> list[Content]:
    if isinstance(content, str):
        return [Text(wtf8(content))]
    return [
        Text(wtf8(part["text"])) if part["type"] == "text" else Blob("image") for part in content
    ]


def _assistant_blocks(content: Any) -> list[Block]:
    blocks: list[Block] = []
    for part in content:
        if part["type"] == "text":
            blocks.append(Text(wtf8(part["text"])))
        elif part["type"] == "thinking":
            sealed = len(part.get("thinkingSignature", ""))
            blocks.append(Thinking(wtf8(part["thinking"]), sealed))
        elif part["type"] == "redactedThinking":
            blocks.append(Thinking(b"", len(part["data"])))
        else:
            blocks.append(ToolCall(part["id"], part["name"], compact_json(part["arguments"])))
    return blocks


def role_message(given: Mapping[str, Any]) -> Message:
    """The message of a plain role object."""
    role, content = given["role"], given.get("content", "")
    if role == "assistant":
        parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
        return Message(Role.ASSISTANT, tuple(_assistant_blocks(parts)))
    if role == "toolResult":
        return Message(Role.TOOL, (ToolResult("c", tuple(_parts(content))),))
    if role == "bashExecution":
        texts = (Text(wtf8(given["command"])), Text(wtf8(given["output"])))
        return Message(Role.USER, texts, BASH)
    if role in ("compactionSummary", "branchSummary"):
        images = tuple(Blob("image") for _ in given.get("images", ()))
        made = summary_message(given["summary"])
        return replace(made, blocks=(*made.blocks, *images))
    if role in ("user", "custom", "hookMessage"):
        label = "" if role == "user" else CUSTOM
        return Message(Role.USER, tuple(_parts(content)), label)
    return Message(Role.NOTE, tuple(_parts(content)), role)


def cut_dict(given: Mapping[str, Any], policy: Policy, budget: int) -> dict[str, Any]:
    entries = entries_of(given["entries"])
    cut = find_cut(
        entries, budget, rule_estimator(policy.tokens), policy.cut, given["start"], given["end"]
    )
    assert cut is not None
    return {
        "firstKeptEntryIndex": cut.index,
        "turnStartIndex": cut.turn_start,
        "isSplitTurn": cut.is_split,
    }


def prepared_of(
    given: Mapping[str, Any], policy: Policy
) -> tuple[Preparation | None, tuple[Entry, ...]]:
    entries = entries_of(given["entries"])
    context = build_context(entries, policy.context)
    asked = CutRequest(keep_tokens=given["settings"].get("keepRecentTokens", 20000))
    return prepare(context, asked, rule_estimator(policy.tokens), policy.prepare), entries


def scripted(given: Mapping[str, Any], count: int) -> list[str]:
    """The model's answers, in call order."""
    answers = [f"SUM{number + 1}" for number in range(count)]
    for number, answer in enumerate(given.get("scripted_summaries", ())[:count]):
        answers[number] = answer
    return [""] * count if str(given.get("llm", "")).startswith("empty") else answers


def context_of(given: Mapping[str, Any], policy: Policy) -> Context:
    leaf = given.get("leaf", "(last)")
    return build_context(
        entries_of(given["entries"]), policy.context,
        None if leaf in (None, "(last)") else leaf, empty=leaf is None,
    )  # fmt: skip


def overflow_message(given: Mapping[str, Any], policy: Policy) -> bool:
    message = given["message"]
    usage, _ = usage_of(message.get("usage"))
    return is_overflow(
        message["stop"], message.get("error", ""), usage, given.get("window") or 0, policy.overflow
    )
