"""The shipped fonts: made from their drawings, every glyph unlike every other."""

from __future__ import annotations

import unicodedata

import numpy as np
import pytest

from snapcompact.fonts.accents import TICKED_LEFT, TICKED_RIGHT
from snapcompact.fonts.atlas import NO_GLYPH, Special, build_atlas, load_atlas
from snapcompact.fonts.bdf import bdf_text
from snapcompact.fonts.check import distances, smallest_distance, twins
from snapcompact.fonts.compose import FOLDER, METRICS, compose, main
from snapcompact.fonts.load import font_names, load_font

SMALLEST = {"5x8": 3, "6x12": 4, "8x16": 6}
"""Pixels in which any two ASCII glyphs differ at least."""
RANGES = (
    (0xA0, 0x180), (0x391, 0x3A2), (0x3A3, 0x3CF), (0x400, 0x460), (0x2010, 0x2016),
    (0x2018, 0x2020), (0x2500, 0x25A0), (0x2800, 0x2900),
)  # fmt: skip
"""What the large and the medium font have without a gap."""


@pytest.mark.parametrize("name", METRICS)
def test_shipped_bdf_is_what_the_drawings_give(name: str) -> None:
    assert (FOLDER / f"{name}.bdf").read_text("ascii") == bdf_text(compose(name))


def test_check_finds_the_files_as_made() -> None:
    assert main(["--check"]) == 0
    assert set(font_names()) == set(METRICS) == set(SMALLEST)


@pytest.mark.parametrize("name", SMALLEST)
def test_ascii_is_set_apart(name: str) -> None:
    assert smallest_distance(load_atlas(name)) >= SMALLEST[name]


APART = {"6x12": 2, "8x16": 3}
"""Pixels in which letters of any script differ at least that are not drawn alike by custom."""
ALIKE = {pair[0]: pair[1] for pair in f"{TICKED_LEFT} {TICKED_RIGHT} ΓГ".split(" ")}
"""Letters that only a mark tells apart, such as Cyrillic а and Latin a."""


def skeleton(letter: str) -> str:
    """What a letter looks like by custom: its Latin twin with its accents."""
    parts = unicodedata.normalize("NFD", letter)
    twin = "".join(ALIKE.get(part, part) for part in parts)
    return twin.replace("\u0384", "\u0301")


@pytest.mark.parametrize("name", APART)
def test_letters_of_all_scripts_are_set_apart(name: str) -> None:
    atlas = load_atlas(name)
    codes = [code for code in range(0x41, 0x460) if chr(code).isalpha()]
    codes = [code for code in codes if atlas.glyph_of[code] != NO_GLYPH]
    ink = atlas.bitmaps[atlas.glyph_of[codes]].reshape(len(codes), -1).astype(np.int16)
    apart = ink @ (1 - ink).T + (1 - ink) @ ink.T
    near = np.argwhere(np.triu(apart < APART[name], 1)).tolist()
    pairs = [(chr(codes[i]), chr(codes[j])) for i, j in near]
    assert [pair for pair in pairs if skeleton(pair[0]) != skeleton(pair[1])] == []


@pytest.mark.parametrize(
    ("name", "pair", "least"),
    [
        ("8x16", "nп", 20), ("8x16", "uџ", 20), ("8x16", "Θθ", 20), ("8x16", "ГҐ", 10),
        ("8x16", "ãä", 6), ("8x16", "⁰⁸", 3), ("8x16", "—−", 3), ("6x12", "3Э", 5),
        ("6x12", "8Θ", 10), ("6x12", "ãä", 6), ("6x12", "âä", 5), ("5x8", "Ìì", 8),
    ],
)  # fmt: skip
def test_pairs_once_near_are_apart(name: str, pair: str, least: int) -> None:
    atlas = load_atlas(name)
    first, second = (atlas.bitmaps[atlas.glyph_of[ord(what)]] for what in pair)
    assert (first != second).sum() >= least


@pytest.mark.parametrize("name", METRICS)
def test_no_two_glyphs_are_alike(name: str) -> None:
    font = load_font(name)
    assert twins(font) == ()
    assert len({glyph.rows for glyph in font.glyphs}) == len(font.glyphs)
    atlas = build_atlas(font)
    assert (atlas.codes != -1).sum() == len(font.glyphs)


@pytest.mark.parametrize("name", METRICS)
def test_only_the_space_is_blank(name: str) -> None:
    assert [glyph.code for glyph in load_font(name).glyphs if not any(glyph.rows)] == [32]


@pytest.mark.parametrize("name", ["6x12", "8x16"])
def test_ranges_have_no_gap(name: str) -> None:
    glyph_of = load_atlas(name).glyph_of
    lacking = [hex(c) for first, end in RANGES for c in range(first, end)
               if glyph_of[c] == NO_GLYPH]  # fmt: skip
    assert lacking == []


def test_small_font_has_latin_boxes_and_blocks() -> None:
    glyph_of = load_atlas("5x8").glyph_of
    wanted = [*range(0x20, 0x7F), *range(0xA0, 0x100), *range(0x2500, 0x2580), 0x2588, 0x2591]
    assert (glyph_of[wanted] != NO_GLYPH).all()


@pytest.mark.parametrize("name", METRICS)
def test_line_end_is_thin(name: str) -> None:
    assert load_atlas(name).bitmaps[10].any(axis=1).sum() == 2


@pytest.mark.parametrize("name", METRICS)
def test_letters_leave_a_column_between(name: str) -> None:
    atlas = load_atlas(name)
    letters = [c for c in range(33, 127) if not (name == "5x8" and chr(c) in "MWmwO*%{}")]
    assert not atlas.bitmaps[letters, :, -1].any()


@pytest.mark.parametrize("name", ["6x12", "8x16"])
def test_special_cells_are_like_nothing_else(name: str) -> None:
    atlas = load_atlas(name)
    ids = [int(i) for i in np.flatnonzero(atlas.codes != -1)]
    ink = atlas.bitmaps[ids].reshape(len(ids), -1).astype(int)
    for special in (Special.POINT_OPEN, Special.CLOSE, Special.BYTE_OPEN, Special.END):
        differ = (ink != atlas.bitmaps[special].reshape(-1)).sum(axis=1)
        assert sorted(differ)[1] >= SMALLEST[name]


@pytest.mark.parametrize("pair", ["AА", "AΑ", "oо", "oο", "cс", "|│", "|∣", "-−", "–−", "·∙", "µμ"])
def test_look_alikes_differ(pair: str) -> None:
    for name in ("6x12", "8x16"):
        table = distances(load_atlas(name), [ord(c) for c in pair])
        assert table[0, 1] >= 2
