"""Pages carry the glyphs that no one else may have; what they carry is not believed blindly."""

from __future__ import annotations

import struct
import zlib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from snapcompact.errors import PageError, SnapcompactError, UnknownNameError, VersionError
from snapcompact.fonts.atlas import Atlas, Special, load_atlas
from snapcompact.pages import png
from snapcompact.pages.carried import MAX_BYTES, agrees, page_atlas, parse_glyphs
from snapcompact.pages.cells import paginate
from snapcompact.pages.decode import read_text
from snapcompact.pages.pipeline import render_page
from snapcompact.pages.shape import Shape, parse_shape
from snapcompact.pages.typeset import typeset
from snapcompact.readback.exact import see_cells
from snapcompact.readback.loose import loose_text
from tests.fonts.files import HAN, cjk_file

SHAPE = parse_shape("8x16@9x16-576x320")
TEXT = f"Plain, я, then {chr(HAN[0])}{chr(HAN[9])} and {chr(0x1F600)}, none ⨳ \n".encode() * 3


def shipped(name: str) -> Atlas:
    if name not in ("5x8", "6x12", "8x16"):
        raise UnknownNameError(name)
    return load_atlas(name)


def drawn(folder: Path, text: bytes = TEXT, font: str = "") -> tuple[bytes, Shape]:
    shape, typeface = typeset(SHAPE, font, (cjk_file(folder),))
    page = next(paginate([text], shape, typeface))
    return render_page(page, shape, page.atlas).png, shape


def with_chunk(data: bytes, chunk: bytes) -> bytes:
    """The PNG with another glyph chunk."""
    at = data.index(png.GLYPHS) - 4
    (size,) = struct.unpack_from(">I", data, at)
    kind = png.GLYPHS + chunk
    made = struct.pack(">I", len(chunk)) + kind + struct.pack(">I", zlib.crc32(kind))
    return data[:at] + made + data[at + 12 + size :]


def unpacked(data: bytes) -> bytes:
    return zlib.decompress(png.decode(data).glyphs)


def packed(
    glyphs: dict[int, list[int]], size: tuple[int, int] = (8, 16), version: int = 1
) -> bytes:
    """A chunk of `glyphs`, each a code with its mark, and the bytes of its rows."""
    head = struct.pack(">BBBH", version, *size, len(glyphs))
    codes = b"".join(struct.pack(">I", code) for code in glyphs)
    return zlib.compress(head + codes + b"".join(map(bytes, glyphs.values())))


def test_a_page_is_read_without_the_font(tmp_path: Path) -> None:
    data, shape = drawn(tmp_path)
    image = png.decode(data)
    assert image.metadata is not None
    assert read_text(image, shape, page_atlas(image, shape, shipped)) == TEXT
    seen = see_cells(data, shipped)
    assert loose_text(seen.cells, seen.shape, seen.atlas) == TEXT
    assert [glyph.code for glyph in parse_glyphs(image.glyphs).glyphs] == [
        HAN[0],
        HAN[9],
        0x1F600,
    ]


def test_a_page_of_a_font_file_carries_its_letters_and_signs(tmp_path: Path) -> None:
    letters = tmp_path / "mine.bdf"
    ours = load_atlas("8x16")
    from snapcompact.fonts.atlas import atlas_to_bdf

    letters.write_text(atlas_to_bdf(ours, range(32, 256)), "ascii")
    data, shape = drawn(tmp_path, font=str(letters))
    assert shape.name == "mine@9x16-576x320"
    image = png.decode(data)
    carried = parse_glyphs(image.glyphs)
    assert {ord("P"), 10, HAN[0]} <= {glyph.code for glyph in carried.glyphs}
    assert {"snap.end", "snap.point_open", "snap.close"} <= {g.name for g in carried.glyphs}
    assert read_text(image, shape, page_atlas(image, shape, shipped)) == TEXT


def test_pages_that_need_no_other_font_carry_nothing(tmp_path: Path) -> None:
    data, shape = drawn(tmp_path, b"plain text")
    assert png.GLYPHS not in data
    alone = load_atlas("8x16")
    page = next(paginate([b"plain text"], shape, alone))
    assert png.decode(render_page(page, shape, alone).png).glyphs == b""


def test_a_page_with_the_glyphs_of_another_is_refused(tmp_path: Path) -> None:
    data, _ = drawn(tmp_path)
    lying = unpacked(data).replace(struct.pack(">I", HAN[9] | 1 << 31), b"\x80\x00\x4e\x08")
    with pytest.raises(PageError, match="do not say the text"):
        see_cells(with_chunk(data, zlib.compress(lying)), shipped)
    image = png.decode(with_chunk(data, zlib.compress(lying)))
    with pytest.raises(PageError, match="another hash"):
        read_text(image, SHAPE, page_atlas(image, SHAPE, shipped))


A_ROWS = load_atlas("8x16").bitmaps[ord("a")]
A_BYTES = np.packbits(A_ROWS, axis=1).reshape(-1).tolist()
NOISE = list(range(1, 17))

HOSTILE = {
    "no glyph chunk at all": b"junk",
    "cut off": packed({0x4E00: NOISE})[:-5],
    "something behind it": packed({0x4E00: NOISE}) + b"x",
    "a bomb": zlib.compress(bytes(MAX_BYTES + 2)),
    "empty": zlib.compress(b""),
    "head only": zlib.compress(b"\1\x08\x10"),
    "more glyphs than bytes": zlib.compress(b"\1\x08\x10\xff\xff" + bytes(40)),
    "too few pixels": packed({0x4E00: NOISE[:-1]}),
    "cells of no size": packed({0x4E00: []}, (0, 16)),
    "huge cells": packed({0x4E00: [1] * 65 * 9}, (65, 65)),
    "another cell": packed({0x4E00: NOISE[:12]}, (8, 12)),
    "a cell over the pitch": packed({0x4E00: [1] * 64}, (16, 32)),
    "out of order": packed({0x4E01: NOISE, 0x4E00: NOISE[::-1]}),
    "twice": packed({0x4E00: NOISE, 0x4E01: NOISE}),
    "a letter drawn anew": packed({ord("a"): NOISE}),
    "a sign drawn anew": packed({0x110000: NOISE}),
    "a letter's picture": packed({0x4E00: A_BYTES}),
    "blank": packed({0x4E00: [0] * 16}),
    "the space": packed({32: [0] * 16}),
    "a surrogate": packed({0xD800: NOISE}),
    "a C1 control": packed({0x85: NOISE}),
    "no code point": packed({0x110005: NOISE}),
    "a wide sign": packed({0x80110000: NOISE * 2}),
    "a wide letter": packed({0x80000061: NOISE * 2}),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_glyphs_are_refused(name: str, tmp_path: Path) -> None:
    data, _ = drawn(tmp_path)
    with pytest.raises(PageError):
        see_cells(with_chunk(data, HOSTILE[name]), shipped)


def test_a_newer_layout_says_so() -> None:
    with pytest.raises(VersionError, match="newer"):
        parse_glyphs(packed({0x4E00: NOISE}, version=2))


@given(st.binary(max_size=120), st.integers(1, 64), st.integers(1, 64), st.integers(0, 4))
def test_any_bytes_are_glyphs_or_refused(rest: bytes, width: int, height: int, count: int) -> None:
    chunk = zlib.compress(struct.pack(">BBBH", 1, width, height, count) + rest)
    try:
        font = parse_glyphs(chunk)
    except SnapcompactError:
        return
    assert len(font.glyphs) == count


def test_glyphs_that_are_known_already_are_passed_over(tmp_path: Path) -> None:
    data, shape = drawn(tmp_path)
    image = png.decode(data)
    whole = page_atlas(image, shape, shipped)
    assert page_atlas(image, shape, lambda _: whole) is whole


def test_what_agrees_with_other_glyphs_is_seen(tmp_path: Path) -> None:
    data, shape = drawn(tmp_path)
    chunk = png.decode(data).glyphs
    whole = page_atlas(png.decode(data), shape, shipped)
    assert agrees(chunk, whole)
    assert not agrees(chunk, load_atlas("8x16"))
    assert not agrees(packed({0x4E00: NOISE}), whole)
    assert not agrees(packed({ord("a"): NOISE}), whole)
    assert agrees(packed({ord("a"): A_BYTES}), whole)
    assert not agrees(packed({ord("a"): A_BYTES[:12]}, (8, 12)), whole)
    assert not agrees(packed({0x110000: NOISE}), whole)


def test_a_special_cell_is_named_as_the_format_says() -> None:
    font = parse_glyphs(packed({0x110000 + i: [i + 1] * 16 for i in range(5)}))
    assert [glyph.name for glyph in font.glyphs] == [
        f"snap.{special.name.lower()}" for special in Special
    ]


def test_pixels_are_read_where_the_text_chunk_is_gone(tmp_path: Path) -> None:
    data, shape = drawn(tmp_path)
    bare = replace(png.decode(data), metadata=None)
    assert read_text(bare, shape, page_atlas(bare, shape, shipped)) == TEXT
