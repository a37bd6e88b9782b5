"""What reading pages with a model costs, before and while it happens."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING

from snapcompact.errors import UsageError
from snapcompact.pages.png import decode
from snapcompact.providers.price import image_price
from snapcompact.readback.prompt import answer_tokens, prompt
from snapcompact.tokens import estimate_tokens

if TYPE_CHECKING:
    from collections.abc import Iterable

    from snapcompact.history.model import Usage
    from snapcompact.providers.catalog import Match
    from snapcompact.readback.reader import PagePicture


@dataclass(frozen=True, slots=True)
class Bill:
    """Tokens of some requests: input as estimated, output at most; None USD without a price."""

    pages: int
    input_tokens: int
    output_tokens: int
    usd: float | None


def page_bill(found: Match, page: PagePicture) -> Bill:
    """The dearest that one page can be: its image at the dear end, the longest answer."""
    image = decode(page.data)
    tokens = image_price(found.model, image.width, image.height).high_tokens
    tokens += estimate_tokens(prompt(page.shape).encode(), found.model.tokenizer)
    return _billed(found, tokens, answer_tokens(page.shape))


def whole_bill(found: Match, pages: Iterable[PagePicture]) -> Bill:
    """The dearest that all of `pages` can be."""
    count = given = taken = 0
    for page in pages:
        bill = page_bill(found, page)
        count, given, taken = count + 1, given + bill.input_tokens, taken + bill.output_tokens
    total = _billed(found, given, taken)
    return Bill(count, given, taken, total.usd)


def usd(found: Match, input_tokens: int, output_tokens: int) -> float | None:
    """The price at the dear end, None where the catalog knows none for input or output."""
    price = found.price
    if price is None or price.output_usd_per_mtok is None:
        return None
    given = input_tokens * price.input_usd_per_mtok.high
    taken = output_tokens * price.output_usd_per_mtok.high
    return (given + taken) / 1e6


def _billed(found: Match, given: int, taken: int) -> Bill:
    return Bill(1, given, taken, usd(found, given, taken))


class Budget:
    """A spend limit that holds across threads: the dearest is set aside before a page is asked.

    Raises UsageError where there is a limit and no price to hold it by.
    """

    def __init__(self, found: Match, most_usd: float | None) -> None:
        if most_usd is not None and usd(found, 1, 1) is None:
            raise UsageError(
                f"--max-cost needs a price for {found.id}, and none is known: add a [[price]] with "
                "input_usd_per_mtok and output_usd_per_mtok to models.toml, or leave the limit out"
            )
        self._found = found
        self._most_usd = most_usd
        self._spent_usd = 0.0
        self._lock = threading.Lock()

    @property
    def spent_usd(self) -> float:
        """Spent so far, what is set aside included."""
        return self._spent_usd

    def set_aside(self, bill: Bill) -> bool:
        """Whether `bill` still fits; it then counts as spent."""
        with self._lock:
            wanted = self._spent_usd + (bill.usd or 0.0)
            if self._most_usd is not None and wanted > self._most_usd:
                return False
            self._spent_usd = wanted
            return True

    def settle(self, bill: Bill, usage: Usage | None) -> None:
        """Put what was billed in place of what was set aside; nothing known changes nothing."""
        if usage is None or bill.usd is None:
            return
        given = usage.input + usage.cache_read + usage.cache_write
        billed = usd(self._found, given, usage.output) or 0.0
        with self._lock:
            self._spent_usd += billed - bill.usd
