"""Trees of messages."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from snapcompact.history.tree import leaves, left, path, segments

_names = st.sampled_from("abcdefgh")
_trees = st.dictionaries(_names, _names | st.just(""))


def test_segments_of_a_fork() -> None:
    parents = {"a": "", "b": "a", "c": "a", "d": "c"}
    assert [s.nodes for s in segments(parents, "b", "active")] == [["a", "b"]]
    assert [s[:] for s in segments(parents, "b", "all")[1:]] == [("d", "a", ["c", "d"])]
    assert segments(parents, "b", "d")[0].nodes == ["a", "c", "d"]
    assert left(parents, "b") == ["d"]


@given(_trees, _names)
def test_paths_end_and_all_says_a_node_once(parents: dict[str, str], active: str) -> None:
    said = [node for segment in segments(parents, active, "all") for node in segment.nodes]
    assert len(said) == len(set(said))
    assert set(said) >= {node for leaf in leaves(parents) for node in path(parents, leaf)}
