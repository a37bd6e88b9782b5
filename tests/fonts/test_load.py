from __future__ import annotations

import gzip
import struct
from pathlib import Path

import numpy as np
import pytest

from snapcompact.errors import InputError, UnknownNameError
from snapcompact.fonts import load
from snapcompact.fonts.atlas import NO_GLYPH, build_atlas, load_atlas
from snapcompact.fonts.bdf import bdf_text
from snapcompact.fonts.font import Font, Glyph
from snapcompact.fonts.foreign import Fit
from snapcompact.fonts.load import font_names, load_font
from snapcompact.fonts.typeface import open_typeface

UNIFONT = Path("/usr/share/fonts/X11/misc/unifont.pcf.gz")


@pytest.fixture
def bdf_file(tmp_path: Path) -> Path:
    """Some letters of our large font, and a wide one, as a font file of anyone."""
    font = load_font("8x16")
    letters = tuple(glyph for glyph in font.glyphs if 33 <= glyph.code < 127)
    wide = Glyph("U+4E00", 0x4E00, (0,) * 6 + (0x7FFE,) * 2 + (0,) * 8, 2)
    path = tmp_path / "some letters.bdf"
    path.write_text(bdf_text(Font("some", 8, 16, 12, (*letters, wide))))
    return path


def test_a_file_gives_its_glyphs_and_our_signs(bdf_file: Path) -> None:
    font = load_font(str(bdf_file))
    assert (font.width, font.height, font.ascent) == (8, 16, 12)
    atlas, ours = build_atlas(font), load_atlas("8x16")
    assert np.array_equal(atlas.bitmaps[:127], ours.bitmaps[:127])
    assert np.array_equal(atlas.bitmaps[128:133], ours.bitmaps[128:133])
    assert atlas.wide[atlas.glyph_of[0x4E00]]
    assert atlas.glyph_of[0xE9] == NO_GLYPH


def test_a_gzipped_file_is_the_same(bdf_file: Path, tmp_path: Path) -> None:
    packed = tmp_path / "some letters.bdf.gz"
    packed.write_bytes(gzip.compress(bdf_file.read_bytes()))
    assert load_font(str(packed)) == load_font(str(bdf_file))


def test_a_chain_of_files_takes_the_first_cell(bdf_file: Path) -> None:
    atlas = load_atlas("8x16", str(bdf_file))
    assert atlas.glyph_of[0xE9] == 0xE9
    assert atlas.wide[atlas.glyph_of[0x4E00]]


def test_larger_glyphs_than_the_cell_are_refused(bdf_file: Path) -> None:
    with pytest.raises(InputError, match="6x12 px"):
        load_font(str(bdf_file), (6, 12))


@pytest.mark.parametrize("content", [b"", b"no font at all", b"\x1f\x8bbroken"])
def test_a_file_that_is_no_font_is_refused(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "x.ttf"
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"x\.ttf"):
        load_font(str(path))


def test_a_font_with_broken_outlines_is_refused(tmp_path: Path) -> None:
    plots = pytest.importorskip("matplotlib", reason="brings a TTF file with it")
    data = bytearray((Path(plots.get_data_path()) / "fonts/ttf/DejaVuSansMono.ttf").read_bytes())
    row = data.index(b"glyf")  # of the table of tables: tag, checksum, offset, length
    start, length = struct.unpack(">II", data[row + 8 : row + 16])
    data[start : start + length] = b"\xfe" * length
    path = tmp_path / "broken.ttf"
    path.write_bytes(data)
    with pytest.raises(InputError, match=r"broken\.ttf: a broken font"):
        load_font(str(path))


def test_a_huge_file_is_refused(bdf_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(load, "MAX_FILE_BYTES", 10)
    with pytest.raises(InputError, match="larger than"):
        load_font(str(bdf_file))


def test_an_unknown_name_says_what_there_is() -> None:
    with pytest.raises(UnknownNameError, match="8x16"):
        load_font("9x99")
    assert font_names() == ["5x8", "6x12", "8x16"]


def test_a_shipped_font_has_one_cell() -> None:
    with pytest.raises(InputError, match="8x16"):
        load_font("8x16", (6, 12))


@pytest.mark.skipif(not UNIFONT.exists(), reason="Unifont is not installed (xfonts-unifont)")
def test_unifont_draws_what_ours_lacks() -> None:
    text = "漢字「」。、한글（）ー"
    atlas = open_typeface(("8x16", str(UNIFONT)), Fit()).cover(text.encode())
    assert all(atlas.wide[atlas.glyph_of[ord(c)]] for c in text)
