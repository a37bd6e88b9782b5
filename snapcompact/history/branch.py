"""Parent links to branches: which records of a session are active, left, or copies.

The index takes 32 bytes a record, in memory up to SPILL_BYTES and in a temporary file beyond.
"""

from __future__ import annotations

import tempfile
from array import array
from enum import IntEnum
from typing import IO, TYPE_CHECKING

import numpy as np

from snapcompact.errors import UnknownNameError
from snapcompact.files import disk_errors

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

SPILL_BYTES = 4 << 20
"""Memory that an array grew to is not given back; the file is read five times, at memory speed."""
_CHUNK_BYTES = 1 << 20
_WORDS = 4
"""Words of a row: id, parent, answer (lowest bit: sidechain), tool call. Hashes, 0 for none."""


class Standing(IntEnum):
    """What a record is to the branch that was asked for."""

    LEFT = 0
    ACTIVE = 1
    COPY = 2
    """Its id came before."""
    LEAF = 3
    """Left, and the end of its branch."""


class Tree:
    """Collects links in file order, then tells the standing of every record."""

    def __init__(self) -> None:
        self.hashed: Callable[[str], int] = hash
        """A text to 64 bits with a sign; keyed, so that no file can be made to collide."""
        self._rows = array("q")
        self._file: IO[bytes] | None = None
        self._count = 0
        self._side = 0
        self.side_trees: NDArray[np.int32] | None = None
        """Per record the number of its sidechain, from 1 in the order they begin, 0 for none; None
        where there is no sidechain. Known once :meth:`standing` is."""
        self.roots: NDArray[np.int32] = np.zeros(0, np.int32)
        """Per record the root of its tree; known once :meth:`standing` is."""

    def add(
        self, record: str, parent: str, answer: str = "", tool: str = "", side: bool = False
    ) -> None:
        """One record with its id; `parent` is empty at a root.

        Records of one `answer` stand together, and so does the result of a `tool` call with its
        call. A record of a sidechain (`side`) is always active.
        """
        hashed = self.hashed
        self._rows.extend(
            (
                hashed(record) if record else 0,
                hashed(parent) if parent else 0,
                (hashed(answer) & ~1 if answer else 0) | side,
                hashed(tool) if tool else 0,
            )
        )
        self._count += 1
        self._side += side
        self._spill()

    def extend(self, rows: NDArray[np.int64]) -> None:
        """Records as ``rows`` (n, 4) of what :meth:`add` makes of them, by :attr:`hashed`."""
        self._rows.frombytes(rows.tobytes())
        self._count += len(rows)
        self._side += int((rows[:, 2] & 1).sum())
        self._spill()

    def _spill(self) -> None:
        if len(self._rows) * 8 >= SPILL_BYTES:
            with disk_errors("write", f"a temporary file in {tempfile.gettempdir()}"):
                self._file = self._file or tempfile.TemporaryFile()  # noqa: SIM115 - until read
                self._rows.tofile(self._file)
            self._rows = array("q")

    @property
    def all_side(self) -> bool:
        """Whether every record is of a sidechain, as in a sub-agent's own file."""
        return 0 < self._count == self._side

    def standing(self, branch: str = "active", *, one_path: bool = False) -> NDArray[np.uint8]:
        """A Standing per record, in the order they were added; the tree is spent.

        ``active`` and ``all``: in each tree the path from its newest record to its root, or with
        `one_path` the one path from the newest record of all. Else `branch` is the id of a record,
        and the path is from there. Raises UnknownNameError where there is none.
        """
        if not self._count:
            return np.zeros(0, np.uint8)
        try:
            ids, links, side = self._columns()
            start = None if branch in ("active", "all") else _find(ids, branch, self.hashed(branch))
            copies = _copies(ids)
            parents = _parents(ids, links, copies)
            del ids, links
            roots = _roots(parents)
            if self._side:
                self.side_trees = _numbered(roots, side)
            leaves = _leaves(parents, roots, side | copies) if start is None else [start]
            self.roots = roots
            active = _paths(parents, [max(leaves)] if one_path and leaves else leaves)
            active |= side
            self._pull_in(active)
        finally:
            if self._file is not None:
                self._file.close()
        out = active.astype(np.uint8)
        out[_ends(parents, out == Standing.LEFT)] = Standing.LEAF
        out[copies] = Standing.COPY
        return out

    def _chunks(self) -> Iterator[tuple[slice, NDArray[np.int64]]]:
        """(places, rows) of all rows, a megabyte at a time: a map of the file would fill memory."""
        at = 0
        for block in self._blocks():
            rows = np.frombuffer(block, np.int64).reshape(-1, _WORDS)
            yield slice(at, at + len(rows)), rows
            at += len(rows)

    def _blocks(self) -> Iterator[bytes | array[int]]:
        if self._file is not None:
            self._file.seek(0)
            while block := self._file.read(_CHUNK_BYTES):
                yield block
        yield self._rows

    def _columns(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.bool_]]:
        """Ids, parents' ids, and whether of a sidechain."""
        ids, links = np.empty(self._count, np.int64), np.empty(self._count, np.int64)
        side = np.empty(self._count, bool)
        for place, rows in self._chunks():
            ids[place], links[place] = rows[:, 0], rows[:, 1]
            side[place] = rows[:, 2] & 1
        return ids, links, side

    def _pull_in(self, active: NDArray[np.bool_]) -> None:
        """Make active, in place, the rest of active answers, and the results of active calls."""
        for column, mask in ((2, ~1), (3, -1)):
            if active.all():
                return
            wanted = [_keys(rows, column, mask)[~active[place]] for place, rows in self._chunks()]
            keys = np.unique(np.concatenate(wanted))
            found = [
                np.intersect1d(_keys(rows, column, mask)[active[place]], keys)
                for place, rows in self._chunks()
            ]
            keys = np.setdiff1d(np.concatenate(found), [0])
            for place, rows in self._chunks():
                active[place] |= _is_one_of(_keys(rows, column, mask), keys)


def _keys(rows: NDArray[np.int64], column: int, mask: int) -> NDArray[np.int64]:
    return rows[:, column] & mask


def _is_one_of(values: NDArray[np.int64], wanted: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether each value is in the sorted `wanted`."""
    if not len(wanted):
        return np.zeros(len(values), bool)
    at = np.searchsorted(wanted, values)
    at[at == len(wanted)] = 0
    found: NDArray[np.bool_] = wanted[at] == values
    return found


def _first_rows(
    ids: NDArray[np.int64], wanted: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """(ids found of the sorted `wanted`, sorted; the first row of each; all their rows)."""
    step = _CHUNK_BYTES // 8
    pieces = [
        np.flatnonzero(_is_one_of(ids[at : at + step], wanted)) + at
        for at in range(0, len(ids), step)
    ]
    rows = np.concatenate(pieces)
    found, first = np.unique(ids[rows], return_index=True)
    return found, rows[first], rows


def _copies(ids: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether each row repeats the id of an earlier one."""
    ordered = np.sort(ids)
    twice = np.unique(ordered[1:][ordered[1:] == ordered[:-1]])
    del ordered
    copies = np.zeros(len(ids), bool)
    if len(twice):
        _, first, rows = _first_rows(ids, twice)
        copies[rows] = True
        copies[first] = False
    return copies


def _parents(
    ids: NDArray[np.int64], links: NDArray[np.int64], copies: NDArray[np.bool_]
) -> NDArray[np.int32]:
    """The row of each row's parent or -1. Nearly always that is the row before."""
    parents = np.arange(-1, len(ids) - 1, dtype=np.int32)
    near = np.zeros(len(ids), bool)
    near[1:] = (links[1:] == ids[:-1]) & ~copies[:-1]
    far = np.flatnonzero(~near)
    found, first, _ = _first_rows(ids, np.setdiff1d(links[far], [0]))
    if len(found):
        at = np.searchsorted(found, links[far])
        at[at == len(found)] = 0
        parents[far] = np.where(found[at] == links[far], first[at], -1)
    else:
        parents[far] = -1
    parents[far[parents[far] == far]] = -1
    return parents


def _roots(parents: NDArray[np.int32]) -> NDArray[np.int32]:
    """Each row's root; some row of the cycle where the way up runs into one."""
    roots = np.where(parents < 0, np.arange(len(parents), dtype=np.int32), parents)
    for _ in range(len(parents).bit_length()):
        roots = roots[roots]
    return roots


def _numbered(roots: NDArray[np.int32], side: NDArray[np.bool_]) -> NDArray[np.int32]:
    """Numbers from 1 of the trees of rows in `side`, by their first row; 0 for other rows."""
    trees = np.unique(roots[side])
    return np.where(side, np.searchsorted(trees, roots) + 1, 0).astype(np.int32)


def _leaves(
    parents: NDArray[np.int32], roots: NDArray[np.int32], passed: NDArray[np.bool_]
) -> list[int]:
    """The newest row of each tree, rows `passed` over apart; every row that runs into a cycle."""
    looped = parents[roots] >= 0
    newest = np.full(len(parents), -1, np.int32)
    rows = np.flatnonzero(~passed & ~looped).astype(np.int32)
    newest[roots[rows]] = rows  # the last assignment to a root wins
    leaves: list[int] = newest[newest >= 0].tolist()
    return leaves + np.flatnonzero(looped).tolist()


def _paths(parents: NDArray[np.int32], leaves: list[int]) -> NDArray[np.bool_]:
    """Rows on the way from one of `leaves` to its root."""
    active = bytearray(len(parents))
    links = parents.data
    for leaf in leaves:
        at = leaf
        while at >= 0 and not active[at]:
            active[at] = 1
            at = links[at]
    return np.frombuffer(active, np.uint8).astype(bool)


def _ends(parents: NDArray[np.int32], left: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Rows that are `left` and have no child that is."""
    has_child = np.zeros(len(parents), bool)
    inner = left & (parents >= 0)
    has_child[parents[inner]] = True
    return left & ~has_child


def _find(ids: NDArray[np.int64], branch: str, hashed: int) -> int:
    found = np.flatnonzero(ids == hashed)
    if not len(found):
        raise UnknownNameError(
            f"no record with id {branch!r}; a branch is named by its last record, see its report"
        )
    return int(found[0])
