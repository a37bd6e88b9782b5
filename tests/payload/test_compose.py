from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from snapcompact.archive.page import read_page
from snapcompact.fonts.atlas import load_atlas
from snapcompact.pages.shape import parse_shape
from snapcompact.payload.budget import payload_shapes, shares
from snapcompact.payload.compose import ImagePart, Part, Payload, TextPart, compose
from snapcompact.providers.catalog import load_catalog, match
from snapcompact.providers.price import image_price
from snapcompact.providers.rows import Model, Range
from tests.payload.conftest import DENSE, SHAPE, Build, messages


def count(text: bytes) -> int:
    """Text is dear here, so that pages pay even when they are small."""
    return len(text)


@cache
def row(model_id: str) -> Model:
    return match(load_catalog(), model_id).model


def small(model_id: str = "claude-opus-4-7", images: int = 16) -> Model:
    """A model that is sent small pages, and few of them."""
    model = row(model_id)
    caps = replace(model.caps, images=Range(images, images))
    return replace(model, shapes=(SHAPE, DENSE), caps=caps, window_tokens=24_000)


def texts(payload: Payload) -> dict[str, str]:
    return {p.kind: p.text for p in payload.parts if isinstance(p, TextPart)}


def same(one: Part, other: Part) -> bool:
    if isinstance(one, ImagePart) and isinstance(other, ImagePart):
        return one.png == other.png
    return one == other


def cached(payload: Payload) -> tuple[Part, ...]:
    """The parts up to the last full page."""
    last = max(i for i, p in enumerate(payload.parts) if isinstance(p, ImagePart) and p.full)
    return payload.parts[: last + 1]


def test_parts_come_in_order(build: Build) -> None:
    payload = compose(build(messages(40)), "a", small(), count)
    kinds = [p.kind if isinstance(p, TextPart) else "page" for p in payload.parts]
    order = ["guide", "oldest", "heading", "page", "index", "values", "newest"]
    firsts = [kinds.index(kind) for kind in order]
    assert firsts == sorted(firsts)
    assert kinds[-3:] == ["index", "values", "newest"]


def test_pages_read_back_to_the_whole_text(build: Build) -> None:
    archive = build(messages(22))
    payload = compose(archive, "a", small(images=100), count)
    shape = parse_shape(SHAPE)
    read = [read_page(p.png, load_atlas(shape.font), shape).text for p in payload.images]
    assert b"".join(text or b"" for text in read) == b"".join(archive.transcript())
    assert texts(payload)["oldest"].startswith("The first words:\n¶user:\nQuestion 0")
    assert "So it goes on." in texts(payload)["newest"]


def test_a_growing_history_keeps_its_prefix_between_steps(build: Build) -> None:
    records = messages(50)
    before: Payload | None = None
    steps = []
    compared = 0
    for length in range(110, 140, 2):
        after = compose(build(records[:length]), "a", small(images=32), count)
        assert after.plan is not None
        steps.append(after.plan.step)
        if before is not None and before.plan is not None and before.plan.step == after.plan.step:
            kept = cached(before)
            assert len(kept) <= len(cached(after))
            compared += 1
            assert all(same(a, b) for a, b in zip(kept, after.parts, strict=False))
        before = after
    assert steps == sorted(steps)
    assert len(set(steps)) > 2
    assert compared >= len(steps) // 2


@pytest.mark.parametrize("images", [1, 5, 16, 90])
@pytest.mark.parametrize("tokens", [2_000, 9_000, 15_000])
def test_caps_and_budget_hold(build: Build, images: int, tokens: int) -> None:
    payload = compose(build(messages(30)), "a", small(images=images), count, tokens=tokens)
    assert len(payload.images) <= images
    assert payload.image_tokens <= tokens
    limits = shares(tokens)
    fixed = len(texts(payload)["guide"].encode()) + 1_000  # titles, headings, the index's head
    left_out = payload.plan is not None and payload.plan.left_out
    free = limits.pages - payload.image_tokens if left_out else 0
    assert payload.text_tokens <= fixed + limits.total - limits.pages + free
    model = small(images=images)
    assert payload.image_tokens == sum(
        image_price(model, p.width_px, p.height_px).high_tokens for p in payload.images
    )


def test_the_callers_images_come_first(build: Build) -> None:
    archive = build(messages(30))
    assert len(compose(archive, "a", small(), count, other_images=10).images) <= 6
    assert not compose(archive, "a", small(), count, other_images=99).images


def test_what_is_left_out_is_named_and_the_users_words_stay(build: Build) -> None:
    payload = compose(
        build(messages(60, words=60)), "my archive", small(images=40), count, tokens=100_000
    )
    assert payload.plan is not None
    assert payload.plan.left_out
    index = texts(payload)["index"]
    assert "snapcompact restore 'my archive' --as transcript --messages " in index
    shown = "".join(t for kind, t in texts(payload).items() if kind in ("index", "newest"))
    shape = parse_shape(SHAPE)
    for page in payload.images:
        for one in (shape, parse_shape(DENSE)):
            read = read_page(page.png, load_atlas(shape.font), one)
            shown += (read.text or b"").decode(errors="replace")
    for n in range(60):
        assert f"Question {n}: what" in shown, n


def test_what_pages_leave_over_goes_to_the_users_words(build: Build) -> None:
    """Two small pages take little of 40,000 tokens; the words' own tenth would cut them all."""
    asked = [f"Question {n}: " + "why and how? " * 60 for n in range(20)]
    records = messages(20, words=40)
    for n, text in enumerate(asked):
        records[4 * n]["content"] = text
    payload = compose(build(records), "a", small(images=2), count, tokens=40_000)
    assert payload.plan is not None
    assert payload.plan.left_out
    index = texts(payload)["index"]
    assert all(text.strip() in index for text in asked[:19])
    assert payload.tokens <= 40_000


def test_few_images_leave_room_for_the_newest_words(build: Build) -> None:
    archive = build(messages(60, words=60))
    payload = compose(archive, "a", small(images=2), count, tokens=40_000)
    assert payload.plan is not None
    assert payload.plan.left_out
    assert len(texts(payload)["newest"]) > 20_000
    assert payload.tokens <= 40_000
    short = build(messages(20, words=60))
    whole = compose(short, "a", small(images=200), count, tokens=40_000)
    assert whole.plan is not None
    assert not whole.plan.left_out
    assert len(texts(whole).get("newest", "")) < 2_000  # the rest is saved


def test_exact_values_name_the_page_and_row_where_they_stand(build: Build) -> None:
    payload = compose(build(messages(5, words=90)), "a", small(images=100), count)
    shape = parse_shape(SHAPE)
    atlas = load_atlas(shape.font)
    page = 0
    seen = 0
    for line in texts(payload)["values"].splitlines()[1:]:
        if line.startswith("page "):
            page = int(line[5:])
            continue
        number, value, _ = line.split(" ")
        from snapcompact.pages.decode import read_cells
        from snapcompact.pages.png import decode

        cells = read_cells(decode(payload.images[page - 1].png).scanlines, shape, atlas).cells
        row_text = bytes(c if c < 128 else 63 for c in cells[int(number) - 1].tolist())
        assert value[:1].encode() in row_text
        after = cells[int(number) - 1 :].reshape(-1)
        flat = bytes(c if c < 128 else 63 for c in after.tolist())
        if value.encode() in flat:
            assert flat.index(value.encode()) < shape.grid_columns
            seen += 1
    assert seen > 5


def test_a_short_history_goes_as_text_and_says_so(build: Build) -> None:
    archive = build([{"role": "user", "content": "Hello, what is this?"}])
    payload = compose(archive, "a", row("claude-opus-4-7"), lambda b: len(b) // 3)
    assert not payload.images
    assert "Hello, what is this?" in texts(payload)["text"]
    assert any("sent as text" in note for note in payload.notes)
    assert payload.page_tokens > payload.tokens


def test_a_text_only_model_gets_edges_and_index(build: Build) -> None:
    payload = compose(build(messages(60)), "a", row("deepseek-v3"), count, tokens=9_000)
    assert not payload.images
    assert set(texts(payload)) == {"guide", "oldest", "index", "newest"}
    assert "picture" not in texts(payload)["guide"]


def with_thinking() -> list[dict[str, Any]]:
    records = messages(20)
    for record in records:
        if record["role"] == "assistant" and record["content"]:
            record["reasoning_content"] = "Secret thoughts here. " * 8
    return records


def test_reasoning_goes_only_to_models_that_may_have_it(build: Build) -> None:
    archive = build(with_thinking())
    if b"think:" not in b"".join(archive.transcript()):
        pytest.skip("this format's reasoning is not read")
    shape = parse_shape(SHAPE)

    def words(payload: Payload) -> bytes:
        atlas = load_atlas(shape.font)
        return b"".join(read_page(p.png, atlas, shape).text or b"" for p in payload.images)

    kept = compose(archive, "a", small("gpt-5.5", images=400), count)
    assert b"Secret thoughts" in words(kept)
    left = compose(archive, "a", small(images=400), count)
    assert b"Secret thoughts" not in words(left)
    assert b"So it goes on" in words(left)
    assert "reasoning is left out" in left.notes
    asked = compose(archive, "a", small(images=400), count, thinking=True)
    assert b"Secret thoughts" in words(asked)


@pytest.mark.parametrize("fidelity", ["exact", "lean"])
def test_the_guide_is_plain(fidelity: str) -> None:
    from snapcompact.payload.guide import WITHOUT_PAGES, guide

    words = guide(parse_shape(SHAPE), fidelity) + WITHOUT_PAGES
    for wrong in ("system prompt", "authoritative", "must obey", "instructions", "verbatim"):
        assert wrong not in words.lower()
    assert guide(parse_shape(SHAPE), fidelity) == guide(parse_shape(SHAPE), fidelity)


def test_shapes_get_denser_and_stored_pages_are_used_where_they_are_seen_whole() -> None:
    stored = parse_shape("8x16@9x16-1568x1568")
    assert payload_shapes(stored, row("claude-opus-4-7"))[0] == stored
    assert payload_shapes(stored, row("claude-sonnet-4-5"))[0].name == "8x16@9x16-1568x784"
    assert payload_shapes(stored, row("gemini-3-pro"))[0].name == "8x16@8x22-2048x2048"
    for model in load_catalog().models:
        shapes = payload_shapes(stored, model)
        if model.vision:
            cells = [s.page_cells for s in shapes]
            assert cells == sorted(cells)


@pytest.mark.parametrize("model", load_catalog().models, ids=lambda m: m.name)
def test_the_catalogs_shapes_make_pages_and_get_denser(model: Model) -> None:
    shapes = [parse_shape(name) for name in model.shapes]
    assert [s.name for s in shapes] == list(model.shapes)
    cells = [s.page_cells for s in shapes]
    assert cells == sorted(set(cells))
