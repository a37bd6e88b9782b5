"""Scores: figures that can be worked out by hand, and properties of any text."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz.distance import Levenshtein

from snapcompact.fonts.atlas import load_atlas
from snapcompact.pages.cells import paginate
from snapcompact.pages.shape import parse_shape
from snapcompact.readback.align import align, flatten
from snapcompact.readback.reader import Reading
from snapcompact.readback.rows import score_rows
from snapcompact.readback.score import Exact, PageScore, add_scores, interval, score_page
from snapcompact.readback.truth import GAP, Truth, find_scopes, page_truth

SHAPE = parse_shape("8x16@8x16-320x160")
"""40 cells across, 10 down."""
UUID = "3f2b8c1d-9a4e-4f70-8b6c-1d2e3f405162"
TEXT = (
    f"¶user:\nlook at {UUID} now\n¶ai:\nI see it.\n¶call:bash({{}})\n<out>\nfine 0123456\n</out>\n"
)

texts = st.text(st.sampled_from("ab \n01é"), max_size=30)
rows = st.lists(texts, max_size=6)


def truth_of(text: str) -> Truth:
    atlas = load_atlas(SHAPE.font)
    page = next(paginate([text.encode()], SHAPE, atlas))
    return page_truth(page.cells, SHAPE, atlas)


def edited(truth: Truth, old: str, new: str) -> Reading:
    """A reading of the rows as they are, but for one edit that keeps row borders."""
    text = "\0".join(truth.rows)
    assert old in text
    return Reading(tuple(text.replace(old, new, 1).split("\0")))


def test_a_page_is_what_it_prints() -> None:
    truth = truth_of(TEXT)
    assert "".join(truth.rows) == TEXT
    assert len(truth.places) == len(TEXT)
    names = [span.name for span in truth.scopes]
    assert names == ["user", "ai", "call", "out"]
    found = {TEXT[span.start : span.end]: span.name for span in truth.identifiers}
    assert found[UUID] == "uuid"


def test_a_perfect_reading_has_no_fault() -> None:
    truth = truth_of(TEXT)
    score = score_page(truth, Reading(truth.rows))
    assert score.characters.errors == score.words.errors == 0
    assert score.rows.perfect == score.rows.rows > 0
    assert score.exact_all.recall == 1
    assert score.wrong_places == ()
    assert set(score.by_role) == {"user", "assistant", "tool"}
    assert set(score.by_kind) == {"text", "call", "result"}


def test_one_wrong_character_is_charged_where_it_is() -> None:
    truth = truth_of(TEXT)
    score = score_page(truth, edited(truth, "see it", "sec it"))
    assert score.characters.errors == score.words.errors == 1
    assert score.by_role["assistant"].errors == 1
    assert score.by_role["user"].errors == 0
    assert score.rows.perfect == score.rows.rows - 1
    assert score.confusions == {("e", "c"): 1}
    place = TEXT.index("see") + 2
    assert score.wrong_places == (int(truth.places[place]),)


def test_an_identifier_is_right_or_a_gap_or_invented() -> None:
    truth = truth_of(TEXT)
    wrong = edited(truth, UUID[:5], UUID[:4] + "0")
    assert score_page(truth, wrong).exact["uuid"] == Exact(invented=1)
    said = edited(truth, UUID[:5], UUID[:4] + GAP)
    assert score_page(truth, said).exact["uuid"] == Exact(gaps=1)
    at = TEXT.index(UUID) + 4
    flagged = Reading(wrong.rows, frozenset({at}))
    assert score_page(truth, flagged).exact["uuid"] == Exact(gaps=1)
    longer = edited(truth, UUID[:5], UUID[:5] + "0")
    assert score_page(truth, longer).exact["uuid"] == Exact(invented=1)


def test_an_identifier_at_a_row_border_is_right() -> None:
    for lead in range(30, 44):
        truth = truth_of("x" * lead + " " + UUID + " tail")
        assert score_page(truth, Reading(truth.rows)).exact_all.recall == 1


def test_rows_are_lost_moved_and_added() -> None:
    lines = [f"this is the row of number {word}" for word in ("one", "two", "three", "four")]
    plain = ["alpha beta gamma", "0123456789", "DELTA EPSILON", "the quick brown fox"]
    assert score_rows(plain, plain).perfect == 4
    lost = score_rows(plain, [plain[0], *plain[2:]])
    assert (lost.perfect, lost.missing, lost.extra, lost.moved) == (3, 1, 0, 0)
    moved = score_rows(plain, [plain[1], plain[0], *plain[2:]])
    assert (moved.perfect, moved.missing, moved.moved) == (4, 0, 1)
    added = score_rows(lines, [*lines, "something of another kind"])
    assert (added.perfect, added.extra) == (4, 1)


@given(rows, rows)
def test_edits_are_levenshtein_and_places_are_in_range(truth: list[str], read: list[str]) -> None:
    a, b = flatten(truth), flatten(read)
    assert a.text == " ".join("\n".join(truth).split())
    made = align(a.text, b.text)
    assert made.errors.sum() == Levenshtein.distance(a.text, b.text)
    assert made.confusions.total() == made.errors.sum()
    assert made.read_for(0, len(a.text)) == b.text
    joined = "".join(truth)
    assert all(joined[i] == c for i, c in zip(a.origin, a.text, strict=True) if i >= 0 and c != " ")


@given(texts, st.sampled_from(["note", "user"]))
def test_scopes_cover_the_text(text: str, scope: str) -> None:
    spans = find_scopes(text + "\n¶user:\n" + text, scope)
    assert spans[0].start == 0
    assert all(a.end == b.start for a, b in pairwise(spans))
    assert spans[-1].end == 2 * len(text) + len("\n¶user:\n")


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(50, 100)), min_size=1, max_size=8))
def test_an_interval_holds_its_rate_and_repeats(parts: list[tuple[int, int]]) -> None:
    found = interval(parts)
    assert found == interval(parts)
    rates = [count / total for count, total in parts]
    assert min(rates) - 1e-9 <= found.low <= found.high <= max(rates) + 1e-9
    assert found.value == sum(c for c, _ in parts) / sum(t for _, t in parts)


def test_pages_add_up() -> None:
    truth = truth_of(TEXT)
    score = score_page(truth, edited(truth, "see it", "sec it"))
    both = add_scores([score, score])
    assert both.characters.characters == 2 * score.characters.characters
    assert both.confusions == {("e", "c"): 2}
    assert both.exact["uuid"] == Exact(right=2)
    assert add_scores([]).exact == PageScore().exact
