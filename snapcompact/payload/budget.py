"""What a payload for a model may hold: shares of its tokens, shapes of its pages, caps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from snapcompact.fonts.load import font_names
from snapcompact.pages.shape import Shape, parse_shape
from snapcompact.payload.select import Budget, ShapeCost
from snapcompact.providers.price import image_price

if TYPE_CHECKING:
    from snapcompact.providers.rows import Model

STORED_DENSITY = 0.9
"""Stored pages may hold this much less than the model's own shape before they are drawn anew."""

PNG_BYTES_PER_CELL = 3.5, 6.0
"""More than pages have whose pitch is whole bytes wide (3.1 at 8x16), and others (5.1 at 11x16,
both of a real session). Fixed figures, so that a plan does not depend on what pages show."""


@dataclass(frozen=True, slots=True)
class Shares:
    """Tokens set aside for each part that is text, of a payload of ``total`` tokens."""

    total: int
    oldest: int
    newest: int
    words: int
    values: int

    @property
    def pages(self) -> int:
        """Tokens left for pages and guide."""
        return self.total - self.oldest - self.newest - self.words - self.values


def shares(total: int) -> Shares:
    """How a payload of `total` tokens is shared out; edges and values stop growing at 100,000."""
    edge = min(total * 2 // 100, 2_000)
    return Shares(total, edge, edge, total * 10 // 100, min(total * 4 // 100, 4_000))


def payload_shapes(stored: Shape, model: Model) -> tuple[Shape, ...]:
    """Shapes for `model`, default first, then denser ones.

    Stored pages are taken as they are where the model sees them whole and a token buys nearly as
    many cells as in its own shape. Shapes that hold no more for a token than the first, or whose
    font is not shipped, are passed over.
    """
    own = [shape for shape in map(parse_shape, model.shapes) if shape.font in font_names()]
    price = image_price(model, stored.page_width, stored.page_height, images=_many(model))
    seen = price.ok and price.whole
    as_good = not own or _density(model, stored) >= STORED_DENSITY * _density(model, own[0])
    first = stored if (seen and as_good) or not own else own[0]
    return (first, *(s for s in own if _density(model, s) > _density(model, first)))


def shape_cost(model: Model, shape: Shape) -> ShapeCost:
    """What a full page of `shape` costs `model`."""
    price = image_price(model, shape.page_width, shape.grid_rows * shape.pitch_height)
    png_bytes = int(shape.page_cells * PNG_BYTES_PER_CELL[shape.pitch_width % 8 != 0])
    return ShapeCost(shape.page_cells, max(1, price.high_tokens), png_bytes * 4 // 3)


def page_budget(model: Model, tokens: int, other_images: int = 0) -> Budget:
    """What pages may take of a request to `model`; nothing where it takes no images."""
    images = int(model.caps.images.low) - other_images if model.vision else 0
    return Budget(max(0, images), max(0, tokens), int(model.caps.request_bytes.low))


def _many(model: Model) -> int:
    return max(1, int(model.caps.images.low))


def _density(model: Model, shape: Shape) -> float:
    cost = shape_cost(model, shape)
    return cost.cells / cost.tokens
