from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from snapcompact.payload.select import (
    QUANTA,
    Budget,
    PagePlan,
    Region,
    ShapeCost,
    plan_pages,
    shown_images,
)

budgets = st.builds(
    Budget, st.integers(0, 120), st.integers(0, 400_000), st.integers(0, 20_000_000)
)
ladders = st.lists(
    st.builds(ShapeCost, st.integers(1_000, 60_000), st.integers(200, 5_000), st.just(80_000)),
    min_size=1,
    max_size=4,
).map(lambda costs: sorted(costs, key=lambda c: c.cells))
lengths = st.integers(0, 3_000)


def prefix(plan: PagePlan, pages: int) -> list[tuple[int | None, int]]:
    """How each of the first `pages` pages is shown."""
    return [(r.level, page) for r in plan.regions for page in range(r.first, r.last)][:pages]


@given(lengths, ladders, budgets)
def test_every_page_is_in_exactly_one_region_in_order(
    pages: int, costs: list[ShapeCost], budget: Budget
) -> None:
    plan = plan_pages(pages, costs, budget)
    covered = [page for r in plan.regions for page in range(r.first, r.last)]
    assert covered == list(range(pages))
    assert all(r.level is None or 0 <= r.level < len(costs) for r in plan.regions)


@given(lengths, ladders, budgets)
def test_the_budget_holds(pages: int, costs: list[ShapeCost], budget: Budget) -> None:
    plan = plan_pages(pages, costs, budget)
    assert plan.images <= budget.images
    assert plan.tokens <= budget.tokens
    assert plan.bytes <= budget.bytes
    assert plan.images == sum(shown_images(r, costs) for r in plan.regions)


@given(lengths, ladders, budgets)
def test_what_fits_whole_is_sent_whole(pages: int, costs: list[ShapeCost], budget: Budget) -> None:
    plan = plan_pages(pages, costs, budget)
    assert (plan.step == 0) == (pages <= budget.pages(costs[0]))
    if plan.step == 0:
        assert {r.level for r in plan.regions} <= {0}


@given(lengths, st.integers(1, 200), ladders, budgets)
def test_a_grown_history_keeps_its_prefix_between_steps_and_steps_never_fall(
    pages: int, more: int, costs: list[ShapeCost], budget: Budget
) -> None:
    before = plan_pages(pages, costs, budget)
    after = plan_pages(pages + more, costs, budget)
    assert after.step >= before.step
    if after.step == before.step and budget.pages(costs[0]):
        assert prefix(after, pages) == prefix(before, pages)


@given(st.integers(1, 400), ladders, budgets)
def test_steps_are_rare(pages: int, costs: list[ShapeCost], budget: Budget) -> None:
    capacity = budget.pages(costs[0])
    steps = {plan_pages(n, costs, budget).step for n in range(pages, pages + capacity // 8)}
    assert len(steps) <= 4


@given(st.integers(1, 3_000), ladders, budgets)
def test_newer_pages_are_never_denser_than_older_ones(
    pages: int, costs: list[ShapeCost], budget: Budget
) -> None:
    plan = plan_pages(pages, costs, budget)
    head = plan.regions[0].level == 0 and len(plan.regions) > 1
    levels = [len(costs) if r.level is None else r.level for r in plan.regions[head:]]
    assert levels == sorted(levels, reverse=True)


def test_a_longer_history_uses_every_means_in_turn() -> None:
    costs = [ShapeCost(21_000, 4_760, 80_000), ShapeCost(29_000, 4_760, 90_000)]
    budget = Budget(90, 10**6, 10**8)
    middling = plan_pages(100, costs, budget)
    assert [r.level for r in middling.regions] == [0, 1, 0]
    plan = plan_pages(400, costs, budget)
    assert [r.level for r in plan.regions] == [0, None, 1]
    assert plan.images > 80


@given(lengths, ladders, budgets)
def test_nothing_is_left_out_that_a_denser_shape_has_room_for(
    pages: int, costs: list[ShapeCost], budget: Budget
) -> None:
    plan = plan_pages(pages, costs, budget)
    head = 1 if budget.pages(costs[0]) >= 8 else 0
    fits = pages <= budget.pages(costs[0])
    for level, cost in enumerate(costs[1:], 1):
        images = shown_images(Region(level, head, max(head, pages)), costs)
        fits |= (
            images + head <= budget.images
            and images * cost.tokens + head * costs[0].tokens <= budget.tokens
            and images * cost.bytes + head * costs[0].bytes <= budget.bytes
        )
    assert bool(plan.left_out) == (pages > 0 and not fits)


@given(lengths, ladders, budgets)
def test_what_is_left_out_wastes_no_more_than_a_step(
    pages: int, costs: list[ShapeCost], budget: Budget
) -> None:
    """No plan may leave out a step's pages more than the budget makes it."""
    plan = plan_pages(pages, costs, budget)
    quantum = max(1, budget.pages(costs[0]) // QUANTA)
    gone = sum(r.pages for r in plan.left_out)
    assert gone < quantum or plan_pages(pages - gone + quantum, costs, budget).left_out


def test_no_room_leaves_all_out() -> None:
    plan = plan_pages(5, [ShapeCost(100, 10, 10)], Budget(0, 100, 100))
    assert [(r.level, r.first, r.last) for r in plan.regions] == [(None, 0, 5)]
