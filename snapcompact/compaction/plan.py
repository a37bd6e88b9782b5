"""Everything decided about one compaction, as one frozen value; nothing has been touched by it.

:func:`decide` prunes, cuts, shrinks and plans the calls over a :class:`Context`; the mode is
chosen by ``modes.choose`` with what pages would cost. Others carry the plan out.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from snapcompact.compaction.collapse import collapse
from snapcompact.compaction.counting import memoised
from snapcompact.compaction.edits import Edit, apply_edits, saved_tokens
from snapcompact.compaction.entries import Item, is_summary
from snapcompact.compaction.guard import Acceptance, accept
from snapcompact.compaction.micro import clear_results, shorten_answers
from snapcompact.compaction.outcome import Outcome, Reason
from snapcompact.compaction.prepare import CutRequest, Partition, Preparation, prepare
from snapcompact.compaction.progressive import prune_levels
from snapcompact.compaction.prune import prune_input, prune_old, prune_stale
from snapcompact.compaction.request import SummaryCall, plan_calls
from snapcompact.compaction.restore import is_protected
from snapcompact.compaction.shrink import Shrunk, shrink_tail
from snapcompact.compaction.trigger import keep_budget, resolve_reserve, resolve_threshold

if TYPE_CHECKING:
    from snapcompact.compaction.context import Context
    from snapcompact.compaction.counting import Estimator
    from snapcompact.compaction.modes.choose import ModeDecision, PageForecast
    from snapcompact.compaction.policy import Policy


@dataclass(frozen=True, slots=True)
class Ask:
    """One request to compact."""

    window: int = 0
    max_output: int = 0
    focus: str = ""
    automatic: bool = False
    cut: CutRequest = field(default_factory=CutRequest)
    now_ms: int = 0
    plan_files: tuple[str, ...] = ()
    """Paths of active plans: never pruned."""
    model_reasons: bool = False


@dataclass(frozen=True, slots=True)
class Reduction:
    """One step that made items smaller before the summary."""

    name: str
    edits: tuple[Edit, ...]

    @property
    def saved(self) -> int:
        """Tokens saved."""
        return saved_tokens(self.edits)


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be done. ``outcome`` says why nothing is, where nothing is."""

    policy: str
    window: int
    threshold: int
    keep_tokens: int
    tokens_before: int
    """By the same estimator, and over the same items, as every other figure here."""
    outcome: Outcome | None = None
    preparation: Preparation | None = None
    tail: Shrunk | None = None
    """The kept tail, shrunk where it alone was over the window."""
    reductions: tuple[Reduction, ...] = ()
    """Made to what is summarised, for the summariser's eyes only: the archive holds it all."""
    calls: tuple[SummaryCall, ...] = ()
    protected: tuple[Item, ...] = ()
    """Carried word for word though the summary holds them."""
    mode: ModeDecision | None = None
    forecast: PageForecast | None = None
    usd: float | None = None
    warnings: tuple[str, ...] = ()

    @property
    def partition(self) -> Partition:
        """The partition, empty where nothing is to be done."""
        return self.preparation.partition if self.preparation else Partition()

    def kept_tokens(self, estimator: Estimator) -> int:
        """Tokens of all that stays word for word; of everything, where nothing is to be done."""
        if self.preparation is None:
            return self.tail.tokens if self.tail else self.tokens_before
        part = self.partition
        kept = sum(estimator(i.message) for i in (*part.before, *part.pinned, *self.protected))
        tail = self.tail.tokens if self.tail else sum(estimator(i.message) for i in part.kept)
        return kept + tail


def _reduce(
    items: Sequence[Item], ask: Ask, estimator: Estimator, policy: Policy
) -> tuple[tuple[Item, ...], tuple[Reduction, ...]]:
    """`items` made smaller for a summariser, and the steps that did it, each counted."""
    now = tuple(items)
    steps: list[Reduction] = []

    def take(name: str, edits: Sequence[Edit]) -> None:
        nonlocal now
        if edits:
            steps.append(Reduction(name, tuple(edits)))
            now = apply_edits(now, edits)

    if policy.prune.enabled:
        seen = prune_input(now, estimator, ask.now_ms)
        stale = prune_stale(seen, estimator, policy.prune, ask.plan_files)
        old = prune_old(seen, estimator, policy.prune, ask.plan_files, done=stale)
        take("stale", stale)
        take("old output", old)
    if policy.collapse.enabled:
        rules = replace(policy.collapse, protect_messages=0)
        groups = collapse(now, rules, policy.planning_tokens)
        take("collapse", [edit for group in groups for edit in group.edits])
    if policy.micro.enabled:
        take("long answers", shorten_answers(now, estimator, policy.micro))
        take("old results", clear_results(now, estimator, policy.micro, ask.now_ms))
    target = math.floor(ask.window * policy.levels.input_share)
    if target > 0:
        take("levels", prune_levels(now, target, estimator, policy.levels).edits)
    return now, tuple(steps)


def _reduced(
    partition: Partition, ask: Ask, estimator: Estimator, policy: Policy
) -> tuple[Partition, tuple[Reduction, ...]]:
    """`partition` with what is summarised made smaller, and the steps that did it."""
    items, steps = _reduce(partition.summarised, ask, estimator, policy)
    first = len(partition.recovered)
    second = first + len(partition.history)
    made = replace(
        partition, recovered=items[:first], history=items[first:second], prefix=items[second:]
    )
    return made, steps


def _room(ask: Ask, policy: Policy) -> int:
    """Tokens the kept tail may hold at most, 0 for no limit."""
    if ask.window <= 0:
        return 0
    return max(1, ask.window - resolve_reserve(policy.trigger, ask.window, ask.max_output)[1])


def _shrink(
    items: Sequence[Item],
    ask: Ask,
    estimator: Estimator,
    policy: Policy,
    pointer: Callable[[Item], str],
    *,
    beside: Sequence[Item] | None,
) -> Shrunk | None:
    """`items` cut down where they are too large.

    `beside` is what else stays word for word next to the summary; None says that no summary joins
    them at all.
    """
    rules, room = policy.shrink, _room(ask, policy)
    total = sum(estimator(item.message) for item in items)
    fixed = sum(estimator(item.message) for item in beside or ())
    start = room if beside is None else math.floor(room * rules.start_share)
    if not rules.enabled or not room or total + fixed <= start:
        return None
    target = max(1, math.floor(room * rules.target_share) - fixed)
    return shrink_tail(items, target, estimator, rules, pointer)


def archive_pointer(item: Item) -> str:
    """Where the whole of a cut item stands: in the archive, under its entry's id."""
    return f"the archive, entry {item.id}"


def _protected(partition: Partition, policy: Policy) -> tuple[Item, ...]:
    if not policy.restore.protect_skills:
        return ()
    return tuple(i for i in partition.summarised if is_protected(i.message.text))


def _nothing(context: Context) -> Outcome:
    words = [item for item in context.items if not is_summary(item.message)]
    if not words:
        return Outcome(Reason.NO_MESSAGES, "Nothing to compact")
    if context.path and context.path[-1] is context.compaction:
        return Outcome(Reason.ALREADY, "Nothing to compact: nothing came since the last one")
    return Outcome(Reason.NOTHING, "Nothing to compact: all of it fits what is kept")


def decide(
    context: Context, ask: Ask, estimator: Estimator, policy: Policy,
    pointer: Callable[[Item], str] = archive_pointer,
) -> Plan:  # fmt: skip
    """The plan for `context`; its ``outcome`` is set where there is nothing to do.

    Where no cut helps but the tail alone is over the window, the plan has a tail and no
    preparation. `pointer` names where a cut item can be read whole. Raises UsageError for a range
    that is not there.
    """
    estimator = memoised(estimator)
    budget = ask.cut.keep_tokens or keep_budget(policy.trigger, ask.window, ask.max_output)
    room = _room(ask, policy)
    budget = min(budget, room) if room and not ask.cut.keep_tokens else budget
    plan = Plan(
        policy=policy.name,
        window=ask.window,
        threshold=resolve_threshold(policy.trigger, ask.window, ask.max_output).tokens,
        keep_tokens=budget,
        tokens_before=sum(estimator(item.message) for item in context.items),
        warnings=context.warnings,
    )
    prepared = prepare(context, replace(ask.cut, keep_tokens=budget), estimator, policy.prepare)
    if prepared is None:
        tail = _shrink(context.items, ask, estimator, policy, pointer, beside=None)
        return replace(plan, tail=tail) if tail else replace(plan, outcome=_nothing(context))
    part, protected = prepared.partition, _protected(prepared.partition, policy)
    beside = (*part.before, *part.pinned, *protected)
    tail = _shrink(part.kept, ask, estimator, policy, pointer, beside=beside)
    reduced, steps = _reduced(prepared.partition, ask, estimator, policy)
    calls = plan_calls(
        replace(prepared, partition=reduced), ask.focus, policy.summary,
        model_reasons=ask.model_reasons,
    )  # fmt: skip
    return replace(
        plan,
        preparation=prepared,
        tail=tail,
        reductions=steps,
        calls=calls,
        protected=protected,
    )


def judge(plan: Plan, added_tokens: int, ask: Ask, estimator: Estimator, policy: Policy
          ) -> Acceptance:  # fmt: skip
    """Whether a result of `added_tokens` (summary, pages) and the kept rest may be written."""
    after = added_tokens + plan.kept_tokens(estimator)
    reserve = resolve_reserve(policy.trigger, ask.window, ask.max_output)[1]
    return accept(plan.tokens_before, after, ask.window, reserve, policy.accept, auto=ask.automatic)


def plan_lines(plan: Plan, estimator: Estimator) -> Iterator[str]:
    """The plan as ``--dry-run`` prints it, a fact a line."""
    yield f"policy {plan.policy}, window {plan.window or 'unknown'}, threshold {plan.threshold}"
    yield f"before: {plan.tokens_before} tokens"
    if plan.outcome:
        yield plan.outcome.detail
        return
    part = plan.partition
    if plan.preparation:
        split = ", inside a turn" if plan.preparation.is_split else ""
        yield f"cut: first kept {plan.preparation.first_kept or 'nothing'}{split}"
        yield (
            f"summarised: {len(part.summarised)} messages; kept: {len(part.kept)}; "
            f"pinned: {len(part.pinned)}"
        )
    yield f"kept word for word: {plan.kept_tokens(estimator)} tokens"
    if plan.tail:
        fits = "fits" if plan.tail.fits else "is still over the window"
        yield f"kept tail shrunk by {len(plan.tail.edits)} cuts, {fits}"
    for step in plan.reductions:
        yield f"before the summary, {step.name}: {len(step.edits)} results, {step.saved} tokens"
    if plan.mode:
        for skip in plan.mode.skipped:
            yield f"skipped {skip.mode}: {skip.reason}"
        yield f"mode: {plan.mode.mode}{' (extract, no model)' if plan.mode.extract else ''}"
    if plan.forecast and plan.forecast.pages:
        yield f"pages: {plan.forecast.pages}, {plan.forecast.tokens} tokens"
    if plan.usd is not None:
        yield f"cost: ${plan.usd:.4f}"
    yield from (f"warning: {warning}" for warning in plan.warnings)
