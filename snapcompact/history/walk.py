"""Sessions whose records link to a parent: two readings, so that each record knows its standing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from snapcompact.history.branch import Standing, Tree
from snapcompact.history.links import Link, LinkNames, encoded, pays, plant
from snapcompact.history.records import records
from snapcompact.history.report import MOST_BRANCHES, Report
from snapcompact.history.resume import MOST_LEFT, MOST_TIPS, CannotResume, Mark, Point
from snapcompact.history.spans import left

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from snapcompact.history.formats import Options
    from snapcompact.history.model import Message
    from snapcompact.history.resume import Trail
    from snapcompact.history.source import Source
    from snapcompact.history.titles import Titles

MOST_TAIL = 1 << 18
"""Records behind a point; so many more are as well read with all the others."""


class Step(NamedTuple):
    """A record that is to be told."""

    record: dict[str, Any]
    line: int
    offset: int
    left: bool = False
    """It is on a left branch."""
    side: int = 0
    """Number of the sidechain it is on, from 1; 0 for none."""


class Walk:
    """The records of `source` on the branch that `options` ask for, in file order.

    `link` gives a record's place, None where it stands outside the tree. What may be given besides
    says the same, faster: `names` where it is written, so that large files need not be read record
    by record for it; `key` gives a record's id alone, empty outside. With `one_path` there is one
    active path, from the newest record; else one for each root.

    With a `trail`, the reader says where a later reading could begin (:meth:`mark`,
    :meth:`leave_point`). With the `point` of an earlier one, `source` begins there: the newest
    records before it stand for all older ones, and CannotResume is raised where a record hangs on
    another one, since then some of those may not be on the active path any more.
    """

    def __init__(
        self,
        source: Source,
        options: Options,
        link: Callable[[dict[str, Any]], Link | None],
        *,
        names: LinkNames | None = None,
        key: Callable[[dict[str, Any]], str] | None = None,
        one_path: bool = False,
        trail: Trail | None = None,
        point: Point | None = None,
    ) -> None:
        self._source = source
        self._all = options.branch == "all"
        self._link = link
        self._key = key or (lambda record: place.id if (place := link(record)) else "")
        self._one_path = one_path
        self._trail = trail
        self._point = point or Point(0, 1)
        tree = Tree()
        if names and not point and pays(source):
            plant(tree, trail.ids if trail else None, source, names, link)
        else:
            for place in self._tail_links() if point else self._links():
                tree.add(*place)
        self.all_side = tree.all_side
        self._standing = tree.standing(options.branch, one_path=one_path)
        left = (self._standing == Standing.LEFT) | (self._standing == Standing.LEAF)
        if point and left.any():
            raise CannotResume("a branch was left behind the point")
        self._roots = tree.roots
        self._sides = tree.side_trees
        self._first = len(self._point.tips)
        """Row of the first record: the tips have the rows before it."""
        self._row = self._first
        """Of the record that is being told, or the next one that has a row."""
        self._tips: dict[int, str] | None = dict(enumerate(self._point.tips))
        """Newest record of each tree by its root; None where that is not kept."""
        self._left = set(self._point.left)
        if trail is None or self.all_side:
            self._tips = None

    def _links(self) -> Iterator[Link]:
        link, trail = self._link, self._trail
        for record, _, _ in records(self._source, Report(), first=self._point.line):
            if (place := link(record)) is not None:
                if trail is not None:
                    trail.ids.extend((encoded(place.id),))
                yield place

    def _tail_links(self) -> Iterator[Link]:
        """Links of the records behind the point, the tips first."""
        point = self._point
        left, known = frozenset(point.left), set(point.tips)
        yield from map(Link, point.tips)
        for place in self._links():
            if place.answer in left or place.tool in left or len(known) > MOST_TAIL:
                raise CannotResume("a left branch is taken up again")
            if not place.side:
                if place.parent not in known and (place.parent or self._one_path):
                    raise CannotResume("a record hangs on one that is not the newest of its branch")
                known.add(place.id)
            yield place

    def steps(self, report: Report) -> Iterator[Step]:
        """The second reading. Copies and, but for branch ``all``, left records are counted."""
        rows, row = self._standing.data, self._first - 1
        sides, roots = self._sides, self._roots.data
        key = self._key
        for record, line, offset in records(self._source, report, first=self._point.line):
            self._row = row + 1
            record_id = key(record)
            if not record_id:
                yield Step(record, line, offset)
                continue
            row += 1
            standing = rows[row]
            if standing == Standing.ACTIVE:
                side = 0 if sides is None else int(sides[row])
                yield Step(record, line, offset, side=side)
                if self._tips is not None and not side:
                    self._tips[0 if self._one_path else roots[row]] = record_id
                    if len(self._tips) > MOST_TIPS:
                        self._tips = None
                continue
            if standing == Standing.COPY:
                report.duplicates["repeated record"] += 1
                continue
            if standing == Standing.LEAF and len(report.branches) < MOST_BRANCHES:
                report.branches.append(record_id)
            if self._all:
                yield Step(record, line, offset, left=True)
            else:
                report.skipped["left branch"] += 1
                self._leave(row, record)

    def mark(self, step: Step, report: Report, words: str = "") -> None:
        """A later reading could begin with `step`, the one told last, whose message is no answer.

        `words` is what else the reader would have to know there; `report` has counted nothing of
        the step.
        """
        trail = self._trail
        if trail is not None and self._tips is not None and trail.due():
            trail.marks.append(
                Mark(
                    step.offset,
                    step.line,
                    self._point.rows + self._row - self._first,
                    tuple(self._tips.values()),
                    dict(report.skipped),
                    dict(report.damage.counts),
                    words,
                )
            )

    def leave_point(
        self, title: int, answers: Callable[[int], tuple[str, ...]] | None = None
    ) -> None:
        """All is told: where a later reading may go on, if it may.

        `title` is the title's rank; `answers` gives the ids of answers that began before an offset
        and may still be continued.
        """
        trail = self._trail
        if trail is None or self._tips is None or trail.ids.full or not trail.marks:
            return
        mark = trail.last
        trail.point = Point(
            *mark,
            left=tuple(sorted(self._left)),
            answers=answers(mark.offset) if answers else (),
            title=title,
        )

    def _leave(self, row: int, record: dict[str, Any]) -> None:
        """A record of a left branch, on which nothing may hang."""
        if self._tips is None:
            return
        self._tips.pop(0 if self._one_path else int(self._roots[row]), None)
        place = self._link(record)
        if place is not None:
            self._left.update(filter(None, (place.answer, place.tool)))
        if len(self._left) > MOST_LEFT:
            self._tips = None


class Teller(Protocol):
    """Makes messages of the records of one session, one after the other."""

    titles: Titles
    model: str
    """What a reading that begins later must know of the records before: the model last named."""

    def messages(self, record: dict[str, Any], line: int, offset: int, /) -> Iterator[Message]:
        """The messages of `record`, which stands at `line` and byte `offset`."""


def told(
    walk: Walk, teller: Teller, report: Report, asks: Callable[[dict[str, Any]], bool]
) -> Iterator[Message]:
    """The messages of all steps of `walk`, marks left at records that `asks` is true of.

    Those give a message that no answer goes on with.
    """
    for step in walk.steps(report):
        if asks(step.record):
            walk.mark(step, report, teller.model)
        for message in teller.messages(step.record, step.line, step.offset):
            yield left(message) if step.left else message
    walk.leave_point(teller.titles.rank)
