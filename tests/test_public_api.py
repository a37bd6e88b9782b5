"""The public names are what they say, and each has a docstring."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import snapcompact
from snapcompact import errors


@pytest.mark.parametrize("name", snapcompact.__all__)
def test_every_public_name_is_there_and_described(name: str) -> None:
    assert getattr(snapcompact, name).__doc__


def test_types_see_the_same_names() -> None:
    tree = ast.parse(Path(snapcompact.__file__).read_text("utf-8"))
    imported = {
        alias.asname
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if alias.asname
    }
    assert imported == set(snapcompact.__all__)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="nothing"):
        snapcompact.nothing  # noqa: B018 - reading it is the test


def test_errors_have_distinct_codes_and_stand_in_the_tree() -> None:
    classes = [c for c in vars(errors).values() if isinstance(c, type)]
    own = [c for c in classes if issubclass(c, errors.SnapcompactError)]
    assert len({c.code for c in own}) == len(own)
    assert errors.__doc__ is not None
    assert all(c.__name__ in errors.__doc__ for c in own)
    assert {c.exit_code for c in own} == {1, 2, 3}
