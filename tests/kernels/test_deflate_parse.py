"""The cheapest way through a scanline, against every way there is."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from snapcompact_kernels import deflate_codes as codes
from snapcompact_kernels.deflate_matches import RUN, SHORTEST
from snapcompact_kernels.deflate_parse import (
    NEVER,
    add_cheapest,
    choose_matches,
    distance_bits,
    length_bits,
    stretch,
)

LINE = 60


@st.composite
def staircases(draw: st.DrawFn) -> list[tuple[int, int]]:
    """Steps that begin and end ever further right."""
    begins = sorted(draw(st.sets(st.integers(0, LINE - 3), max_size=7)))
    ends = sorted(draw(st.sets(st.integers(3, LINE), min_size=len(begins), max_size=len(begins))))
    return [(a, b) for a, b in zip(begins, ends, strict=True) if b - a >= SHORTEST]


def cheapest(
    steps: list[tuple[int, int]], literals: list[int], far: list[int], sizes: list[int]
) -> int:
    """The fewest bits of any choice of `steps`, each cut where the one before it ends."""
    best = sum(literals)
    for count in range(1, len(steps) + 1):
        for chosen in combinations(range(len(steps)), count):
            bits, at = 0, 0
            for i in chosen:
                begin, stop = max(steps[i][0], at), steps[i][1]
                if stop - begin < SHORTEST:
                    break
                bits += sum(literals[at:begin]) + far[i] + sizes[stop - begin]
                at = stop
            else:
                best = min(best, bits + sum(literals[at:]))
    return best


@settings(deadline=None, max_examples=300)
@given(
    staircases(),
    st.lists(st.integers(1, 14), min_size=LINE, max_size=LINE),
    st.lists(st.integers(1, 30), min_size=7, max_size=7),
)
def test_no_choice_of_steps_is_cheaper(
    steps: list[tuple[int, int]], literals: list[int], far: list[int]
) -> None:
    sizes = [NEVER] * SHORTEST + [4 + size // 8 for size in range(SHORTEST, 259)]
    table = np.zeros((6, 64), np.int64)
    for i, (begin, stop) in enumerate(steps):
        table[:3, i + 1] = begin, stop, i
    before = np.concatenate(([0], np.cumsum(literals)))
    distances = np.array([NEVER, *far])
    matches = np.empty((LINE, 3), np.int32)
    count = add_cheapest(table, len(steps), before, np.array(sizes), distances, 1000, matches, 0)
    at, bits = 0, 0
    for begin, size, number in (matches[:count] - [1000, 0, 0]).tolist():
        assert steps[number][0] <= begin
        assert begin + size == steps[number][1]
        bits += sum(literals[at:begin]) + far[number] + sizes[size]
        at = begin + size
    assert bits + sum(literals[at:]) == cheapest(steps, literals, far, sizes)


def test_long_runs_and_repeats_are_cut_to_what_a_match_may_have() -> None:
    size = 700
    ink = np.random.default_rng(5).integers(1, 256, size, dtype=np.uint8)
    ink[0] = 0
    page = np.concatenate((ink, ink, np.zeros(size + 8, np.uint8)))
    lengths = np.full(codes.SYMBOLS, 8, np.int64)
    matches = np.empty((size, 3), np.int32)
    line_first = np.empty(4, np.int32)
    choose_matches(
        page,
        size,
        np.array([[0, size - 1, size]], np.int32),
        np.array([0, 0, 1, 1], np.int32),
        1,
        1,
        lengths,
        matches,
        line_first,
    )
    assert line_first.tolist() == [0, 0, 3, 6]
    assert matches[:3, 1].tolist() == [258, 258, size - 517]
    assert matches[3:6].tolist() == [
        [2 * size + 2, 258, RUN],
        [2 * size + 260, 258, RUN],
        [2 * size + 518, size - 518, RUN],
    ]


def test_a_near_repeat_is_taken_where_a_far_one_is_little_longer() -> None:
    size, near, far = 100, 64, 30_000
    page = np.random.default_rng(6).integers(1, 256, far + 2 * size + 8, dtype=np.uint8)
    line = (far // size + 1) * size
    page[line + 70 : line + 90] = page[line + 70 - far : line + 90 - far]
    page[line + 70 - near : line + 89 - near] = page[line + 70 : line + 89]
    repeats = np.array([[69, 19, near], [69, 20, far]], np.int32)
    first = np.zeros(line // size + 2, np.int32)
    first[-1] = 2
    lengths = np.full(codes.SYMBOLS, 8, np.int64)
    assert distance_bits(lengths, far) > distance_bits(lengths, near) + 7
    assert length_bits(lengths, 20) == length_bits(lengths, 19) == 10
    matches = np.empty((size, 3), np.int32)
    for cost, expected in ((2, [line + 70, 19, 0]), (14, [line + 70, 20, 1])):
        lengths[:256] = cost
        choose_matches(
            page,
            size,
            repeats,
            first,
            1,
            1,
            lengths,
            matches,
            np.empty(len(first), np.int32),
        )
        assert matches[0].tolist() == expected


@given(st.integers(0, 40), st.integers(0, 40))
def test_repeats_are_stretched_a_few_words(before: int, behind: int) -> None:
    size, begin, stop = 120, 50, 60
    page = np.random.default_rng(1).integers(1, 256, 2 * size + 16, dtype=np.uint8)
    for i in range(size + begin - before, size + stop + behind):
        page[i] = page[i - size]
    for i in (size + begin - before - 1, size + stop + behind):
        page[i] = page[i - size] ^ 1
    expected = begin - min(before, 28), stop + min(behind, 28)
    assert stretch(page, size, size, begin, stop, size) == expected
