"""How full a context is: what the newest answer's usage measured, and an estimate of the rest.

A provider's own count covers everything that was sent, instructions, tools and pictures included,
so it beats any estimate for what it covers. What followed is estimated, and corrected by how the
estimate did between the answers before.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from snapcompact.history.model import Message, Role
from snapcompact.tokens.estimate import DEFAULT_FAMILY
from snapcompact.tokens.messages import message_tokens

if TYPE_CHECKING:
    from numpy.typing import NDArray

LEAST_TOKENS = 2000
"""Estimated tokens between answers from which their usage may correct the estimate: below, what a
provider adds around each message outweighs the error of the estimate (p95 3 % in 4 KB)."""
FACTOR_BOUNDS = (0.5, 2.0)
"""A correction beyond is no error of the estimate but a context that was changed in between."""


@dataclass(frozen=True, slots=True)
class ContextTokens:
    """Tokens in a context, in parts.

    ``measured`` stands in the usage of message number ``answer`` (None where none has a good one);
    ``estimated`` is the rest, already multiplied by ``factor``.
    """

    measured: int
    estimated: int
    answer: int | None
    factor: float

    @property
    def total(self) -> int:
        """All tokens of the context."""
        return self.measured + self.estimated

    @property
    def share_measured(self) -> float:
        """Part of the total that was measured, 0 to 1; 1 for an empty context."""
        return self.measured / self.total if self.total else 1.0


def context_tokens(
    messages: Sequence[Message], family: str = DEFAULT_FAMILY, *, since: int = 0
) -> ContextTokens:
    """Tokens of the context that `messages` are, oldest first.

    Usage of messages before number `since` measured another context (a compaction or a rewind came
    after) and counts nothing. Raises UnknownNameError for a family without a table.
    """
    estimates = message_tokens(messages, family)
    answers = _good_answers(messages, since)
    factor = _factor(messages, answers, estimates)
    newest = answers[-1] if answers else None
    rest = estimates if newest is None else estimates[newest + 1 :]
    return ContextTokens(
        measured=0 if newest is None else _total(messages[newest]),
        estimated=round(float(rest.sum()) * factor),
        answer=newest,
        factor=factor,
    )


def is_good_answer(message: Message) -> bool:
    """True if the usage of `message` measured a context: it did not fail and is not empty."""
    failed = message.meta.stop == "aborted" or message.meta.stop.startswith("error")
    return message.role is Role.ASSISTANT and not failed and _total(message) > 0


def _total(message: Message) -> int:
    return message.meta.usage.total if message.meta.usage else 0


def _good_answers(messages: Sequence[Message], since: int) -> list[int]:
    """Numbers of the messages with usage to go by; of an answer that was split, the last part."""
    found: list[int] = []
    for number in range(since, len(messages)):
        if not is_good_answer(messages[number]):
            continue
        same = (
            found
            and messages[number].meta.id
            and (messages[found[-1]].meta.id == messages[number].meta.id)
        )
        found[-1:] = [number] if same else [*found[-1:], number]
    return found


def _factor(
    messages: Sequence[Message], answers: Sequence[int], estimates: NDArray[np.float64]
) -> float:
    """Measured growth between successive answers of the newest model over its estimate.

    1 where too little was measured. A pair between which the context shrank is left out.
    """
    model = messages[answers[-1]].meta.model if answers else ""
    sums = np.concatenate([[0.0], np.cumsum(estimates)])
    measured = estimated = 0.0
    for older, newer in itertools.pairwise(answers):
        growth = _total(messages[newer]) - _total(messages[older])
        if {messages[older].meta.model, messages[newer].meta.model} == {model} and growth > 0:
            measured += growth
            estimated += float(sums[newer + 1] - sums[older + 1])
    if estimated < LEAST_TOKENS:
        return 1.0
    low, high = FACTOR_BOUNDS
    factor = measured / estimated
    return factor if low <= factor <= high else 1.0
