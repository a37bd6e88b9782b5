"""The calls a summary takes, decided before any is made, and their answers put together after."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from snapcompact.compaction.entries import Files, Item
from snapcompact.compaction.files import FileRules, file_lists, files_text
from snapcompact.compaction.prompt import PromptParts, PromptRules, build_prompt
from snapcompact.compaction.serialise import SerialRules, serialise

if TYPE_CHECKING:
    from snapcompact.compaction.prepare import Preparation
    from snapcompact.history.model import Message

NO_HISTORY = "No prior history."


class Call(StrEnum):
    """What a call is for."""

    HISTORY = "history"
    PREFIX = "prefix"
    SHORT = "short"


@dataclass(frozen=True, slots=True)
class SummaryRules:
    """Budgets, order and merging of the calls."""

    reserve_tokens: int = 16384
    history_share: float = 0.8
    prefix_share: float = 0.5
    short_share: float = 0
    """Share of the reserve for a short summary; 0 asks for none."""
    short_max: int = 512
    output_cap: int = 16384
    input_share: float = 0.8
    """Longer inputs than this share of the window are summarised in windows."""
    window: int = 200000
    """Window of the summarising model where it is not known."""
    reasoning: tuple[str, ...] = ("history",)
    """Calls that may reason, where the model can."""
    focus_to: tuple[str, ...] = ("history", "prefix")
    focus_split_to: tuple[str, ...] = ("history", "prefix")
    previous_alone: str = "history"
    """A previous summary without a history to update: own ``history`` call, to the ``prefix`` call,
    or ``drop``."""
    min_history: int = 1
    """A shorter history joins the prefix call."""
    no_history: bool = False
    """Say so in the summary where there is none."""
    separator: str = "\n\n---\n\n## Current turn, in progress\n\n"
    parallel: bool = True
    accept_empty: bool = False
    role: str = "user"


@dataclass(frozen=True, slots=True)
class SummaryCall:
    """One call: its messages, its limits, and what is said beside the messages."""

    kind: Call
    items: tuple[Item, ...]
    max_tokens: int
    reasoning: bool = False
    previous: str = ""
    focus: str = ""
    update: bool = False

    @property
    def messages(self) -> tuple[Message, ...]:
        """The messages to be summarised."""
        return tuple(item.message for item in self.items)


def _output(rules: SummaryRules, share: float) -> int:
    return min(rules.output_cap, math.floor(share * rules.reserve_tokens))


def _focus_for(kind: Call, focus: str, *, split: bool, rules: SummaryRules) -> str:
    return focus if kind.value in (rules.focus_split_to if split else rules.focus_to) else ""


def plan_calls(
    prepared: Preparation, focus: str, rules: SummaryRules, *, model_reasons: bool = False
) -> tuple[SummaryCall, ...]:
    """The calls of a summary, in order; a previous summary always reaches one unless dropped."""
    partition, previous = prepared.partition, prepared.previous_summary or ""
    history = (*partition.recovered, *partition.history)
    prefix = partition.prefix
    if prefix and 0 < len(history) < rules.min_history:
        history, prefix = (), (*history, *prefix)
    calls: list[SummaryCall] = []
    alone = bool(previous) and not history and bool(prefix)
    if history or not prefix or (alone and rules.previous_alone == "history"):
        calls.append(
            SummaryCall(Call.HISTORY, history, _output(rules, rules.history_share),
                        previous=previous)
        )  # fmt: skip
    if prefix:
        given = previous if alone and rules.previous_alone == "prefix" else ""
        calls.append(
            SummaryCall(Call.PREFIX, prefix, _output(rules, rules.prefix_share), previous=given)
        )
    if rules.short_share:
        most = min(rules.short_max, math.floor(rules.short_share * rules.reserve_tokens))
        calls.append(SummaryCall(Call.SHORT, (), most))
    return tuple(
        replace(
            call,
            focus=_focus_for(call.kind, focus, split=bool(prefix), rules=rules),
            reasoning=model_reasons and call.kind.value in rules.reasoning,
        )
        for call in calls
    )


_PREFIX_RULES = {Call.PREFIX: "prefix", Call.SHORT: "short"}


def call_prompt(
    call: SummaryCall, rules: PromptRules, serial: SerialRules, *, state: str = "", task: str = ""
) -> str:
    """The user turn of `call`."""
    template = _PREFIX_RULES.get(call.kind)
    if template:
        rules = replace(rules, template=template, instructions="")
    words = serialise(call.messages, serial)
    return build_prompt(PromptParts(words, call.previous, call.focus, state, task), rules)


@dataclass(frozen=True, slots=True)
class Summary:
    """The text of a finished summary."""

    text: str
    short: str = ""
    files: Files = field(default_factory=Files)


def join_answers(
    calls: Sequence[SummaryCall], answers: Sequence[str], rules: SummaryRules
) -> tuple[str, str]:
    """(summary, short summary) of the answers to `calls`, in their order."""
    by_kind = {call.kind: answer.strip() for call, answer in zip(calls, answers, strict=True)}
    history = by_kind.get(Call.HISTORY, "")
    if Call.PREFIX not in by_kind:
        return history, by_kind.get(Call.SHORT, "")
    if not history and rules.no_history:
        history = NO_HISTORY
    prefix = by_kind[Call.PREFIX]
    text = history + rules.separator + prefix if history and prefix else history or prefix
    return text, by_kind.get(Call.SHORT, "")


def finish(
    prepared: Preparation, calls: Sequence[SummaryCall], answers: Sequence[str],
    rules: SummaryRules, files: FileRules,
) -> Summary:  # fmt: skip
    """The summary with its file lists appended."""
    text, short = join_answers(calls, answers, rules)
    lists = file_lists(prepared.ops, files)
    return Summary(text + files_text(lists, files) if text else text, short, lists)


def input_windows(
    counts: Sequence[int], limit: int, borders: Sequence[int]
) -> tuple[tuple[int, int], ...]:
    """Ranges of messages that fit `limit` tokens each, cut at `borders` only (see pairs.reach).

    A single stretch between two borders that is larger than the limit is a range of its own.
    """
    ranges: list[tuple[int, int]] = []
    start, total = 0, 0
    marks = [*(border for border in borders if 0 < border < len(counts)), len(counts)]
    last = 0
    for mark in marks:
        size = sum(counts[last:mark])
        if total and total + size > limit:
            ranges.append((start, last))
            start, total = last, 0
        total += size
        last = mark
    if last > start:
        ranges.append((start, last))
    return tuple(ranges)


def output_limit(window: int, input_tokens: int) -> int:
    """Tokens a summary may take of a model with `window`: a tenth of it, 64 to 4096.

    At most 40 % of what the input leaves; 4096 for an unknown window.
    """
    if window <= 0:
        return 4096
    wanted = max(64, min(4096, window // 10))
    return max(1, min(wanted, math.floor(0.4 * max(0, window - input_tokens))))


SMALL_WINDOW = 4096
"""A summarising model with a smaller window gets the short template, without sections."""


def template_for(window: int, template: str) -> str:
    """`template`, or the short one for a small window."""
    return "small" if 0 < window < SMALL_WINDOW else template
