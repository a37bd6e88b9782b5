"""``vision:MODEL``: pages read by a vision model, each asked once, its raw answer kept.

An answer that was kept is used again, whole or not. A request that failed before the model had it
is sent again by the client; one that broke off is kept as far as it came, and asked again only
where the caller says so: it may have been billed.
"""

from __future__ import annotations

import threading
from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from snapcompact.errors import ModelError
from snapcompact.history.model import Usage
from snapcompact.llm.contract import Completion, Failure, Stop
from snapcompact.providers.catalog import Match, match, user_catalog
from snapcompact.readback.prompt import page_request, parse_answer
from snapcompact.readback.reader import VISION, PagePicture, Reading
from snapcompact.readback.spend import Budget, page_bill

if TYPE_CHECKING:
    from collections.abc import Callable

    from snapcompact.llm.client import Client
    from snapcompact.readback.answers import Answers

JOBS = 4
_HOPELESS = frozenset({Failure.AUTH})
"""Failures that every other page would meet as well."""
_MAYBE_BILLED = frozenset({Failure.HANG_UP, Failure.TIMEOUT, Failure.GARBAGE})
_NOTHING = Usage()
"""What a request costs that was refused or never arrived."""


def _ignore(text: str) -> None:
    pass


@dataclass(frozen=True, slots=True)
class VisionReader:
    """See the module's head. Without a client only kept answers are read.

    With `again` pages whose kept answer is not whole are asked once more. `tell` hears of repeated
    requests.
    """

    model: str
    found: Match
    answers: Answers
    client: Client | None
    budget: Budget
    jobs: int = JOBS
    again: bool = False
    tell: Callable[[str], None] = _ignore
    locks: defaultdict[str, threading.Lock] = field(
        default_factory=lambda: defaultdict(threading.Lock)
    )

    @property
    def name(self) -> str:
        """``vision:MODEL``."""
        return VISION + self.model

    def wanted(self, page: PagePicture) -> bool:
        """Whether reading `page` sends a request."""
        kept = self.answers.get(self.answers.key(self.model, page))
        return kept is None or (self.again and not parse_answer(kept).whole)

    def read_page(self, page: PagePicture) -> Reading:
        """The reading of `page`; what went wrong is its note.

        Raises ModelError where no other page could do better (the key is refused).
        """
        key = self.answers.key(self.model, page)
        with self.locks[key]:
            if not self.wanted(page):
                kept = self.answers.get(key)
                return parse_answer(kept) if kept else Reading((), whole=False)
            if self.client is None:
                return Reading((), whole=False, note="no answer is kept for this page")
            return self._ask(self.client, key, page)

    def _ask(self, client: Client, key: str, page: PagePicture) -> Reading:
        bill = page_bill(self.found, page)
        if not self.budget.set_aside(bill):
            return Reading((), whole=False, note="not asked: the spend limit is reached")
        pieces: list[str] = []
        try:
            completion = client.complete(
                page_request(page, self.found.model.detail),
                on_text=pieces.append,
                on_retry=self.tell,
            )
        except ModelError as error:
            if error.kind in _HOPELESS:
                raise
            if error.kind not in _MAYBE_BILLED:
                self.budget.settle(bill, _NOTHING)
                return Reading((), whole=False, note=str(error))
            completion = Completion("".join(pieces), Stop.OTHER, raw_stop=str(error))
        self.answers.put(key, page.name, completion)
        self.budget.settle(bill, completion.usage)
        return parse_answer(completion)


def open_vision(
    model: str,
    answers: Answers,
    client: Client | None,
    *,
    jobs: int = 0,
    max_usd: float | None = None,
    again: bool = False,
    tell: Callable[[str], None] = _ignore,
) -> VisionReader:
    """The reader of ``PROTOCOL:MODEL``. Raises UsageError for a limit that no price can hold."""
    found = match(user_catalog(), model.partition(":")[2] or model)
    budget = Budget(found, max_usd)
    return VisionReader(model, found, answers, client, budget, jobs or JOBS, again, tell)
