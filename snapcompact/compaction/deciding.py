"""One compaction decided: what goes, what stays, by which mode; nothing is touched by it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from snapcompact.compaction.estimator import LearnedEstimator
from snapcompact.compaction.modes.choose import ModeDecision, ModeInputs, ModeRules, choose_mode
from snapcompact.compaction.modes.command import MODES
from snapcompact.compaction.modes.job import Job, Say, quiet
from snapcompact.compaction.modes.remote import has_native
from snapcompact.compaction.modes.snapcompact import Drawn, drawing
from snapcompact.compaction.plan import Ask, Plan, decide
from snapcompact.compaction.policy import preset
from snapcompact.compaction.prepare import CutRequest
from snapcompact.compaction.pricing import PricedEstimator
from snapcompact.compaction.session import context_of, whole_name
from snapcompact.compaction.trigger import resolve_reserve
from snapcompact.errors import UsageError
from snapcompact.llm.client import PROTOCOLS
from snapcompact.providers.catalog import match, user_catalog
from snapcompact.tokens import families

if TYPE_CHECKING:
    from snapcompact.compaction.context import Context
    from snapcompact.compaction.counting import Estimator
    from snapcompact.compaction.modes.choose import PageForecast
    from snapcompact.compaction.policy import Policy
    from snapcompact.compaction.settings import Settings
    from snapcompact.compaction.writers.contract import Stored
    from snapcompact.llm.contract import Endpoint, Model
    from snapcompact.providers.catalog import Match


@dataclass(frozen=True, slots=True)
class Options:
    """What is asked for, beside the settings."""

    mode: str | None = None
    focus: str = ""
    reader: str = ""
    """Model id that will read the session; empty is the session's own."""
    window: int = 0
    """Tokens; 0 is the reader's."""
    model: Model | None = None
    """Summarises; None: a deterministic extract."""
    endpoint: Endpoint | None = None
    """Of the provider whose own compaction may be used."""
    cut: CutRequest = field(default_factory=lambda: CutRequest(force=True))
    strict: bool = False
    offline: bool = False
    in_place: bool = False
    """The result takes the session's place."""
    automatic: bool = False
    reason: str = ""
    """Of an automatic run."""
    byte_limited: bool = False
    reference: bool = False
    task_aware: bool = False
    archive: Path | None = None
    """Where pages are archived."""
    now: datetime = field(default_factory=lambda: datetime.now(UTC))
    say: Say = quiet
    on_text: Say = quiet


@dataclass(frozen=True, slots=True)
class Prepared:
    """A compaction decided. ``plan.outcome`` says where there is nothing to do."""

    job: Job
    context: Context
    ask: Ask
    options: Options
    rules: ModeRules
    native: bool
    handoff: bool = False
    """The whole session is archived as well, where its mode makes no archive."""

    @property
    def plan(self) -> Plan:
        """The plan."""
        return self.job.plan

    @property
    def estimator(self) -> Estimator:
        """The one that counts before and after."""
        return self.job.estimator


def prepared(stored: Stored, options: Options, settings: Settings) -> Prepared:
    """The compaction of `stored` as decided, without its mode (see :func:`with_mode`).

    Raises UsageError, FocusRefusedError before anything else is looked at.
    """
    policy = settings.policy
    context = context_of(stored, policy.context)
    row = reader_row(context, options).model
    family = row.tokenizer if row.tokenizer in families() else "o200k"
    estimator = PricedEstimator(LearnedEstimator(family, policy.tokens), policy.tokens, row)
    estimator.prime([item.message for item in context.items])
    ask = Ask(
        window=options.window or int(str(settings.value("apply.window"))) or row.window_tokens,
        focus=options.focus,
        automatic=options.automatic,
        cut=options.cut,
        now_ms=int(options.now.timestamp() * 1000),
    )
    name = whole_name(stored, in_place=options.in_place)
    plan = decide(context, ask, estimator, policy, lambda item: f"{name}, entry {item.id}")
    remote_url = settings.value("apply.remote_endpoint")
    remote_on = bool(settings.value("apply.remote_enabled"))
    job = Job(
        plan, stored, policy, estimator, row,
        focus=options.focus,
        model=options.model,
        summary_window=_summary_window(options.endpoint),
        task_aware=options.task_aware,
        endpoint=options.endpoint,
        remote_url=str(remote_url) if remote_on else "",
        reference=options.reference,
        archive=options.archive,
        room=_room(plan, ask, estimator, policy),
        say=options.say,
        on_text=options.on_text,
    )  # fmt: skip
    rules = replace(
        policy.modes,
        strict=options.strict or policy.modes.strict,
        offline=options.offline or policy.modes.offline,
        max_page_bytes=int(row.caps.request_bytes.low),
        max_pages=_image_cap(stored, context, policy, int(row.caps.images.low)),
    )
    native = remote_on and has_native(options.endpoint, stored.session.format.name)
    handoff = bool(settings.value("apply.handoff_save"))
    return Prepared(job, context, ask, options, rules, native, handoff)


def reader_row(context: Context, options: Options) -> Match:
    """What the catalog knows of the model that will read the session."""
    reader = options.reader or (context.model[1] if context.model else "")
    return match(user_catalog(), reader_id(reader))


def reader_warning(ready: Prepared) -> str:
    """What to tell where the reader is not known and the cautious row counts; else empty."""
    found = reader_row(ready.context, ready.options)
    if found.id or found.known:
        return found.warning
    return (
        "no model is named, neither by --model nor in the session: counted with the cautious row "
        f"{found.model.name!r}"
    )


def _room(plan: Plan, ask: Ask, estimator: Estimator, policy: Policy) -> int:
    """Tokens a result may take: less than what it replaces, and no more than the window leaves."""
    most = plan.tokens_before - 1
    if ask.window > 0:
        reserve = resolve_reserve(policy.trigger, ask.window, ask.max_output)[1]
        most = min(most, ask.window - reserve)
    return max(0, most - plan.kept_tokens(estimator))


def reader_id(name: str) -> str:
    """The model's id in ``protocol:id`` or ``id``."""
    protocol, colon, rest = name.partition(":")
    return rest if colon and protocol in PROTOCOLS else name


def _summary_window(endpoint: Endpoint | None) -> int:
    """Tokens of the summarising model's window, 0 where it is not in the catalog."""
    if endpoint is None:
        return 0
    found = match(user_catalog(), endpoint.model)
    return found.model.window_tokens if found.known else 0


def _image_cap(stored: Stored, context: Context, policy: Policy, cap: int) -> int:
    """Images a request may hold; oh-my-pi drops the oldest beyond a budget of its own, unsaid."""
    if stored.session.format.name != "ohmypi":
        return cap
    budgets = policy.frames.budgets or preset("oh-my-pi").frames.budgets
    provider = context.model[0] if context.model else ""
    return min(cap, budgets.get(provider, policy.modes.default_image_budget))


@contextmanager
def with_mode(
    ready: Prepared, *, dry_run: bool = False
) -> Iterator[tuple[Prepared, Callable[[], Drawn]]]:
    """`ready` with its mode chosen, and the function that draws its pages.

    What was drawn is gone when the body ends, unless :func:`apply` has moved it; for a `dry_run`
    nothing is written beside the session. Raises UsageError under ``strict``, FocusRefusedError.
    """
    with ExitStack() as stack:
        draw = stack.enter_context(drawing(ready.job, beside=not dry_run))
        plan = ready.plan
        if plan.outcome is not None or plan.preparation is None:
            _refuse_focus(ready)
            yield ready, draw
            return
        forecast = draw().forecast if _may_print(ready) else None
        decision = _choose(ready, forecast)
        usd = summary_usd(ready, decision)
        plan = replace(plan, mode=decision, forecast=forecast, usd=usd)
        yield replace(ready, job=replace(ready.job, plan=plan)), draw


def summary_usd(ready: Prepared, decision: ModeDecision) -> float | None:
    """The most that the calls of `decision` cost in USD; None where the model's price is not known.

    Answers are counted at their limits, inputs by the estimator; pages and extracts cost nothing.
    """
    if decision.mode == "snapcompact" or decision.extract:
        return 0.0
    job = ready.job
    endpoint = job.endpoint
    price = match(user_catalog(), endpoint.model).price if endpoint else None
    if price is None or price.output_usd_per_mtok is None:
        return None
    read = sum(job.estimator(m) for call in job.plan.calls for m in call.messages)
    written = sum(call.max_tokens for call in job.plan.calls)
    dear = read * price.input_usd_per_mtok.high + written * price.output_usd_per_mtok.high
    return dear / 1e6


def _refuse_focus(ready: Prepared) -> None:
    choose_mode(_inputs(ready, None), replace(ready.rules, strict=False))


def _may_print(ready: Prepared) -> bool:
    """Whether pages come into question, so that drawing them is worth it."""
    asked = ready.options.mode
    order = MODES[asked].order if asked else ready.rules.order
    blocked = ready.options.focus or not ready.job.row.vision or ready.options.byte_limited
    return "snapcompact" in order and not blocked


def _asked_for(ready: Prepared) -> str:
    """The reader as it was named, else the catalog row that counts in its place."""
    named = reader_row(ready.context, ready.options)
    return named.id or named.model.name


def _inputs(ready: Prepared, forecast: PageForecast | None) -> ModeInputs:
    options, job = ready.options, ready.job
    return ModeInputs(
        asked=options.mode,
        focus=options.focus or None,
        automatic=options.automatic,
        reason=options.reason,
        model=_asked_for(ready),
        reads_images=job.row.vision,
        has_model=job.model is not None,
        remote_endpoint=bool(job.remote_url),
        native_remote=ready.native,
        byte_limited=options.byte_limited,
        forecast=forecast,
    )


def _choose(ready: Prepared, forecast: PageForecast | None) -> ModeDecision:
    decision = choose_mode(_inputs(ready, forecast), ready.rules)
    if decision is None:
        raise UsageError("compaction is switched off (strategy off); name a mode")
    for warning in decision.warnings:
        ready.job.say(warning)
    return decision
