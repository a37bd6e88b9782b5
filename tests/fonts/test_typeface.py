from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from snapcompact.errors import InputError, UnknownNameError
from snapcompact.fonts.atlas import NO_GLYPH, build_atlas, load_atlas
from snapcompact.fonts.font import Font, Glyph
from snapcompact.fonts.foreign import Fit
from snapcompact.fonts.load import load_font
from snapcompact.fonts.typeface import Drawn, Typeface, open_typeface
from tests.fonts.files import EMOJI, HAN, HANGUL, cjk_file, font_file, random_glyphs
from tests.fonts.strategies import HEIGHT, WIDTH, fonts, needed_glyphs
from tests.fonts.test_atlas import decoded

FIRST = build_atlas(Font("first", WIDTH, HEIGHT, 7, tuple(needed_glyphs())))


def text_of(codes: list[int]) -> bytes:
    return "".join(map(chr, codes)).encode("utf-8", "surrogatepass")


@given(fonts(), st.data())
def test_any_row_of_glyphs_taken_up_decodes_in_one_way(font: Font, data: st.DataObject) -> None:
    order = data.draw(st.permutations([glyph.code for glyph in font.glyphs if glyph.code > 0]))
    typeface = Typeface(FIRST, [Drawn(font)])
    atlas = typeface.cover(text_of(order))
    ids = [i for i in range(128, len(atlas.codes)) if atlas.codes[i] not in {-1, -3}]
    printed = data.draw(st.lists(st.sampled_from([*ids, 32, 65])))
    cells = [
        atlas.bitmaps[part].tobytes() for i in printed for part in range(i, i + 1 + atlas.wide[i])
    ]
    assert decoded(cells, atlas) == printed


@given(fonts(), st.data())
def test_glyphs_depend_on_the_text_and_not_on_how_it_comes(font: Font, data: st.DataObject) -> None:
    codes = data.draw(st.lists(st.sampled_from([g.code for g in font.glyphs if g.code > 0] + [9])))
    at = data.draw(st.integers(0, len(codes)))
    whole, parts = Typeface(FIRST, [Drawn(font)]), Typeface(FIRST, [Drawn(font)])
    before = parts.cover(text_of(codes[:at]))
    after = parts.cover(text_of(codes[at:]))
    assert np.array_equal(after.codes, whole.cover(text_of(codes)).codes)
    assert np.array_equal(after.codes[: before.codes.size], before.codes)
    assert np.array_equal(after.bitmaps, whole.atlas.bitmaps)


def test_what_a_font_draws_alike_the_next_one_draws() -> None:
    letter = next(glyph for glyph in needed_glyphs() if glyph.code == 65)
    twin = Font("twin", WIDTH, HEIGHT, 7, (Glyph("U+0410", 0x410, letter.rows),))
    other = Font("other", WIDTH, HEIGHT, 7, (Glyph("U+0410", 0x410, (63,) * HEIGHT),))
    assert Typeface(FIRST, [Drawn(twin)]).cover("А".encode()).glyph_of[0x410] == NO_GLYPH
    atlas = Typeface(FIRST, [Drawn(twin), Drawn(other)]).cover("А".encode())
    assert atlas.bitmaps[atlas.glyph_of[0x410]].all()


def test_a_full_atlas_takes_no_more() -> None:
    many = [
        Glyph(f"U+{c:X}", c, (0, c >> 6, c & 63 | 2048, *[2731] * 6), 2)
        for c in range(0x3400, 0x3400 + 33_000)
    ]
    typeface = Typeface(FIRST, [Drawn(Font("many", WIDTH, HEIGHT, 7, tuple(many)))])
    atlas = typeface.cover(text_of([glyph.code for glyph in many]))
    assert len(atlas.codes) <= NO_GLYPH
    assert atlas.wide[atlas.glyph_of[0x3400]]
    assert atlas.glyph_of[0x3400 + 32_999] == NO_GLYPH
    assert typeface.cover(text_of([0x3400 + 32_999])) is atlas


def test_a_file_behind_a_shipped_font(tmp_path: Path) -> None:
    typeface = open_typeface(("8x16", cjk_file(tmp_path)), Fit())
    ours = load_atlas("8x16")
    assert typeface.atlas.name == "8x16+some_cjk"
    assert typeface.own_sha256 == ours.sha256
    assert typeface.cover(b"plain") is typeface.atlas
    atlas = typeface.cover(f"a{chr(HAN[5])}é{chr(EMOJI[0])}{chr(HANGUL[1])}".encode())
    assert atlas.codes[ours.codes.size :].tolist() == [HAN[5], -3, EMOJI[0], HANGUL[1], -3]
    assert np.array_equal(atlas.codes[: ours.codes.size], ours.codes)
    assert atlas.first_carried == ours.codes.size


def test_a_file_in_front_has_its_cell_and_our_signs(tmp_path: Path) -> None:
    letters = tuple(glyph for glyph in load_font("6x12").glyphs if 33 <= glyph.code < 0x100)
    letters = tuple(glyph for glyph in letters if glyph.code != ord("n"))
    path = font_file(tmp_path / "6x12.bdf", (*letters, *random_glyphs(HAN, 2, (6, 12))), (6, 12))
    typeface = open_typeface((path, "6x12"), Fit(within=(9, 16)))
    assert (typeface.atlas.width, typeface.atlas.height) == (6, 12)
    assert typeface.atlas.name == "6x12-file+6x12"
    assert typeface.atlas.first_carried == 0
    atlas = typeface.cover("я一".encode())
    assert atlas.wide[atlas.glyph_of[0x4E00]]
    assert atlas.glyph_of[ord("я")] != NO_GLYPH
    with pytest.raises(InputError, match="5x8 px"):
        open_typeface((path,), Fit(within=(5, 8)))


def test_fonts_that_are_none_are_named(tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match="nowhere"):
        open_typeface(("8x16", str(tmp_path / "nowhere.ttf")), Fit())
    with pytest.raises(InputError, match="5x8"):
        open_typeface(("8x16", "5x8"), Fit())
