from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from snapcompact.legibility.choice import best_page, candidate_shapes, pareto
from snapcompact.pages.shape import Shape, parse_shape
from snapcompact.providers.catalog import load_catalog
from snapcompact.providers.price import image_price, seen_size
from snapcompact.providers.rows import Model

MODELS = [model for model in load_catalog().models if model.vision]
by_name = pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)


def cells_a_token(model: Model, shape: Shape) -> float:
    height = shape.grid_rows * shape.pitch_height
    return shape.page_cells / image_price(model, shape.page_width, height).high_tokens


@by_name
def test_default_pages_are_seen_whole_and_waste_no_paid_pixel(model: Model) -> None:
    assert model.shapes_basis in {"predicted", "measured"}
    assert model.shapes_reason
    for name in model.shapes:
        shape = parse_shape(name)
        height = shape.grid_rows * shape.pitch_height
        if model.name != "unknown":
            assert seen_size(model, shape.page_width, height) == (shape.page_width, height)
        pitch = shape.pitch_width, shape.pitch_height
        best = best_page(model, pitch, shape)
        other = Shape(shape.font, *pitch, *best)
        assert cells_a_token(model, shape) >= 0.98 * cells_a_token(model, other)
        assert model.image is not None
        if patch := model.image.patch_px:
            assert shape.page_width % patch == 0
            blank_px = -(-height // patch) * patch - height
            assert blank_px < shape.pitch_height


@by_name
def test_candidates_are_pages_that_fit(model: Model) -> None:
    found = candidate_shapes(model)
    assert len(set(found)) == len(found) > 8
    assert found[0].name == model.shapes[0]
    for shape in found:
        height = shape.grid_rows * shape.pitch_height
        assert seen_size(model, shape.page_width, height) == (shape.page_width, height)


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=12))
def test_the_front_is_what_nothing_beats(points: list[tuple[int, int]]) -> None:
    front = pareto(points)
    assert any(front) == bool(points)
    for point, kept in zip(points, front, strict=True):
        better = [o for o in points if o[0] <= point[0] and o[1] <= point[1] and o != point]
        assert kept == (not better)
