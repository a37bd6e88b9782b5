"""Which shapes to compare for a model: page sizes it sees whole, pitches of every font."""

from __future__ import annotations

from typing import TYPE_CHECKING

from snapcompact.fonts.atlas import load_atlas
from snapcompact.fonts.load import font_names
from snapcompact.pages.shape import MAX_SIDE_PX, Shape, parse_shape
from snapcompact.providers.price import image_price

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from snapcompact.providers.rows import Model

GAPS_PX = ((0, 0), (1, 0), (3, 0), (0, 6))
"""Blank columns and rows put between cells: none, the cheap gain of LEGIBILITY's OCR figures, and
the pitches that peers measured on models (8 on 11, 16 on 22)."""
NEAR_BEST = 0.985
"""Among page sizes within 1.5 % of the best in cells a token the largest is taken: fewer images."""


def candidate_shapes(model: Model) -> tuple[Shape, ...]:
    """The model's own shapes whose fonts are shipped, then every font and gap on its best page.

    The latter only for models that take images.
    """
    named = [parse_shape(name) for name in model.shapes]
    own = [shape for shape in named if shape.font in font_names()]
    if not model.vision:
        return tuple(own)
    others = []
    for font in font_names():
        atlas = load_atlas(font)
        for across, down in GAPS_PX:
            pitch = atlas.width + across, atlas.height + down
            width, height = best_page(model, pitch, named[0])
            others.append(Shape(font, *pitch, width, height))
    return tuple(dict.fromkeys([*own, *others]))


def best_page(model: Model, pitch: tuple[int, int], like: Shape) -> tuple[int, int]:
    """Width and height in px of the page of `pitch` that holds most cells a token, seen whole.

    Sides are whole patches or tiles of the model's grid, and no larger than its caps allow many
    images to have; `like` bounds them where the model sets no limit of its own, and its size is
    kept where it is nearly the best.
    """
    known = like.page_width, like.page_height
    sizes = [size for size in _sizes(model, like) if _fits(model, size)] or [known]
    worth = {size: _cells_a_token(model, pitch, size) for size in sizes}
    best = max(worth.values())
    if worth.get(known, 0) >= NEAR_BEST * best:
        return known
    good = [size for size in sizes if worth[size] >= NEAR_BEST * best]
    return max(good, key=lambda size: (_cells(pitch, size), worth[size], size))


def pareto(points: Sequence[tuple[float, float]]) -> list[bool]:
    """For each point whether no other is as good in both values and better in one; less is good."""

    def beaten(point: tuple[float, float], by: Iterable[tuple[float, float]]) -> bool:
        return any(o != point and o[0] <= point[0] and o[1] <= point[1] for o in by)

    return [not beaten(point, points) for point in points]


def _sizes(model: Model, like: Shape) -> Iterator[tuple[int, int]]:
    step = _grid_px(model)
    most = _most_px(model, like)
    if not step:
        yield like.page_width, like.page_height
        return
    for width in range(step, most + 1, step):
        for height in range(step, most + 1, step):
            if min(width, height) * 2 >= min(like.page_width, like.page_height):
                yield width, height


def _grid_px(model: Model) -> int:
    """Side of the squares that an image is billed by; 0 where it is not by squares."""
    return (model.image.patch_px or model.image.tile_px // 2) if model.image else 0


def _most_px(model: Model, like: Shape) -> int:
    """The longest side to try; twice the known one's where the model would take more."""
    limits = [model.fit.long_edge_px, model.caps.edge_px, model.caps.many_edge_px]
    bounds = [limit for limit in limits if limit]
    known = max(like.page_width, like.page_height)
    return min(*bounds, 2 * known, MAX_SIDE_PX) if bounds else known


def _fits(model: Model, size: tuple[int, int]) -> bool:
    return image_price(model, *size, images=max(1, int(model.caps.images.low))).whole


def _cells(pitch: tuple[int, int], size: tuple[int, int]) -> int:
    return (size[0] // pitch[0]) * (size[1] // pitch[1])


def _cells_a_token(model: Model, pitch: tuple[int, int], size: tuple[int, int]) -> float:
    """Of a full page, whose picture ends with its last whole row."""
    height = size[1] // pitch[1] * pitch[1]
    if not height:
        return 0.0
    return _cells(pitch, size) / image_price(model, size[0], height).high_tokens
