from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from snapcompact.payload.index import Missing, Word, find_missing, index_text
from snapcompact.payload.source import Span

BODY = b"\xc2\xb6user:\nsay this\n"


def spans(roles: list[str]) -> list[Span]:
    return [Span(n, role, "", n * 20, 20) for n, role in enumerate(roles)]


def read(start: int, end: int) -> bytes:
    return (BODY + b"." * 20)[: end - start]


def count(text: bytes) -> int:
    return len(text)


words = st.lists(
    st.builds(Word, st.integers(0, 99), st.binary(max_size=3_000), st.just("2 × tool")), max_size=20
).map(tuple)


@given(words, st.integers(0, 8_000))
def test_the_budget_holds_but_for_the_head(said: tuple[Word, ...], budget: int) -> None:
    missing = Missing(9, 3, 12, 12_345, said, 0)
    none = (Word(0, b"", ""),) if said else ()
    head = len(index_text(Missing(9, 3, 12, 12_345, none, 0), "a", count, 10**6).encode())
    text = index_text(missing, "a", count, budget)
    assert (
        len(text.encode()) <= max(budget, head) + 80
    )  # the line that says how many are not listed


@given(words)
def test_with_room_every_word_is_whole(said: tuple[Word, ...]) -> None:
    text = index_text(Missing(0, 0, 0, 0, said, 0), "a", count, 10**9)
    for word in said:
        assert word.text.decode("utf-8", "replace") in text


@given(st.lists(st.sampled_from(["user", "assistant", "tool"]), max_size=40), st.integers(0, 40))
def test_what_is_missing_is_counted(roles: list[str], border: int) -> None:
    found = find_missing(
        spans(roles), read, lambda s: s.message < border, lambda s: s.message < border, 10**6
    )
    gone = roles[:border]
    assert found.messages == len(gone)
    assert found.bytes == 20 * len(gone)
    assert [w.message for w in found.words] == [n for n, r in enumerate(gone) if r == "user"]
    assert all(w.text == b"say this" or w.text.startswith(b"say this") for w in found.words)


def test_only_the_newest_words_are_held() -> None:
    found = find_missing(spans(["user"] * 50), read, lambda _: True, lambda _: True, 100)
    assert sum(len(w.text) for w in found.words) <= 100
    assert found.words[-1].message == 49
    assert found.older + len(found.words) == 50
    assert f"[{found.older} older" in index_text(found, "a", count, 10**6)


def test_the_command_names_the_archive_safely() -> None:
    text = index_text(Missing(1, 4, 5, 10, (), 0), "my dir/$(x)", count, 1_000)
    assert "snapcompact restore 'my dir/$(x)' --as transcript --messages 4:5" in text


def test_nothing_missing_is_nothing_said() -> None:
    assert index_text(Missing(0, 0, 0, 0, (), 0), "a", count, 1_000) == ""
