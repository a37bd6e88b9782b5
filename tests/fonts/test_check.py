from __future__ import annotations

from snapcompact.fonts.atlas import load_atlas
from snapcompact.fonts.check import (
    check_font,
    closest_pairs,
    coverage,
    distances,
    share_escaped,
    smallest_distance,
    twins,
)
from snapcompact.fonts.font import Font, Glyph
from snapcompact.fonts.load import load_font


def test_distances_count_differing_pixels() -> None:
    atlas = load_atlas("5x8")
    table = distances(atlas, [65, 66, 32])
    for i, first in enumerate((65, 66, 32)):
        for j, second in enumerate((65, 66, 32)):
            assert table[i, j] == (atlas.bitmaps[first] != atlas.bitmaps[second]).sum()


def test_closest_pairs_are_in_order() -> None:
    pairs = closest_pairs(load_atlas("8x16"))
    assert len(pairs) == 95 * 94 // 2
    assert [pair.distance for pair in pairs] == sorted(pair.distance for pair in pairs)
    assert pairs[0].distance == smallest_distance(load_atlas("8x16"))


def test_twins_are_grouped() -> None:
    glyphs = [Glyph("a", 97, (1, 2)), Glyph("b", 98, (1, 2)), Glyph("c", 99, (3, 3))]
    wide = Glyph("d", 100, (1, 2), 2)
    assert twins(Font("f", 4, 2, 2, (*glyphs, wide))) == ((97, 98),)


def test_share_escaped_counts_what_has_no_glyph() -> None:
    atlas = load_atlas("8x16")
    assert share_escaped(atlas, "") == 0
    assert share_escaped(atlas, "abc漢") == 0.25
    assert share_escaped(atlas, "\ud800\n") == 0.5


def test_report_of_a_shipped_font() -> None:
    report = check_font(load_font("5x8"), pairs=3)
    assert (report.name, report.width, report.height, report.wide) == ("5x8", 5, 8, 0)
    assert len(report.closest) == 3
    assert report.glyphs == len(load_font("5x8").glyphs)
    assert {entry.name: entry.drawn for entry in coverage(load_atlas("5x8"))}["Latin-1"] == 96
