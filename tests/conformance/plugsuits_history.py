"""A history like plugsuits': its whole-run vectors, carried out as the engine decides."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from snapcompact.compaction.context import Context
from snapcompact.compaction.counting import rule_estimator
from snapcompact.compaction.edits import apply_edits
from snapcompact.compaction.entries import (
    SUMMARY,
    Entry,
    Item,
    Kind,
    Mark,
    calls_of,
    results_of,
    summary_message,
)
from snapcompact.compaction.facts import serves_as_summary
from snapcompact.compaction.guard import Acceptance, accept, check_summary, continuation, to_replay
from snapcompact.compaction.install import CONTINUATION, continuation_message
from snapcompact.compaction.outcome import Reason
from snapcompact.compaction.pairs import reach
from snapcompact.compaction.policy import Policy, preset
from snapcompact.compaction.prepare import CutRequest, prepare
from snapcompact.compaction.progressive import prune_levels
from snapcompact.compaction.prompt import prompt_file
from snapcompact.compaction.recovery import Climb, Step, climb
from snapcompact.history.model import Block, Message, Role, Text, ToolCall, ToolResult, wtf8
from tests.conformance.notation import compact_json

PLUG = preset("plugsuits")
ESTIMATE = rule_estimator(PLUG.tokens)


def part_blocks(parts: Sequence[Mapping[str, Any]]) -> tuple[Block, ...]:
    """Blocks of a parts notation."""
    blocks: list[Block] = []
    for part in parts:
        if "call" in part:
            args = compact_json(part.get("input", {}))
            blocks.append(ToolCall(str(part["id"]), part["call"], args))
        elif "result" in part:
            text = part.get("text", "x" * part.get("chars", 0))
            blocks.append(ToolResult(str(part["id"]), (Text(wtf8(text)),)))
        else:
            blocks.append(Text(wtf8(part.get("text", "x" * part.get("text_chars", 0)))))
    return tuple(blocks)


def part_tools(parts: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Tool names by call id."""
    return {str(p["id"]): p["result"] for p in parts if "result" in p}


def item_of(spec: Mapping[str, Any], number: int) -> Item:
    """An item of ``{role, text | parts}``."""
    parts = spec.get("parts", [])
    blocks = part_blocks(parts) if parts else (Text(wtf8(spec.get("text", ""))),)
    message = Message(Role(spec["role"]), blocks)
    entry = Entry(f"e{number}", Kind.MESSAGE, message, time_ms=number, tools=part_tools(parts))
    return Item(entry, message)


def _repeated(parts: Sequence[Any], number: int) -> str:
    made = [part if isinstance(part, str) else part[0] * part[1] for part in parts]
    return "".join(made).replace("{i}", str(number))


def history_items(spec: Mapping[str, Any]) -> list[Item]:
    """Items of a ``history_spec``."""
    if "messages" in spec:
        return [item_of(one, number) for number, one in enumerate(spec["messages"])]
    dialog = spec["dialog"]
    specs: list[dict[str, Any]] = []
    for turn in range(dialog["turns"]):
        specs += [
            {"role": role, "text": _repeated(dialog[role], turn)}
            for role in ("user", "assistant")
            if role in dialog
        ]
    return [item_of(one, number) for number, one in enumerate(specs)]


def shown(item: Item) -> str:
    """``role:first 12 characters``, or what the item is."""
    message = item.message
    if message.label in (SUMMARY, CONTINUATION):
        return message.label
    if calls_of(message):
        return f"{message.role.value}:tool-call"
    if results_of(message):
        return f"{message.role.value}:tool-result"
    return f"{message.role.value}:{message.text[:12]}"


@dataclass
class Run:
    """The outcome of one compaction."""

    reason: Reason
    method: str | None = None
    variant: str | None = None
    acceptance: Acceptance | None = None
    rolled_back: bool = False


@dataclass
class History:
    """Messages, those in force, and the settings."""

    items: list[Item]
    window: int
    policy: Policy = PLUG
    summary: str | None = "Summary"
    reserve: int = 32
    direction: str = "keep-recent"
    state: str = ""
    pruning: bool = False
    all: list[Item] = field(default_factory=list)
    calls: int = 0

    def __post_init__(self) -> None:
        self.all = list(self.items)

    def tokens(self, items: Sequence[Item] | None = None) -> int:
        return sum(ESTIMATE(item.message) for item in (self.items if items is None else items))

    def _context(self) -> Context:
        path = tuple(item.entry for item in self.items if item.entry.kind is Kind.MESSAGE)
        mark = next((i.entry for i in self.items if i.entry.kind is Kind.COMPACTION), None)
        return Context(tuple(self.items), (mark, *path) if mark else path, mark)

    def compact(self, auto: bool | None, keep: int = 0) -> Run:
        if not self.policy.trigger.enabled:
            return Run(Reason.DISABLED)
        if not self.items:
            return Run(Reason.NO_MESSAGES)
        text, method = self._text()
        if text is None:
            return Run(Reason.NO_SUMMARISER)
        asked = CutRequest(
            auto=auto, direction=self.direction,
            keep_tokens=keep or self.policy.trigger.keep_tokens,
        )  # fmt: skip
        prepared = prepare(self._context(), asked, ESTIMATE, self.policy.prepare)
        if prepared is None:
            return Run(Reason.NOTHING)
        checked = check_summary(text, self.policy.accept)
        if checked is not Reason.DONE:
            return Run(checked)
        kept = prepared.partition.kept
        replay = to_replay(self.items, kept, self.policy.accept) if auto else None
        made = [*prepared.partition.before, *self._added(text), *kept]
        made += [replay] if replay else []
        judged = accept(
            self.tokens(), self.tokens(made), self.window, self.reserve, self.policy.accept,
            auto=bool(auto),
        )  # fmt: skip
        if not judged.accepted:
            return Run(judged.reason, acceptance=judged, rolled_back=True)
        place = len(prepared.partition.before) + len(prepared.partition.summarised)
        self.all = [*self.all[:place], *self._added(text), *kept, *([replay] if replay else [])]
        self.items = made
        variant = continuation(auto=bool(auto), replay=replay is not None).value
        return Run(Reason.DONE, method, variant, judged)

    def _text(self) -> tuple[str | None, str]:
        if serves_as_summary(self.state, self.tokens([self._words(self.state)]), self.window):
            return self.state, "session-memory"
        self.calls += self.summary is not None
        return self.summary, "llm"

    @staticmethod
    def _words(text: str) -> Item:
        return item_of({"role": "user", "text": text}, 0)

    @staticmethod
    def _added(text: str) -> list[Item]:
        summary = summary_message(text, Role.ASSISTANT)
        entry = Entry("summary", Kind.COMPACTION, summary, mark=Mark(text))
        spoken = continuation_message(prompt_file("continue"))
        return [
            Item(entry, summary),
            Item(Entry("continuation", Kind.CUSTOM, spoken), spoken),
        ]

    def recover(self, *, truncate: bool = False) -> Climb:
        target = self.window - self.reserve

        def pruned(items: Sequence[Item]) -> Sequence[Item] | None:
            found = prune_levels(items, target, ESTIMATE, self.policy.levels)
            return apply_edits(items, found.edits)

        def compacted(auto: bool | None) -> Step:
            def step(_: Sequence[Item]) -> Sequence[Item] | None:
                copy = replace(self)
                copy.policy = replace(self.policy, accept=replace(self.policy.accept, gate=False))
                run = copy.compact(auto)
                return copy.items if run.reason is Reason.DONE else None

            return step

        def truncated(items: Sequence[Item]) -> Sequence[Item] | None:
            safe = reach([item.message for item in items])
            borders = [i for i in range(len(items)) if safe[i] >= i]
            return next((items[i:] for i in borders if self.tokens(items[i:]) <= target), None)

        steps: list[tuple[str, Step]] = [("prune", pruned)] if self.pruning else []
        if self.policy.trigger.enabled and self.summary is not None:
            steps += [("compact", compacted(None)), ("aggressive-compact", compacted(True))]
            steps += [("truncate", truncated)] if truncate else []
        return climb(self.items, steps, lambda items: self.tokens(items) <= target)
