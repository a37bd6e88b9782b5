"""Which pages a request carries, in which shape: pure arithmetic over page numbers.

When all pages fit, all are sent in the first shape. When they do not, the oldest (behind a sharp
head) move to the next shape that holds more, then to the one after it; only when the last of them
holds all and is full are the oldest left out. This happens in *steps*: a step stands for a number
of pages that it has room for, and its borders between shapes are fixed page numbers, whatever the
length of the history::

    head | denser, older | the shape before, newer            up to what the densest holds
    head | left out | densest                                 beyond that

so between two steps a growing history only adds pages at its end, and a provider's prompt cache
holds. The step is the smallest with room for all pages, hence never falls as a history grows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

QUANTA = 16
"""A step makes room for this part of what fits in the first shape: the cached prefix is lost once
in about so many pages."""

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

    `costs` begin with the default shape. Something is left out only where no shape holds all pages.
    With a higher `from_step` fewer images are shown, in the end the head alone.
    """
    ladder = _ladder(costs, budget)
    step = max(from_step, ladder.step_for(pages))
    return _plan(step, _regions(ladder, ladder.room(step), pages), costs)


def shown_images(region: Region, costs: Sequence[ShapeCost]) -> int:
    """Images, at most, that show `region`."""
    if region.level is None:
        return 0
    if region.level == 0:
        return region.pages
    cells = region.pages * costs[0].cells
    return -(-cells // int(costs[region.level].cells * PADDED))


@dataclass(frozen=True, slots=True)
class _Ladder:
    """Shapes that hold more and more: ``levels``, and in ``holds`` the pages each has room for."""

    costs: Sequence[ShapeCost]
    budget: Budget
    levels: tuple[int, ...]
    holds: tuple[int, ...]

    @property
    def head(self) -> int:
        """Pages that stay sharp in front."""
        return 1 if self.holds[0] >= HEAD_FROM else 0

    @property
    def quantum(self) -> int:
        """Pages that a step makes room for."""
        return max(1, self.holds[0] // QUANTA)

    def room(self, step: int) -> int:
        """Pages for which `step` has room, those that it leaves out among them.

        One step stands exactly where the densest shape is full, so that nothing goes before.
        """
        most, wanted = self.holds[-1], self.holds[0] + step * self.quantum
        full = self._full_step
        return wanted if step < full else most + (step - full) * self.quantum

    def step_for(self, pages: int) -> int:
        """The first step with room for `pages`."""
        first, most = self.holds[0], self.holds[-1]
        if pages <= most:
            return max(0, -(-(pages - first) // self.quantum))
        return self._full_step - (most - pages) // self.quantum

    @property
    def _full_step(self) -> int:
        return -(-(self.holds[-1] - self.holds[0]) // self.quantum)


def _ladder(costs: Sequence[ShapeCost], budget: Budget) -> _Ladder:
    """The shapes of `costs` that have room for more pages than all before them."""
    first = budget.pages(costs[0])
    head = 1 if first >= HEAD_FROM else 0
    levels, holds = [0], [first]
    for level in range(1, len(costs)):
        most = _most_pages(head, level, costs, budget)
        if most > holds[-1]:
            levels.append(level)
            holds.append(most)
    return _Ladder(costs, budget, tuple(levels), tuple(holds))


def _most_pages(head: int, level: int, costs: Sequence[ShapeCost], budget: Budget) -> int:
    """The most pages of the first shape that fit with all behind `head` in shape `level`."""
    left = Budget(
        budget.images - head,
        budget.tokens - head * costs[0].tokens,
        budget.bytes - head * costs[0].bytes,
    )
    cells = max(0, left.pages(costs[level])) * int(costs[level].cells * PADDED)
    return head + cells // costs[0].cells


def _regions(ladder: _Ladder, room: int, pages: int) -> tuple[Region, ...]:
    """All `pages` in the regions of the step that has `room`."""
    head, last = ladder.head, ladder.levels[-1]
    if room > ladder.holds[-1]:
        gone = head + room - ladder.holds[-1]
        borders = [(0, head), (None, gone), (last, room)]
    else:
        rung = next(k for k, most in enumerate(ladder.holds) if room <= most)
        newer, older = ladder.levels[max(0, rung - 1)], ladder.levels[rung]
        border = head if rung == 0 else _border(ladder, older, newer, room)
        borders = [(0, head), (older, border), (newer, room)]
    regions, start = [], 0
    for level, end in borders:
        if min(end, pages) > start:
            regions.append(Region(level, start, min(end, pages)))
            start = min(end, pages)
    return tuple(regions)


def _border(ladder: _Ladder, older: int, newer: int, room: int) -> int:
    """The fewest pages before which all behind the head are `older`, the rest `newer`, and fit."""
    low, high = ladder.head, room
    while low < high:
        middle = (low + high) // 2
        regions = (
            Region(0, 0, ladder.head),
            Region(older, ladder.head, middle),
            Region(newer, middle, room),
        )
        if _fits(_plan(0, regions, ladder.costs), ladder.budget):
            high = middle
        else:
            low = middle + 1
    return high


def _plan(step: int, regions: tuple[Region, ...], costs: Sequence[ShapeCost]) -> PagePlan:
    shown = [(shown_images(r, costs), costs[r.level]) for r in regions if r.level is not None]
    return PagePlan(
        step,
        regions,
        images=sum(n for n, _ in shown),
        tokens=sum(n * cost.tokens for n, cost in shown),
        bytes=sum(n * cost.bytes for n, cost in shown),
    )


def _fits(plan: PagePlan, budget: Budget) -> bool:
    return (
        plan.images <= budget.images and plan.tokens <= budget.tokens and plan.bytes <= budget.bytes
    )
