"""How full a context is: what the newest answer's usage measured, and an estimate of the rest.

A provider's own count covers everything that was sent, instructions, tools and pictures included,
so it beats any estimate for what it covers. What followed is estimated, and corrected by how the
estimate did between the answers before. The compaction engine applies the same rule to the entries
of a session (compaction/occupancy.py adds what only entries know).
"""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from snapcompact.history.model import Message, Role, Usage
from snapcompact.tokens.estimate import DEFAULT_FAMILY
from snapcompact.tokens.messages import message_tokens

if TYPE_CHECKING:
    from snapcompact.history.model import Meta

LEAST_TOKENS = 2000
"""Estimated tokens between answers from which their usage may correct the estimate: below, what a
provider adds around each message outweighs the error of the estimate (p95 3 % in 4 KB)."""
FACTOR_BOUNDS = (0.5, 2.0)
"""A correction beyond is no error of the estimate but a context that was changed in between."""
PAIRS = 256
"""Successive answers remembered for the correction."""
UNFINISHED = 0.5
"""An answer whose recorded output is below this share of its words was counted while it streamed
(seen in claude-stream sessions: 2 tokens for answers of hundreds)."""


def prompt_tokens(usage: Usage) -> int:
    """Tokens that were sent: new, read from the cache, written to it."""
    return usage.input + usage.cache_read + usage.cache_write


def window_tokens(usage: Usage, reported_total: int = 0, orchestration: int = 0) -> int:
    """Tokens in the window when an answer ended, less what the provider used for itself."""
    return max(0, (reported_total or usage.total) - orchestration)


@dataclass(frozen=True, slots=True)
class ContextTokens:
    """Tokens in a context, in parts.

    ``measured`` stands in the usage of message number ``answer`` (None where none has a good one),
    which ``model`` gave; ``estimated`` is the rest, already multiplied by ``factor``.
    """

    measured: int
    estimated: int
    answer: int | None
    factor: float = 1.0
    model: str = ""

    @property
    def total(self) -> int:
        """All tokens of the context."""
        return self.measured + self.estimated

    @property
    def share_measured(self) -> float:
        """Part of the total that was measured, 0 to 1; 1 for an empty context."""
        return self.measured / self.total if self.total else 1.0


def usage_then_estimates(totals: Sequence[int], estimates: Sequence[int]) -> ContextTokens:
    """The newest of `totals` above 0 (0: the message measured nothing) and what follows it."""
    newest = next((n for n in range(len(totals) - 1, -1, -1) if totals[n] > 0), None)
    if newest is None:
        return ContextTokens(0, sum(estimates), None)
    return ContextTokens(totals[newest], sum(estimates[newest + 1 :]), newest)


def context_tokens(messages: Sequence[Message], family: str = DEFAULT_FAMILY) -> ContextTokens:
    """Tokens of the context that `messages` end in, oldest first (see :class:`ContextMeter`).

    Raises UnknownNameError for a family without a table.
    """
    meter = ContextMeter()
    for message, estimate in zip(messages, message_tokens(messages, family), strict=True):
        meter.add(message, float(estimate))
    return meter.result()


def is_good_answer(message: Message) -> bool:
    """True if the usage of `message` measured a context: it did not fail and is not empty."""
    stop = message.meta.stop
    failed = message.label == "error" or stop == "aborted" or stop.startswith("error")
    usage = message.meta.usage
    return message.role is Role.ASSISTANT and not failed and usage is not None and usage.total > 0


def leaves_context(message: Message) -> bool:
    """True for a message that never was in the main context: a sub-agent's, or taken back."""
    return message.label.startswith(("agent ", "left branch"))


@dataclass(slots=True)
class _Answer:
    """The newest good answer; ``own`` and ``after`` estimate its parts and what came since."""

    number: int
    meta: Meta
    usage: Usage
    own: float
    after: float = 0.0


class ContextMeter:
    """Follows a history message by message; memory does not grow with it.

    A compaction note ends a context: usage before it measured another one. The factor that corrects
    the estimate is the growth between the prompts of successive answers of one model over its
    estimate; prompts hold the answer before as it was sent again, whatever its output was said to
    be. Programs put in and take out between two answers what their files do not show, up to fifty
    times what they show (corpus: six of 1,000 pairs); so it is the median over pairs, each
    weighed by its estimate, and not a ratio of sums.
    """

    def __init__(self) -> None:
        self._number = 0
        self._newest: _Answer | None = None
        self._before = 0.0
        self._model = ""
        self._pairs: deque[tuple[float, float]] = deque(maxlen=PAIRS)
        """(growth over estimate, estimate) between answers of `_model`."""

    def add(self, message: Message, tokens: float) -> None:
        """One more message, estimated at `tokens`."""
        number, self._number = self._number, self._number + 1
        if message.role is Role.NOTE and message.label == "compaction":
            self._newest, self._before = None, 0.0
        elif leaves_context(message):
            return
        newest = self._newest
        if newest is not None and message.meta.id and message.meta.id == newest.meta.id:
            newest.own += tokens
        elif newest is not None:
            newest.after += tokens
        else:
            self._before += tokens
        if (usage := message.meta.usage) is not None and is_good_answer(message):
            self._read(number, message.meta, usage, tokens)

    def _read(self, number: int, meta: Meta, usage: Usage, tokens: float) -> None:
        newest = self._newest
        if newest is not None and meta.id and meta.id == newest.meta.id:
            # Another part of the same answer. Its usage may have grown, and it covers no result
            # that stands between the parts: those are sent with the next request.
            newest.number, newest.usage = number, max(newest.usage, usage, key=lambda u: u.total)
            return
        if newest is not None and meta.model == newest.meta.model:
            growth = prompt_tokens(usage) - prompt_tokens(newest.usage)
            self._learn(meta.model, growth, newest.own + newest.after - tokens)
        self._newest = _Answer(number, meta, usage, tokens)

    def _learn(self, model: str, growth: int, estimated: float) -> None:
        if model != self._model:
            self._model = model
            self._pairs.clear()
        if growth > 0 and estimated > 0:
            self._pairs.append((growth / estimated, estimated))

    def result(self) -> ContextTokens:
        """Tokens of the context as it is now."""
        newest = self._newest
        if newest is None:
            return ContextTokens(0, round(self._before), None)
        factor = self._factor(newest.meta.model)
        own = newest.own * factor
        missing = own - newest.usage.output if newest.usage.output < UNFINISHED * own else 0.0
        return ContextTokens(
            measured=newest.usage.total,
            estimated=round(missing + newest.after * factor),
            answer=newest.number,
            factor=factor,
            model=newest.meta.model,
        )

    def _factor(self, model: str) -> float:
        """The median of growth over estimate; 1 where too little was measured."""
        whole = sum(weight for _, weight in self._pairs)
        if model != self._model or whole < LEAST_TOKENS:
            return 1.0
        ranked = sorted(self._pairs)
        reached = itertools.accumulate(weight for _, weight in ranked)
        factor = next(r for (r, _), sum_ in zip(ranked, reached, strict=True) if 2 * sum_ >= whole)
        low, high = FACTOR_BOUNDS
        return factor if low <= factor <= high else 1.0
