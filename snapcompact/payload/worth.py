"""Whether pages are worth their tokens: what a text costs as pages and as text, for one model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from snapcompact.providers.price import image_price, request_faults

if TYPE_CHECKING:
    from snapcompact.pages.count import PageCount
    from snapcompact.pages.shape import Shape
    from snapcompact.providers.rows import Model

PAYS, MAY_PAY, COSTS_MORE, NO_IMAGES = "pays", "may pay", "costs more", "takes no images"


@dataclass(frozen=True, slots=True)
class Worth:
    """A text as pages of one shape beside the same text as text.

    ``low_tokens`` and ``high_tokens`` are those of all pages where sources disagree on the price;
    the guide's come on top. ``factor`` is text tokens over page tokens with the guide, at the dear
    end; over 1 pages save. ``break_even_chars`` is the length from which pages save at the dear
    end, None where they never do. ``faults`` name caps of one request that all pages would break.
    """

    shape: str
    pages: int
    low_tokens: int
    high_tokens: int
    chars_per_token: float
    factor: float
    png_bytes: int
    verdict: str
    break_even_chars: int | None
    whole: bool
    """Whether the model sees every pixel of these pages."""
    faults: tuple[str, ...]


def judge(
    model: Model,
    shape: Shape,
    count: PageCount,
    *,
    chars: int,
    text_tokens: int,
    guide_tokens: int,
) -> Worth:
    """The worth of `count` pages that show `chars` characters, which are `text_tokens` as text."""
    prices = [
        (number, image_price(model, shape.page_width, height, images=count.pages))
        for height, number in count.heights_px
    ]
    low = sum(number * price.low_tokens for number, price in prices)
    high = sum(number * price.high_tokens for number, price in prices)
    faults = {fault for _, price in prices for fault in price.faults}
    over = request_faults(model, images=count.pages, base64_bytes=count.png_bytes * 4 // 3)
    return Worth(
        shape=shape.name,
        pages=count.pages,
        low_tokens=low,
        high_tokens=high,
        chars_per_token=chars / high if high else 0.0,
        factor=text_tokens / (high + guide_tokens) if high else 0.0,
        png_bytes=count.png_bytes,
        verdict=_verdict(model, text_tokens, low + guide_tokens, high + guide_tokens),
        break_even_chars=_break_even(chars, text_tokens, high, guide_tokens) if high else None,
        whole=all(price.whole for _, price in prices),
        faults=(*sorted(faults), *(over if model.vision else ())),
    )


def _verdict(model: Model, text_tokens: int, low: int, high: int) -> str:
    if not model.vision:
        return NO_IMAGES
    if high < text_tokens:
        return PAYS
    return MAY_PAY if low < text_tokens else COSTS_MORE


def _break_even(chars: int, text_tokens: int, page_tokens: int, guide_tokens: int) -> int | None:
    """Characters at which text and pages with the guide cost the same, at these rates."""
    saved = text_tokens - page_tokens
    return -(-guide_tokens * chars // saved) if saved > 0 else None
