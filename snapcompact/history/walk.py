"""Sessions whose records link to a parent: two readings, so that each record knows its standing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from snapcompact.history.branch import Standing, Tree
from snapcompact.history.records import records
from snapcompact.history.report import Report

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from snapcompact.history.formats import Options
    from snapcompact.history.source import Source


class Link(NamedTuple):
    """A record's place in the tree; see :meth:`snapcompact.history.branch.Tree.add`."""

    id: str
    parent: str = ""
    answer: str = ""
    tool: str = ""
    side: bool = False


class Step(NamedTuple):
    """A record that is to be told."""

    record: dict[str, Any]
    line: int
    offset: int
    left: bool
    """It is on a left branch."""


class Walk:
    """The records of `source` on the branch that `options` ask for, in file order.

    `link` gives a record's place, None where it stands outside the tree. With `one_path` there is
    one active path, from the newest record; else one for each root.
    """

    def __init__(
        self,
        source: Source,
        options: Options,
        link: Callable[[dict[str, Any]], Link | None],
        *,
        one_path: bool = False,
    ) -> None:
        self._source = source
        self._all = options.branch == "all"
        self._link = link
        tree = Tree()
        for record, _, _ in records(source, Report()):
            if (place := link(record)) is not None:
                tree.add(*place[:4], side=place.side)
        self.all_side = tree.all_side
        self._standing = tree.standing(options.branch, one_path=one_path)

    def steps(self, report: Report) -> Iterator[Step]:
        """The second reading. Copies and, but for branch ``all``, left records are counted."""
        rows, row = self._standing.data, 0
        for record, line, offset in records(self._source, report):
            place = self._link(record)
            if place is None:
                yield Step(record, line, offset, left=False)
                continue
            standing = rows[row]
            row += 1
            if standing == Standing.ACTIVE:
                yield Step(record, line, offset, left=False)
                continue
            if standing == Standing.COPY:
                report.duplicates["repeated record"] += 1
                continue
            if standing == Standing.LEAF:
                report.branches.append(place.id)
            if self._all:
                yield Step(record, line, offset, left=True)
            else:
                report.skipped["left branch"] += 1
