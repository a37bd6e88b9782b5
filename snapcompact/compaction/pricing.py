"""An estimator whose pictures cost what the model that reads the session bills for them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from snapcompact.compaction.counting import TokenRules, blob_tokens
from snapcompact.compaction.entries import blobs_of
from snapcompact.providers.price import image_price

if TYPE_CHECKING:
    from snapcompact.compaction.estimator import LearnedEstimator
    from snapcompact.history.model import Blob, Message
    from snapcompact.providers.rows import Model


class PricedEstimator:
    """`learned`, but for images the dear end of the provider's price; files keep their rule."""

    def __init__(self, learned: LearnedEstimator, rules: TokenRules, row: Model) -> None:
        self._learned, self._rules, self._row = learned, rules, row

    def __call__(self, message: Message) -> int:
        """Tokens of `message`."""
        change = sum(self._price(b) - blob_tokens(b, message, self._rules)
                     for b in blobs_of(message) if self._priced(b))  # fmt: skip
        return self._learned(message) + change

    def prime(self, messages: Iterable[Message]) -> None:
        """Count `messages` in one pass."""
        self._learned.prime(messages)

    def _priced(self, blob: Blob) -> bool:
        return blob.kind == "image" and self._row.vision

    def _price(self, blob: Blob) -> int:
        return image_price(self._row, blob.width_px, blob.height_px).high_tokens
