"""Which pages a request carries, in which shape: pure arithmetic over page numbers.

When all pages fit, all are sent in the first shape. When they do not, the oldest (behind a sharp
head) move to denser shapes, and the oldest of those are left out. This happens in *steps*: at step
``t`` the borders between shapes stand at fixed page numbers, whatever the length of the history::

    head | left out | densest … denser | first shape, newest
         H        H+Q·(t-2·LAG)      H+Q·t                    (with two shapes)

so between two steps a growing history only adds pages at its end, and a provider's prompt cache
holds. The step is the smallest at which the request fits, hence never falls as a history grows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count

QUANTA = 8
"""A step moves this part of what fits: the cached prefix is lost once in about so many pages."""

LAG = 4
"""Steps a page stays in one shape before it moves on to the next denser one."""

HEAD_FROM = 8
"""Where at least so many pages fit, the first one stays sharp: it holds the task."""

PADDED = 0.98
"""Share of a denser page's cells that is text for certain: the rest may pad escapes and wide glyphs
(at most 1 cell of 96 in a row and 8 on a page)."""


@dataclass(frozen=True, slots=True)
class ShapeCost:
    """What one full page of a shape holds and costs: dear tokens, bytes of base64."""

    cells: int
    tokens: int
    bytes: int


@dataclass(frozen=True, slots=True)
class Budget:
    """What the pages of one request may cost."""

    images: int
    tokens: int
    bytes: int

    def pages(self, cost: ShapeCost) -> int:
        """Full pages of `cost` that fit."""
        return min(self.images, self.tokens // cost.tokens, self.bytes // cost.bytes)


@dataclass(frozen=True, slots=True)
class Region:
    """Pages ``first`` up to, not including, ``last`` (of the first shape, from 0).

    ``level`` is the number of the shape they are printed in, 0 the first; None: left out.
    """

    level: int | None
    first: int
    last: int

    @property
    def pages(self) -> int:
        """Pages of the first shape covered."""
        return self.last - self.first


@dataclass(frozen=True, slots=True)
class PagePlan:
    """The regions in order, together all pages; the rest are upper bounds of what they cost."""

    step: int
    regions: tuple[Region, ...]
    images: int
    tokens: int
    bytes: int

    @property
    def left_out(self) -> tuple[Region, ...]:
        """Regions that no image shows."""
        return tuple(r for r in self.regions if r.level is None)


def plan_pages(
    pages: int, costs: Sequence[ShapeCost], budget: Budget, *, from_step: int = 0
) -> PagePlan:
    """The plan for a text of `pages` pages in the first shape of `costs`, within `budget`.

    `costs` go from the default shape to the densest. Ends because with every step more is left out.
    """
    return next(
        plan
        for step in count(from_step)
        if _fits(plan := _at_step(pages, costs, budget, step), budget)
    )


def shown_images(region: Region, costs: Sequence[ShapeCost]) -> int:
    """Images, at most, that show `region`."""
    if region.level is None:
        return 0
    if region.level == 0:
        return region.pages
    cells = region.pages * costs[0].cells
    return -(-cells // int(costs[region.level].cells * PADDED))


def _at_step(pages: int, costs: Sequence[ShapeCost], budget: Budget, step: int) -> PagePlan:
    capacity = budget.pages(costs[0])
    quantum = max(1, capacity // QUANTA)
    head = min(pages, 1 if capacity >= HEAD_FROM else 0)
    levels = len(costs)
    # borders[k]: where level k ends being denser than k; the last is where pages are left out.
    borders = [min(pages, head + quantum * max(0, step - LAG * before)) for before in range(levels)]
    regions = [Region(0, 0, head), Region(None, head, borders[-1])]
    regions += [Region(k, borders[k], borders[k - 1]) for k in range(levels - 1, 0, -1)]
    regions.append(Region(0, borders[0], pages))
    kept = tuple(r for r in regions if r.pages)
    shown = [(shown_images(r, costs), costs[r.level]) for r in kept if r.level is not None]
    return PagePlan(
        step,
        kept,
        images=sum(n for n, _ in shown),
        tokens=sum(n * cost.tokens for n, cost in shown),
        bytes=sum(n * cost.bytes for n, cost in shown),
    )


def _fits(plan: PagePlan, budget: Budget) -> bool:
    return (
        plan.images <= budget.images and plan.tokens <= budget.tokens and plan.bytes <= budget.bytes
    )
