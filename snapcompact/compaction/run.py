"""One compaction from a session to what stands in its place: decide, make, judge, write.

:func:`prepared` decides and touches nothing; :func:`make` calls the mode; :func:`apply` writes.
Every failure leaves the session as it was.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from snapcompact.compaction.estimator import LearnedEstimator
from snapcompact.compaction.guard import check_summary
from snapcompact.compaction.modes import load_mode
from snapcompact.compaction.modes.choose import ModeDecision, ModeInputs, ModeRules, choose_mode
from snapcompact.compaction.modes.command import MODES
from snapcompact.compaction.modes.job import Job, Made, Say, quiet
from snapcompact.compaction.modes.remote import has_native
from snapcompact.compaction.modes.snapcompact import Drawn, drawing
from snapcompact.compaction.outcome import Reason
from snapcompact.compaction.plan import Ask, Plan, decide, judge
from snapcompact.compaction.prepare import CutRequest, Partition
from snapcompact.compaction.session import Written, context_of, write_session
from snapcompact.compaction.writers.contract import Change
from snapcompact.errors import InputError, ModelError, UsageError
from snapcompact.files import disk_errors
from snapcompact.history.blobs import blob
from snapcompact.history.model import Block, Message, Role, Text, wtf8
from snapcompact.llm.client import PROTOCOLS
from snapcompact.llm.contract import Endpoint, Part, Picture
from snapcompact.providers.catalog import match, user_catalog
from snapcompact.tokens import families

if TYPE_CHECKING:
    from snapcompact.compaction.context import Context
    from snapcompact.compaction.counting import Estimator
    from snapcompact.compaction.entries import Item
    from snapcompact.compaction.guard import Acceptance
    from snapcompact.compaction.modes.choose import PageForecast
    from snapcompact.compaction.policy import Policy
    from snapcompact.compaction.settings import Settings
    from snapcompact.compaction.writers.contract import Stored
    from snapcompact.llm.contract import Model

_SHRUNK = "[Nothing was summarised; long parts of what follows were cut, as each says.]"


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
    reader = options.reader or (context.model[1] if context.model else "")
    row = match(user_catalog(), reader_id(reader)).model
    family = row.tokenizer if row.tokenizer in families() else "o200k"
    estimator = LearnedEstimator(family, policy.tokens)
    estimator.prime([item.message for item in context.items])
    ask = Ask(
        window=options.window or row.window_tokens,
        focus=options.focus,
        automatic=options.automatic,
        cut=options.cut,
        now_ms=int(options.now.timestamp() * 1000),
    )
    name = os.path.basename(stored.session.source.name)
    plan = decide(context, ask, estimator, policy, lambda item: f"{name}, entry {item.id}")
    remote_url = settings.value("apply.remote_endpoint")
    remote_on = bool(settings.value("apply.remote_enabled"))
    job = Job(
        plan, stored, policy, estimator, row,
        focus=options.focus,
        model=options.model,
        task_aware=options.task_aware,
        endpoint=options.endpoint,
        remote_url=str(remote_url) if remote_on else "",
        reference=options.reference,
        archive=options.archive,
        room=max(0, plan.tokens_before - plan.kept_tokens(estimator) - 1),
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
    native = remote_on and has_native(options.endpoint)
    return Prepared(job, context, ask, options, rules, native)


def reader_id(name: str) -> str:
    """The model's id in ``protocol:id`` or ``id``."""
    protocol, colon, rest = name.partition(":")
    return rest if colon and protocol in PROTOCOLS else name


def _image_cap(stored: Stored, context: Context, policy: Policy, cap: int) -> int:
    """Images a request may hold; oh-my-pi drops the oldest beyond a budget of its own, unsaid."""
    if stored.session.format.name != "ohmypi":
        return cap
    from snapcompact.compaction.policy import preset

    budgets = policy.frames.budgets or preset("oh-my-pi").frames.budgets
    provider = context.model[0] if context.model else ""
    return min(cap, budgets.get(provider, policy.modes.default_image_budget))


@contextmanager
def with_mode(ready: Prepared) -> Iterator[tuple[Prepared, Callable[[], Drawn]]]:
    """`ready` with its mode chosen, and the function that draws its pages.

    What was drawn is gone when the body ends, unless :func:`apply` has moved it. Raises UsageError
    under ``strict``, FocusRefusedError.
    """
    with ExitStack() as stack:
        draw = stack.enter_context(drawing(ready.job))
        plan = ready.plan
        if plan.outcome is not None or plan.preparation is None:
            _refuse_focus(ready)
            yield ready, draw
            return
        forecast = draw().forecast if _may_print(ready) else None
        decision = _choose(ready, forecast)
        plan = replace(plan, mode=decision, forecast=forecast)
        yield replace(ready, job=replace(ready.job, plan=plan)), draw


def _refuse_focus(ready: Prepared) -> None:
    choose_mode(_inputs(ready, None), replace(ready.rules, strict=False))


def _may_print(ready: Prepared) -> bool:
    """Whether pages come into question, so that drawing them is worth it."""
    asked = ready.options.mode
    order = MODES[asked].order if asked else ready.rules.order
    blocked = ready.options.focus or not ready.job.row.vision or ready.options.byte_limited
    return "snapcompact" in order and not blocked


def _inputs(ready: Prepared, forecast: PageForecast | None) -> ModeInputs:
    options, job = ready.options, ready.job
    return ModeInputs(
        asked=options.mode,
        focus=options.focus or None,
        automatic=options.automatic,
        reason=options.reason,
        model=job.row.name,
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


@dataclass(frozen=True, slots=True)
class Result:
    """What was made, judged."""

    made: Made
    change: Change
    acceptance: Acceptance
    tokens_after: int


async def make(ready: Prepared, draw: Callable[[], Drawn]) -> Result:
    """The result of the chosen mode, accepted.

    A remote that fails gives way to ``soft``, pages that save nothing too, each with a warning;
    under ``strict`` they raise. Raises ModelError, InputError where a result is refused; a
    cancellation passes through.
    """
    plan = ready.plan
    if plan.preparation is None:
        return _judged(ready, _shrunk(plan, ready.context))
    if ready.job.given is not None:
        return _judged(ready, _checked(ready, ready.job.given))
    mode = plan.mode.mode if plan.mode else "soft"
    try:
        made = await _run(ready, mode, draw)
        return _judged(ready, made)
    except (ModelError, InputError) as error:
        if mode == "soft" or ready.rules.strict:
            raise
        ready.job.say(f"{mode}: {error}; using soft instead")
    return _judged(ready, await _run(ready, "soft", draw))


async def _run(ready: Prepared, mode: str, draw: Callable[[], Drawn]) -> Made:
    if mode == "snapcompact":
        from snapcompact.compaction.modes import snapcompact

        return await snapcompact.run(ready.job, draw)
    return await load_mode(mode)(ready.job)


def _checked(ready: Prepared, summary: str) -> Made:
    """A summary a callback has given. Raises InputError where it is none."""
    reason = check_summary(summary, ready.job.policy.accept)
    if reason is not Reason.DONE:
        raise InputError(f"the summary given is none ({reason.value}); nothing was written")
    return Made("given", summary)


def _shrunk(plan: Plan, context: Context) -> Made:
    """Where only the tail was cut, the summary stays what it was."""
    mark = context.compaction.mark if context.compaction else None
    return Made("shrink", mark.summary if mark and mark.summary else _SHRUNK)


def _judged(ready: Prepared, made: Made) -> Result:
    """`made` as a change, or InputError where it is no smaller than what it replaces."""
    plan, estimator = ready.plan, ready.estimator
    added = estimator(made_message(made.summary, made.pieces))
    verdict = judge(plan, added, ready.ask, estimator, ready.job.policy)
    after = added + plan.kept_tokens(estimator)
    if not verdict.accepted:
        raise InputError(
            f"{ready.job.stored.session.source.name}: {made.mode} gives {after:,} tokens in place "
            f"of {plan.tokens_before:,} ({verdict.reason.value}); nothing was written"
        )
    return Result(made, _change(ready, made, after), verdict, after)


def _change(ready: Prepared, made: Made, after: int) -> Change:
    plan = ready.plan
    partition, edited = _partition(plan, ready.context)
    return Change(
        partition,
        plan.preparation.first_kept if plan.preparation else "",
        made.summary,
        made.pieces,
        carried=plan.protected,
        edited=edited,
        tokens_before=plan.tokens_before,
        tokens_after=after,
        files=made.files,
        short=made.short,
        method=made.mode,
        automatic=ready.options.automatic,
        time=ready.options.now,
    )


def _partition(plan: Plan, context: Context) -> tuple[Partition, dict[str, Message]]:
    """(the partition, kept messages with a part cut)."""
    partition = plan.partition
    if plan.preparation is None:
        marks = [item for item in context.items if item.entry is context.compaction]
        kept = tuple(item for item in context.items if item.entry is not context.compaction)
        partition = Partition(kept=kept, previous=marks[0] if marks else None)
    cut: tuple[Item, ...] = plan.tail.items if plan.tail else ()
    whole = {item.id: item.message for item in partition.kept}
    edited = {i.id: i.message for i in cut if i.id in whole and i.message != whole[i.id]}
    return partition, edited


def made_message(summary: str, pieces: tuple[Part, ...]) -> Message:
    """A summary and its pages as the message they are counted as."""
    blocks: list[Block] = [Text(wtf8(summary))]
    for piece in pieces:
        if isinstance(piece, Picture):
            blocks.append(blob("image", piece.mime, piece.data))
        else:
            blocks.append(Text(wtf8(piece)))
    return Message(Role.USER, tuple(blocks), "summary")


def apply(ready: Prepared, result: Result, out: Path, *, in_place: bool = False) -> Written:
    """Write `result` as `out`; the archive gets its name first, so that the session never lies.

    Raises as write_session does; then the archive is gone again.
    """
    archive, target = result.made.archive, ready.options.archive
    if archive is None or target is None:
        return write_session(
            ready.job.stored, result.change, out, ready.job.policy.context, in_place=in_place
        )
    with disk_errors("write", target):
        os.rename(archive, target)
    try:
        return write_session(
            ready.job.stored, result.change, out, ready.job.policy.context, in_place=in_place
        )
    except BaseException:
        os.rename(target, archive)
        raise
