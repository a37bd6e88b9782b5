"""Conversations that are trees: the active path, and the branches that were left. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from snapcompact.errors import UnknownNameError
from snapcompact.history.model import Message, Meta, Role, Text, wtf8


class Segment(NamedTuple):
    """Nodes to say in a row. ``leaf`` is empty for the active path, else it names a left branch."""

    leaf: str
    fork: str
    """The node that the branch goes out from, empty where it has a root of its own."""
    nodes: list[str]


def path(parents: Mapping[str, str], leaf: str) -> list[str]:
    """Nodes from the root to `leaf`. A parent that is missing, or a cycle, ends the walk."""
    found: dict[str, None] = {}
    node = leaf
    while node in parents and node not in found:
        found[node] = None
        node = parents[node]
    return list(reversed(found))


def leaves(parents: Mapping[str, str]) -> list[str]:
    """Nodes that are nobody's parent, in file order."""
    inner = set(parents.values())
    return [node for node in parents if node not in inner]


def segments(parents: Mapping[str, str], active: str, branch: str) -> list[Segment]:
    """What to say of a tree, whose `parents` are in file order.

    With `branch` ``active`` or a leaf's id one path, with ``all`` every node once, the active
    path first. Raises UnknownNameError for a branch that the tree does not have.
    """
    if branch not in ("active", "all"):
        if branch not in parents:
            raise UnknownNameError(f"no branch {branch!r} in this conversation; see inspect")
        return [Segment("", "", path(parents, branch))]
    found = [Segment("", "", path(parents, active))]
    if branch == "active":
        return found
    said = set(found[0].nodes)
    for leaf in leaves(parents):
        nodes = [node for node in path(parents, leaf) if node not in said]
        if nodes:
            said.update(nodes)
            found.append(Segment(leaf, parents[nodes[0]], nodes))
    return found


def left(parents: Mapping[str, str], active: str) -> list[str]:
    """Leaves of the branches that are not the active one, in file order."""
    return [leaf for leaf in leaves(parents) if leaf != active]


def mark(segment: Segment) -> Message:
    """The note that stands before a left branch."""
    origin = f" from {segment.fork}" if segment.fork else ""
    words = f"branch {segment.leaf}{origin}, left"
    return Message(Role.NOTE, (Text(wtf8(words)),), "branch", Meta(id=segment.leaf))
