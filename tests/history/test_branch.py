"""Parent links to branches."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from snapcompact.errors import UnknownNameError
from snapcompact.history import branch
from snapcompact.history.branch import Standing, Tree

A, L, C, E = Standing.ACTIVE, Standing.LEFT, Standing.COPY, Standing.LEAF


@dataclass
class Row:
    id: str
    parent: str = ""
    answer: str = ""
    tool: str = ""
    side: bool = False


def _standing(rows: list[Row], branch: str = "active", *, one_path: bool = False) -> list[int]:
    tree = Tree()
    for row in rows:
        tree.add(row.id, row.parent, row.answer, row.tool, side=row.side)
    found: list[int] = tree.standing(branch, one_path=one_path).tolist()
    return found


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([], []),
        ([Row("a"), Row("b", "a"), Row("c", "b")], [A, A, A]),
        ([Row("a"), Row("b", "a"), Row("c", "b"), Row("d", "a")], [A, L, E, A]),
        ([Row("a"), Row("b", "a"), Row("a"), Row("c", "b")], [A, A, C, A]),
        ([Row("b", "a"), Row("a"), Row("c", "b")], [A, A, A]),  # a child before its parent
        ([Row("a", "gone"), Row("b", "a")], [A, A]),
        ([Row("a"), Row("b", "a"), Row("x"), Row("y", "x")], [A, A, A, A]),  # two roots
        ([Row("a", "b"), Row("b", "a"), Row("c", "b")], [A, A, A]),  # a cycle: file order
        ([Row("a", "a"), Row("b", "a")], [A, A]),
        ([Row("a"), Row("s", "", side=True), Row("t", "s", side=True), Row("b", "a")], [A] * 4),
    ],
)
def test_active_path(rows: list[Row], expected: list[int]) -> None:
    assert _standing(rows) == expected


def test_one_path_leaves_other_roots() -> None:
    rows = [Row("a"), Row("b", "a"), Row("x"), Row("y", "x")]
    assert _standing(rows, one_path=True) == [L, E, A, A]


def test_results_of_active_calls_and_split_answers_are_pulled_in() -> None:
    rows = [
        Row("u"),
        Row("call1", "u", answer="m", tool="t1"),
        Row("call2", "call1", answer="m", tool="t2"),
        Row("result1", "call1", tool="t1"),
        Row("result2", "call2", tool="t2"),
        Row("twin", "u", answer="m2"),
        Row("next", "result2", answer="m2"),
    ]
    assert _standing(rows) == [A] * 7


def test_a_branch_is_named_by_its_last_record() -> None:
    rows = [Row("a"), Row("b", "a"), Row("c", "b"), Row("d", "a")]
    assert _standing(rows, "c") == [A, A, A, E]
    with pytest.raises(UnknownNameError, match="no record with id 'z'"):
        _standing(rows, "z")


def test_sidechains_are_numbered_as_they_begin() -> None:
    tree = Tree()
    for row in [Row("a"), Row("s"), Row("t", "s"), Row("b", "a"), Row("p"), Row("u", "t")]:
        tree.add(row.id, row.parent, side=row.id in "stup")
    tree.standing()
    assert tree.side_trees is not None
    assert tree.side_trees.tolist() == [0, 1, 1, 0, 2, 1]
    assert not tree.all_side


links = st.lists(
    st.builds(
        Row,
        st.sampled_from([f"r{n}" for n in range(12)]),
        st.sampled_from(["", "gone", *(f"r{n}" for n in range(12))]),
        st.just(""),
        st.just(""),
        st.booleans(),
    ),
    max_size=16,
)


def _slow(rows: list[Row]) -> list[int]:
    """The same by walking, one record at a time."""
    first: dict[str, int] = {}
    for at, row in enumerate(rows):
        first.setdefault(row.id, at)
    up = [first.get(row.parent, -1) for row in rows]
    up = [-1 if parent == at else parent for at, parent in enumerate(up)]
    copy = [first[row.id] != at for at, row in enumerate(rows)]

    def path(at: int) -> list[int]:
        found: list[int] = []
        while at >= 0 and at not in found:
            found.append(at)
            at = up[at]
        return found

    roots = [path(at)[-1] if up[path(at)[-1]] < 0 else None for at in range(len(rows))]
    active = {at for at, row in enumerate(rows) if row.side}
    newest: dict[int, int] = {}
    for at, row in enumerate(rows):
        root = roots[at]
        if root is None:
            active |= set(path(at))
        elif not row.side and not copy[at]:
            newest[root] = at
    for leaf in newest.values():
        active |= set(path(leaf))
    inner = {up[at] for at in range(len(rows)) if at not in active}
    out = []
    for at in range(len(rows)):
        standing = A if at in active else (L if at in inner else E)
        out.append(int(C if copy[at] else standing))
    return out


@given(links)
def test_equals_walking_one_by_one(rows: list[Row]) -> None:
    assert _standing(rows) == _slow(rows)


def test_the_index_spills_to_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [Row(str(n), str(n - 1) if n else "") for n in range(1000)]
    rows.append(Row("fork", "500"))
    expected = _standing(rows)
    monkeypatch.setattr(branch, "SPILL_BYTES", 1 << 12)
    assert _standing(rows) == expected
    assert expected.count(A) == 502
    assert np.array(expected)[501:1000].tolist() == [L] * 498 + [E]
