from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from snapcompact.errors import InputError
from snapcompact.fonts.atlas import (
    NO_GLYPH,
    Atlas,
    Special,
    atlas_to_bdf,
    build_atlas,
    load_atlas,
)
from snapcompact.fonts.bdf import parse_bdf
from snapcompact.fonts.font import Font, Glyph
from snapcompact.fonts.load import font_names
from tests.fonts.strategies import fonts, needed_glyphs


def decoded(cells: Sequence[bytes], atlas: Atlas) -> list[int]:
    """Glyph ids of bitmaps in a row, as the atlas' contract says: a pair first, else a single."""
    ids = [i for i in range(len(atlas.codes)) if atlas.codes[i] not in {-1, -3}]
    pictures = {i: atlas.bitmaps[i].tobytes() for i in range(len(atlas.codes))}
    singles = {pictures[i]: i for i in ids if not atlas.wide[i]}
    pairs = {(pictures[i], pictures[i + 1]): i for i in ids if atlas.wide[i]}
    found, at = [], 0
    while at < len(cells):
        pair = pairs.get((cells[at], cells[at + 1])) if at + 1 < len(cells) else None
        found.append(singles[cells[at]] if pair is None else pair)
        at += 1 if pair is None else 2
    return found


@given(fonts(), st.data())
def test_any_row_of_glyphs_decodes_in_one_way(font: Font, data: st.DataObject) -> None:
    atlas = build_atlas(font)
    ids = [i for i in range(len(atlas.codes)) if atlas.codes[i] not in {-1, -3}]
    # Beyond ASCII is where halves and single glyphs meet.
    printed = data.draw(st.lists(st.sampled_from([i for i in ids if i > 127 or i == 32])))
    cells = [
        atlas.bitmaps[part].tobytes() for i in printed for part in range(i, i + 1 + atlas.wide[i])
    ]
    assert decoded(cells, atlas) == printed


@given(fonts())
def test_ids_are_those_of_the_contract(font: Font) -> None:
    atlas = build_atlas(font)
    assert atlas.codes[32:127].tolist() == list(range(32, 127))
    assert atlas.glyph_of[32:127].tolist() == list(range(32, 127))
    assert all(atlas.codes[special] == -2 for special in Special)
    beyond = [code for code in atlas.codes[256:].tolist() if code >= 0]
    assert beyond == sorted(beyond)
    assert (atlas.codes[np.flatnonzero(atlas.wide) + 1] == -3).all()
    printed = np.flatnonzero(atlas.glyph_of != NO_GLYPH)
    assert (atlas.codes[atlas.glyph_of[printed]] == printed).all()
    assert not any(array.flags.writeable for array in (atlas.bitmaps, atlas.codes, atlas.glyph_of))


@given(fonts())
def test_only_the_space_is_blank_and_singles_differ(font: Font) -> None:
    atlas = build_atlas(font)
    singles = [i for i in np.flatnonzero(atlas.codes != -1) if atlas.codes[i] != -3]
    singles = [i for i in singles if not atlas.wide[i]]
    pictures = {atlas.bitmaps[i].tobytes() for i in singles}
    assert len(pictures) == len(singles)
    assert [i for i in singles if not atlas.bitmaps[i].any()] == [32]


@given(fonts(), st.data())
def test_glyphs_kept_with_pages_decode_them(font: Font, data: st.DataObject) -> None:
    atlas = build_atlas(font)
    ids = [i for i in range(256, len(atlas.codes)) if atlas.codes[i] != -3]
    used = data.draw(st.sets(st.sampled_from(ids))) if ids else set()
    text = atlas_to_bdf(atlas, used)
    kept = build_atlas(parse_bdf(text))
    for i in (*used, *range(32, 127), *Special):
        code = int(atlas.codes[i])
        other = int(kept.glyph_of[code]) if code >= 0 else i
        for half in range(1 + int(atlas.wide[i])):
            assert np.array_equal(kept.bitmaps[other + half], atlas.bitmaps[i + half])
    assert atlas_to_bdf(kept, range(len(kept.codes))) == text


@given(fonts(), st.sets(st.integers(0x100, 0xFFFF)))
def test_keeping_some_code_points_changes_no_other(font: Font, codes: set[int]) -> None:
    whole, part = build_atlas(font), build_atlas(font, codes)
    assert part.sha256 == whole.sha256
    for code in np.flatnonzero(part.glyph_of != NO_GLYPH).tolist():
        assert code < 256 or code in codes
        assert np.array_equal(
            part.bitmaps[part.glyph_of[code]], whole.bitmaps[whole.glyph_of[code]]
        )


def test_ascii_wins_over_a_twin() -> None:
    letter = next(glyph for glyph in needed_glyphs() if glyph.code == 65)
    twin = Glyph("U+0410", 0x410, letter.rows)
    atlas = build_atlas(Font("test", 6, 9, 7, (twin, *needed_glyphs())))
    assert atlas.glyph_of[65] == 65
    assert atlas.glyph_of[0x410] == NO_GLYPH


def test_a_fallback_draws_what_the_first_font_lacks() -> None:
    first = Font("one", 6, 9, 7, (*needed_glyphs(), Glyph("U+00E9", 0xE9, (63,) * 9)))
    second = Font(
        "two", 6, 9, 7, (Glyph("U+00E9", 0xE9, (62,) * 9), Glyph("U+4E00", 0x4E00, (2730,) * 9, 2))
    )
    atlas = build_atlas([first, second])
    assert atlas.name == "one+two"
    assert atlas.bitmaps[0xE9].all()
    assert atlas.wide[atlas.glyph_of[0x4E00]]


def test_more_glyphs_than_ids_leaves_the_last_as_escapes() -> None:
    many = [Glyph(f"U+{c:X}", c, (0, c >> 6, c & 63 | 2048, *[2731] * 6), 2)
            for c in range(0x3400, 0x3400 + 33_000)]  # fmt: skip
    font = Font("many", 6, 9, 7, (*needed_glyphs(), *many))
    atlas = build_atlas(font)
    assert len(atlas.codes) <= NO_GLYPH
    assert atlas.glyph_of[0x3400] == 256
    assert atlas.glyph_of[0x3400 + 32_999] == NO_GLYPH
    chosen = build_atlas(font, {0x3400 + 32_999})
    assert chosen.glyph_of[0x3400 + 32_999] == 256
    assert chosen.sha256 == atlas.sha256


def test_a_font_without_a_letter_is_refused() -> None:
    some = tuple(glyph for glyph in needed_glyphs() if glyph.code != 65)
    with pytest.raises(InputError, match=r"U\+0041"):
        build_atlas(Font("test", 6, 9, 7, some))


def test_fonts_of_different_cells_make_no_chain() -> None:
    with pytest.raises(InputError, match="5x8"):
        build_atlas([Font("a", 6, 9, 7, tuple(needed_glyphs())), Font("b", 5, 8, 7, ())])


@pytest.mark.parametrize("name", font_names())
def test_shipped_atlas_has_control_glyphs(name: str) -> None:
    atlas = load_atlas(name)
    assert (atlas.codes[:32] == np.arange(32)).all()
    assert atlas.codes[127] == 127
    assert load_atlas(name) is atlas
