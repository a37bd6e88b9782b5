from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from snapcompact.payload.seen import FIRST_SLOTS, Seen


@given(st.lists(st.binary(max_size=2)))
def test_it_is_a_set(texts: list[bytes]) -> None:
    seen, known = Seen(), set[bytes]()
    for text in texts:
        assert seen.add(text) == (text in known)
        known.add(text)


def test_it_grows_and_forgets_nothing() -> None:
    seen = Seen()
    texts = [str(n).encode() for n in range(3 * FIRST_SLOTS)]
    assert not any(seen.add(text) for text in texts)
    assert all(seen.add(text) for text in texts)


def test_a_full_one_knows_what_it_remembered_and_no_more() -> None:
    seen = Seen(most_slots=64)
    texts = [str(n).encode() for n in range(100)]
    assert not any(seen.add(text) for text in texts)
    assert [seen.add(text) for text in texts] == [n < 43 for n in range(100)]
