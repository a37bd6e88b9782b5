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

if TYPE_CHECKING:
    from numpy.typing import NDArray

SPILL_BYTES = 64 << 20
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
        self._rows = array("q")
        self._file: IO[bytes] | None = None
        self._count = 0
        self._side = 0
        self.side_trees: NDArray[np.int32] | None = None
        """Per record the number of its sidechain, from 1 in the order they begin, 0 for none; None
        where there is no sidechain. Known once :meth:`standing` is."""

    def add(
        self, record: str, parent: str, answer: str = "", tool: str = "", side: bool = False
    ) -> None:
        """One record with its id; `parent` is empty at a root.

        Records of one `answer` stand together, and so does the result of a `tool` call with its
        call. A record of a sidechain (`side`) is always active.
        """
        self._rows.extend(
            (
                hash(record) if record else 0,
                hash(parent) if parent else 0,
                (hash(answer) & ~1 if answer else 0) | side,
                hash(tool) if tool else 0,
            )
        )
        self._count += 1
        self._side += side
        if len(self._rows) * 8 >= SPILL_BYTES:
            self._file = self._file or tempfile.TemporaryFile()  # noqa: SIM115 - until it is read
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
        rows = self._table()
        if not len(rows):
            return np.zeros(0, np.uint8)
        parents, copies = _parents(rows)
        side = (rows[:, 2] & 1).astype(bool)
        roots = _roots(parents)
        if self._side:
            self.side_trees = _numbered(roots, side)
        if branch in ("active", "all"):
            leaves = _leaves(parents, roots, side | copies)
            active = _paths(parents, [max(leaves)] if one_path and leaves else leaves)
        else:
            active = _paths(parents, [_find(rows, branch)])
        active = _pull_in(rows, active | side)
        out = active.astype(np.uint8)
        out[_ends(parents, out == Standing.LEFT)] = Standing.LEAF
        out[copies] = Standing.COPY
        return out

    def _table(self) -> NDArray[np.int64]:
        if self._file is None:
            return np.frombuffer(self._rows, np.int64).reshape(-1, _WORDS)
        with self._file as file:  # the map outlives the open file
            self._rows.tofile(file)
            file.flush()
            return np.memmap(file, np.int64, "r").reshape(-1, _WORDS)


def _key(text: str) -> int:
    return hash(text) if text else 0


def _parents(rows: NDArray[np.int64]) -> tuple[NDArray[np.int32], NDArray[np.bool_]]:
    """(row of each row's parent or -1, whether a row repeats an earlier id)."""
    ids = np.ascontiguousarray(rows[:, 0])
    order = np.argsort(ids, kind="stable").astype(np.int32)
    ids = ids[order]
    copies = np.zeros(len(ids), bool)
    copies[order[1:][ids[1:] == ids[:-1]]] = True
    at = np.searchsorted(ids, rows[:, 1])
    at[at == len(ids)] = 0
    found = (ids[at] == rows[:, 1]) & (rows[:, 1] != 0)
    parents = np.where(found, order[at], -1).astype(np.int32)
    parents[parents == np.arange(len(parents))] = -1
    return parents, copies


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


def _pull_in(rows: NDArray[np.int64], active: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """`active` with all records of active answers, and with the results of active calls."""
    for column, mask in ((2, ~1), (3, -1)):
        keys = rows[:, column] & mask
        wanted = np.unique(keys[active & (keys != 0)])
        active = active | np.isin(keys, wanted)
    return active


def _ends(parents: NDArray[np.int32], left: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Rows that are `left` and have no child that is."""
    has_child = np.zeros(len(parents), bool)
    inner = left & (parents >= 0)
    has_child[parents[inner]] = True
    return left & ~has_child


def _find(rows: NDArray[np.int64], branch: str) -> int:
    found = np.flatnonzero(rows[:, 0] == _key(branch))
    if not len(found):
        raise UnknownNameError(
            f"no record with id {branch!r}; a branch is named by its last record, see its report"
        )
    return int(found[0])
