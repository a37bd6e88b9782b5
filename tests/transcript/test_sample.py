from __future__ import annotations

from collections import Counter
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from snapcompact.transcript.sample import BLOCK_BYTES, Sampler

LINES = b"".join(b"line %d of a text\n" % number for number in range(40_000))


def sample(text: bytes, cuts: list[int], blocks: int = 4, seed: int = 0) -> tuple[bytes, ...]:
    sampler = Sampler(blocks, seed)
    edges = [0, *sorted(cut % (len(text) + 1) for cut in cuts), len(text)]
    for start, end in pairwise(edges):
        sampler.feed(text[start:end])
    return sampler.result()


@given(st.integers(0, len(LINES)), st.lists(st.integers(0, len(LINES)), max_size=9))
def test_the_same_blocks_however_the_text_is_fed(size: int, cuts: list[int]) -> None:
    assert sample(LINES[:size], cuts) == sample(LINES[:size], [])


def test_blocks_are_whole_lines_of_the_text_in_order() -> None:
    blocks = sample(LINES, [])
    assert len(blocks) == 4
    places = [LINES.index(block) for block in blocks]
    assert places == sorted(places)
    for place, block in zip(places, blocks, strict=True):
        assert len(block) <= BLOCK_BYTES
        assert place == 0 or LINES[place - 1 : place] == b"\n"


def test_a_short_text_is_taken_whole() -> None:
    assert sample(LINES[:900], [3, 77]) == (LINES[:900],)
    assert sample(b"", []) == ()


def test_every_block_is_as_likely() -> None:
    text = b"".join(bytes([65 + number]) * BLOCK_BYTES for number in range(12))
    seen = Counter(
        block[:1] for seed in range(600) for block in sample(text, [], blocks=3, seed=seed)
    )
    assert set(seen) == {bytes([65 + number]) for number in range(12)}
    assert all(100 < count < 205 for count in seen.values())  # 150 expected, 11 deviations
