"""Sessions whose records link to a parent: two readings, so that each record knows its standing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from snapcompact.history.branch import Standing, Tree
from snapcompact.history.records import records
from snapcompact.history.report import MOST_BRANCHES, Report

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
    left: bool = False
    """It is on a left branch."""
    side: int = 0
    """Number of the sidechain it is on, from 1; 0 for none."""


class Walk:
    """The records of `source` on the branch that `options` ask for, in file order.

    `link` gives a record's place, None where it stands outside the tree; `key`, where given, does
    the same for its id alone, empty outside, and is faster. With `one_path` there is one active
    path, from the newest record; else one for each root.
    """

    def __init__(
        self,
        source: Source,
        options: Options,
        link: Callable[[dict[str, Any]], Link | None],
        *,
        key: Callable[[dict[str, Any]], str] | None = None,
        one_path: bool = False,
    ) -> None:
        self._source = source
        self._all = options.branch == "all"
        self._key = key or (lambda record: place.id if (place := link(record)) else "")
        tree = Tree()
        for record, _, _ in records(source, Report()):
            if (place := link(record)) is not None:
                tree.add(*place)
        self.all_side = tree.all_side
        self._standing = tree.standing(options.branch, one_path=one_path)
        self._sides = tree.side_trees

    def steps(self, report: Report) -> Iterator[Step]:
        """The second reading. Copies and, but for branch ``all``, left records are counted."""
        rows, row = self._standing.data, -1
        sides = self._sides
        key = self._key
        for record, line, offset in records(self._source, report):
            record_id = key(record)
            if not record_id:
                yield Step(record, line, offset)
                continue
            row += 1
            standing = rows[row]
            if standing == Standing.ACTIVE:
                side = 0 if sides is None else int(sides[row])
                yield Step(record, line, offset, side=side)
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
