"""Compactions of one living session: one at a time, told of exactly once, nothing lost by failure.

The host owns the session; an :class:`Orchestrator` decides when, makes, and hands the result back.
A speculative result is kept aside, and used only while what it was made from still begins the
session.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from snapcompact.compaction.aside import Aside, brought_up
from snapcompact.compaction.breaker import Breaker, TurnCount, counts_as_failure, per_turn_cap
from snapcompact.compaction.deciding import Options, Prepared, prepared, with_mode
from snapcompact.compaction.guard import Progress, Queued, judge_progress
from snapcompact.compaction.hook import HandedIn, check_handed_in
from snapcompact.compaction.host import After, Before, Event, Host, end_data, in_thread
from snapcompact.compaction.inbox import Inbox
from snapcompact.compaction.ladder import LADDER, Rung, as_decided
from snapcompact.compaction.outcome import Outcome, Reason
from snapcompact.compaction.run import Result, handed_in, make
from snapcompact.compaction.speculate import may_start
from snapcompact.compaction.speculate import prepared as kept_aside
from snapcompact.compaction.trigger import resolve_threshold, should_compact, speculation_lead
from snapcompact.errors import FocusRefusedError, SnapcompactError

if TYPE_CHECKING:
    from snapcompact.compaction.settings import Settings


class Orchestrator:
    """See the module's head. All calls come from one event loop."""

    def __init__(
        self, host: Host, settings: Settings, options: Options, *,
        on_event: Callable[[Event], None] = lambda event: None,
        before: Before | None = None, after: After | None = None,
        deliver: Callable[[Queued], Awaitable[None]] | None = None,
        now_ms: Callable[[], int] = lambda: int(time.monotonic() * 1000),
    ) -> None:  # fmt: skip
        self.autocompact = settings.policy.trigger.enabled
        self.failures: list[str] = []
        """What callbacks raised; no run is lost by it."""
        self._host, self._settings, self._options = host, settings, options
        self._on_event, self._before, self._after = on_event, before, after
        self._now_ms = now_ms
        self._breaker, self._turn = Breaker(), TurnCount()
        self._running: asyncio.Task[Any] | None = None
        self._speculating: asyncio.Task[None] | None = None
        self._aside: Aside | None = None
        self.inbox = Inbox(deliver, self.failures)
        self._runs = 0

    # --- state

    @property
    def busy(self) -> bool:
        """True while a run is under way."""
        return self._running is not None

    @property
    def speculative(self) -> bool:
        """True where a finished result waits to be used."""
        return self._aside is not None

    def new_turn(self) -> None:
        """The user has spoken: the cap of a turn begins anew."""
        self._turn = TurnCount()

    def cancel(self) -> bool:
        """End the run under way, and a speculative one; False where there is none."""
        tasks = [task for task in (self._running, self._speculating) if task is not None]
        for task in tasks:
            task.cancel()
        return bool(tasks)

    # --- runs

    async def compact(
        self, mode: str | None = None, focus: str = "", *, auto: bool = False,
        reason: str = "manual", rung: Rung = as_decided,
    ) -> Outcome:  # fmt: skip
        """Compact now. All ends are values, but FocusRefusedError, which touches nothing.

        Input queued meanwhile is delivered afterwards, whatever the outcome.
        """
        refused = self._refused(auto)
        if refused is not None:
            return refused
        self._running = asyncio.current_task()
        self._runs += 1
        run = self._runs
        options = replace(
            self._options, mode=mode, focus=focus, automatic=auto,
            reason=reason if auto else "",
            say=lambda text: self._tell("warning", run, auto, {"text": text}),
            on_text=lambda text: self._tell("text", run, auto, {"text": text}),
            archive=self._host.archive(),
        )  # fmt: skip
        self._tell("start", run, auto, {"reason": reason, "mode": mode})
        outcome, facts = Outcome(Reason.ERROR), dict[str, Any]()
        try:
            outcome, facts = await self._run(options, run, rung)
        except asyncio.CancelledError:
            outcome = Outcome(Reason.CANCELLED, "cancelled; nothing was changed")
            task = asyncio.current_task()
            if task is not None:
                task.uncancel()
        except FocusRefusedError as error:
            outcome = Outcome(Reason.FOCUS, str(error))
            raise
        except SnapcompactError as error:
            outcome = Outcome(Reason.ERROR, str(error))
        finally:
            self._running = None
            self._count(outcome, auto)
            self._tell("end", run, auto, end_data(outcome, facts))
        await self.inbox.deliver_all()
        return outcome

    def _refused(self, auto: bool) -> Outcome | None:
        rules = self._settings.policy.breaker
        if self.busy:
            return Outcome(Reason.BUSY, "a compaction is under way")
        if not auto:
            return None
        self._breaker = self._breaker.at(self._now_ms(), rules)
        if not self.autocompact:
            return Outcome(Reason.DISABLED, "automatic compaction is switched off")
        if self._breaker.is_open(rules):
            return Outcome(Reason.OPEN, f"too many failures, the last: {self._breaker.reason}")
        if self._turn.reached(per_turn_cap(rules.per_turn)):
            return Outcome(Reason.CAPPED, "this turn was compacted often enough")
        return None

    async def _run(self, options: Options, run: int, rung: Rung) -> tuple[Outcome, dict[str, Any]]:
        self._stage(run, options, "planning")
        ready = await in_thread(lambda: prepared(self._host.load(), options, self._settings))
        changed = rung(ready)
        if changed is None:
            return Outcome(Reason.NOT_APPLIED, "this way frees too little"), {}
        ready = changed
        waiting = self._take_aside(ready) if not options.mode and not options.focus else None
        if waiting is not None:
            self._stage(run, options, "applying")
            return await self._applied(waiting.ready, waiting.result)
        with ExitStack() as stack:
            chosen, draw = await in_thread(lambda: stack.enter_context(with_mode(ready)))
            if chosen.plan.outcome is not None:
                return chosen.plan.outcome, {}
            given = await self._asked_before(chosen)
            if given is not None:
                reason, why = check_handed_in(given, chosen.context.items, chosen.job.policy.accept)
                if reason is not Reason.DONE:
                    return Outcome(reason, why), {}
                chosen = handed_in(chosen, given)
            self._stage(run, options, "compacting")
            result = await make(chosen, draw)
            self._stage(run, options, "applying")
            return await self._applied(chosen, result)

    async def _applied(self, ready: Prepared, result: Result) -> tuple[Outcome, dict[str, Any]]:
        facts = self._host.apply(ready, result)
        if self._after is not None:
            try:
                await self._after(result)
            except Exception as error:
                self.failures.append(f"after: {error!r}")
        figures = {"tokensBefore": ready.plan.tokens_before, "tokensAfter": result.tokens_after,
                   "mode": result.made.mode, "extract": result.made.extract}  # fmt: skip
        return Outcome(Reason.DONE), {**figures, **facts}

    async def _asked_before(self, ready: Prepared) -> HandedIn | None:
        if self._before is None:
            return None
        try:
            return await self._before(ready)
        except Exception as error:
            self.failures.append(f"before: {error!r}")
            return None

    def _count(self, outcome: Outcome, auto: bool) -> None:
        if outcome.reason is Reason.DONE:
            self._breaker = Breaker()
        elif auto and counts_as_failure(outcome.reason):
            self._breaker = self._breaker.failed(outcome.detail, self._now_ms())
        if auto:
            self._turn = self._turn.after(outcome.reason)

    # --- automatic runs

    async def check(self, tokens: int, *, reason: str = "threshold") -> Outcome | None:
        """Compact where `tokens` call for it, begin a background run where they soon will.

        None where neither is due.
        """
        trigger, window = self._settings.policy.trigger, self._window()
        trigger = replace(trigger, enabled=self.autocompact)
        if should_compact(trigger, tokens, window):
            if self._speculating is not None:
                await asyncio.wait([self._speculating])
            return await self.compact(auto=True, reason=reason)
        threshold = resolve_threshold(trigger, window).tokens
        if may_start(
            tokens, threshold, speculation_lead(trigger, threshold), enabled=self.autocompact,
            running=self.busy or self._speculating is not None, waiting=self.speculative,
            capped=self._refused(True) is not None,
        ):  # fmt: skip
            self._speculating = asyncio.ensure_future(self._speculate())
        return None

    async def idle(self, tokens: int) -> Outcome | None:
        """Nobody has spoken for a while: compact above the idle threshold, where that is on."""
        least = self._settings.value("apply.idle_threshold_tokens")
        if not self._settings.value("apply.idle_enabled") or tokens <= int(str(least)):
            return None
        return await self.compact(auto=True, reason="idle")

    async def recover(self, *, byte_limited: bool = False) -> Outcome:
        """After an overflow: the ladder (ladder.py), up to the first rung that fits."""
        if not self._settings.policy.recovery.enabled:
            return Outcome(Reason.DISABLED, "recovery is switched off")
        base = self._options
        self._options = replace(base, byte_limited=byte_limited)
        outcome = Outcome(Reason.NOT_APPLIED)
        try:
            for name, rung in LADDER:
                if name == "aggressive-compact":
                    cut = replace(base.cut, keep_tokens=1, keep_turns=0, force=True)
                    self._options = replace(self._options, cut=cut)
                outcome = await self.compact(auto=True, reason="overflow", rung=rung)
                if outcome.reason not in (Reason.NOT_APPLIED, Reason.ERROR):
                    return outcome
        finally:
            self._options = base
        return outcome

    def progress(self, residual: int | None, *, reason: str, will_retry: bool = False) -> Progress:
        """What a result that left `residual` tokens allows: going on alone, or a second try."""
        policy = self._settings.policy
        return judge_progress(
            residual, self._window(), policy.trigger, policy.accept, reason=reason,
            will_retry=will_retry, queued=len(self.inbox.waiting),
        )  # fmt: skip

    def _window(self) -> int:
        """Tokens of the reader's window, looked up once where the options do not say."""
        if not self._options.window:
            found = prepared(self._host.load(), self._options, self._settings).ask.window
            self._options = replace(self._options, window=found)
        return self._options.window

    async def _speculate(self) -> None:
        """A result kept aside; a failure counts for the breaker, a cancellation for nothing."""
        try:
            options = replace(self._options, automatic=True, reason="threshold")
            ready = await in_thread(lambda: prepared(self._host.load(), options, self._settings))
            if ready.plan.outcome is not None:
                return
            with ExitStack() as stack:
                chosen, draw = await in_thread(lambda: stack.enter_context(with_mode(ready)))
                if chosen.plan.mode is None or chosen.plan.mode.mode == "snapcompact":
                    return  # pages are drawn in less time than it takes to check them
                result = await make(chosen, draw)
            items = ready.context.items
            kept = kept_aside(result.change.summary, items, ready.plan.tokens_before)
            self._aside = Aside(kept, result, chosen)
        except SnapcompactError as error:
            if self._settings.policy.breaker.count_speculative:
                self._breaker = self._breaker.failed(str(error), self._now_ms())
        finally:
            self._speculating = None

    def _take_aside(self, ready: Prepared) -> Aside | None:
        waiting, self._aside = self._aside, None
        return brought_up(waiting, ready) if waiting is not None else None

    # --- telling

    def _stage(self, run: int, options: Options, stage: str) -> None:
        self._tell("stage", run, options.automatic, {"stage": stage})

    def _tell(self, kind: str, run: int, auto: bool, data: dict[str, Any]) -> None:
        try:
            self._on_event(Event(kind, run, auto, data))
        except Exception as error:
            self.failures.append(f"{kind}: {error!r}")
