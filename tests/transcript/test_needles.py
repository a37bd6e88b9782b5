"""Many substrings at once."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from snapcompact.transcript import needles as module
from snapcompact.transcript.needles import Needles

_bytes = st.lists(st.sampled_from([b"a", b"b", b"ab", b"\0", b"\xff"]), max_size=30).map(b"".join)
_needles = st.lists(st.binary(min_size=3, max_size=5) | _bytes.filter(lambda b: len(b) > 2))


@pytest.mark.parametrize("short", [0, 8, 512])
@given(_needles, _bytes, st.integers(1, 9))
def test_places_are_those_of_find(short: int, wanted: list[bytes], text: bytes, block: int) -> None:
    before = module.BLOCK_BYTES, module.SHORT_BYTES
    module.BLOCK_BYTES, module.SHORT_BYTES = block, short
    try:
        found = Needles(wanted).places(text)
    finally:
        module.BLOCK_BYTES, module.SHORT_BYTES = before
    slow = {
        needle: places
        for needle in wanted
        if (places := [at for at in range(len(text)) if text.startswith(needle, at)])
    }
    assert dict(found) == slow
