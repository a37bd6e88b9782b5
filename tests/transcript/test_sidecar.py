from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from snapcompact.transcript.identifiers import Identifier, find_identifiers, line_blocks
from snapcompact.transcript.sidecar import (
    SHARES,
    all_entries,
    check,
    choose,
    locator,
    sidecar_text,
)

CORPUS = Path(__file__).parents[2] / ".." / "shared" / "corpus" / "transcripts-4mb.txt"
CONFUSED = {
    "0": "O",
    "O": "0",
    "1": "l",
    "l": "1",
    "I": "l",
    "5": "S",
    "8": "B",
    "2": "Z",
    "b": "6",
}


def cost(text: bytes) -> int:
    return 1 + len(text) // 3


def locate(offset: int) -> tuple[int, int]:
    return offset // 1000 + 1, offset % 1000 // 100 + 1


identifiers = st.lists(
    st.builds(
        Identifier,
        st.sampled_from(sorted(SHARES)),
        st.text("abc019OIl/_-", min_size=3, max_size=30).map(str.encode),
        st.integers(0, 20_000),
        st.integers(1, 50),
    ),
    max_size=60,
    unique_by=lambda i: i.text,
)


@given(identifiers, st.integers(0, 600))
def test_the_budget_holds_for_the_text_as_a_whole(found: list[Identifier], budget: int) -> None:
    entries = choose(found, locate, cost, budget)
    lines = sidecar_text(entries).splitlines(keepends=True)
    assert sum(map(cost, lines)) <= budget
    assert [e.identifier for e in entries] == sorted(
        {e.identifier for e in entries}, key=lambda i: (i.offset, i.text)
    )


@given(identifiers, st.integers(0, 600))
def test_the_order_given_does_not_matter(found: list[Identifier], budget: int) -> None:
    shuffled = sorted(found, key=lambda i: check(i.text))
    assert choose(found, locate, cost, budget) == choose(shuffled, locate, cost, budget)


@given(identifiers)
def test_with_enough_budget_all_are_there_or_covered_by_a_path(found: list[Identifier]) -> None:
    entries = choose(found, locate, cost, 10**9)
    paths = [e.identifier.text for e in entries if e.identifier.kind == "path"]
    chosen = {e.identifier.text for e in entries}
    for identifier in found:
        text = identifier.text
        assert text in chosen or any(path.endswith(text) for path in paths)


def test_every_kind_gets_its_turn_before_any_has_many() -> None:
    found = [
        Identifier(kind, f"{kind}-{n:03}".encode(), n * 100, 1)
        for kind in SHARES
        for n in range(50)
    ]
    kinds = Counter(e.identifier.kind for e in choose(found, locate, cost, 600))
    assert set(kinds) == set(SHARES)
    assert kinds["path"] > kinds["name"]


def test_pages_come_up_in_turn() -> None:
    crowded = [Identifier("hash", b"%08x" % (n * 7 + 1), n, 1) for n in range(200)]
    lonely = [Identifier("hash", b"%08x" % (n + 2**31), 5_000 + 1000 * n, 30) for n in range(4)]
    entries = choose(crowded + lonely, locate, cost, 90)
    assert {e.page for e in entries} == {1, 6, 7, 8, 9}


def test_what_is_misread_and_rare_comes_first() -> None:
    found = [
        Identifier("code", b"0O1l-5S8B", 500, 1),
        Identifier("code", b"xk4-wyhj", 100, 1),
        Identifier("code", b"0O1l-5S88", 300, 40),
    ]
    (entry,) = choose(found, locate, cost, 10)
    assert entry.identifier.offset == 500


def test_the_text_is_as_documented() -> None:
    found = [Identifier("hash", b"9c4e0b8", 120, 1), Identifier("path", b"a/b.py", 2_950, 2)]
    assert sidecar_text(all_entries(found, locate)) == (
        b"page 1\n2 9c4e0b8 ~%s\npage 3\n10 a/b.py ~%s\n"
        % (check(b"9c4e0b8").encode(), check(b"a/b.py").encode())
    )
    assert sidecar_text(()) == b""


def test_a_misread_character_changes_the_check() -> None:
    words = [f"srv-{n * 0x9E3779B1 % 2**32:08x}-0O1lI5S8B2Z" for n in range(200)]
    misread = [
        (word, word[:at] + CONFUSED[c] + word[at + 1 :])
        for word in words
        for at, c in enumerate(word)
        if c in CONFUSED
    ]
    unseen = sum(check(a.encode()) == check(b.encode()) for a, b in misread)
    assert unseen <= 2 * len(misread) / 24**3 + 1
    assert len(misread) > 2_000


def test_the_check_is_frozen_because_archives_keep_it_unchanged() -> None:
    assert check(b"") == "aaa"
    words = (b"srv-O0O0", b"srv-0O0O", b"srv-00OO")
    assert [check(w) for w in words] == ["qqp", "uhr", "eeg"]


def test_a_place_is_page_and_row_from_1() -> None:
    place = locator([0, 100, 250], [[0, 50], [100, 120, 240], [250]])
    assert [place(o) for o in (0, 49, 50, 100, 239, 240, 9999)] == [
        (1, 1), (1, 1), (1, 2), (2, 1), (2, 2), (2, 3), (3, 1),
    ]  # fmt: skip


@pytest.mark.skipif(not CORPUS.exists(), reason="the shared corpus is not here")
def test_real_transcripts_keep_hashes_and_paths_at_small_budgets() -> None:
    data = CORPUS.read_bytes()[:1_000_000]
    found = find_identifiers(line_blocks(data))
    kept = Counter(e.identifier.kind for e in choose(found, locate, cost, 2_000))
    assert kept["hash"] == sum(i.kind == "hash" for i in found)
    assert kept["path"] >= 20
