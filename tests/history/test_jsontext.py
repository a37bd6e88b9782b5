"""JSON text of any value."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from snapcompact.history.jsontext import NotFinite, json_text
from snapcompact.history.model import unwtf8

scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**40), 10**40),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=5),
    st.sampled_from(["\ud83d", "\udc00", "\U0001f600x"]),
)
values = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.dictionaries(st.text(max_size=3), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(values)
def test_json_text_reads_back(value: Any) -> None:
    assert json.loads(unwtf8(json_text(value))) == json.loads(json.dumps(value))


def test_not_finite_is_not_null() -> None:
    value = {"a": NotFinite("nan"), "b": [NotFinite("-inf")]}
    assert json_text(value) == b'{"a":NaN,"b":[-Infinity]}'


def test_deep_nesting_needs_no_recursion() -> None:
    deep: Any = {"x": []}
    for _ in range(20_000):
        deep = [deep, 1]
    assert json_text(deep) == b"[" * 20_000 + b'{"x":[]}' + b",1]" * 20_000
    keyed: Any = "\ud83d"
    for _ in range(20_000):
        keyed = {"k": keyed}
    assert json_text(keyed) == b'{"k":' * 20_000 + b'"\xed\xa0\xbd"' + b"}" * 20_000
