from __future__ import annotations

from snapcompact.fonts.atlas import load_atlas
from snapcompact.fonts.specimen import specimen


def test_the_sheet_shows_every_pixel_of_every_glyph() -> None:
    atlas = load_atlas("5x8")
    sheet = specimen(atlas)
    assert set(sheet.flat) == {0, 255}
    assert (sheet == 0).sum() == atlas.bitmaps.sum()
