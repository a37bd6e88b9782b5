from __future__ import annotations

import io
import struct
import subprocess
import zlib
from shutil import which
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from snapcompact.errors import PageError, VersionError
from snapcompact.pages import decode, png
from snapcompact.pages.cells import paginate
from snapcompact.pages.metadata import PageMetadata, parse_metadata
from snapcompact.pages.pipeline import PagePng, render_pages
from snapcompact.pages.shape import parse_shape

if TYPE_CHECKING:
    from pathlib import Path

    from snapcompact.fonts.atlas import Atlas

TEXT = b"A page of text, \t with some \xff odd bytes\n" * 300
NAMES = ["8x16", "11x16", "8x22-large"]


def pages(name: str, atlas: Atlas, effort: str = "fast") -> list[PagePng]:
    shape = parse_shape(name)
    return list(render_pages(paginate([TEXT], shape, atlas), shape, atlas, effort=effort, jobs=1))


def save(image: Image.Image, kind: str, **options: object) -> bytes:
    out = io.BytesIO()
    image.save(out, kind, **options)
    return out.getvalue()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("effort", ["fast", "smaller"])
def test_pages_are_plain_palette_pngs(name: str, effort: str, atlas: Atlas, tmp_path: Path) -> None:
    for page in pages(name, atlas, effort):
        image = png.decode(page.png)
        with Image.open(io.BytesIO(page.png)) as opened:
            opened.load()
            assert opened.mode in {"P", "1"}
            assert "snapcompact" in opened.info
            assert np.array_equal(np.asarray(opened.convert("L")) == 0, image.pixels == 1)
        kinds = [kind for kind, _ in png._chunks(page.png)]
        assert kinds == [b"IHDR", b"PLTE", b"tEXt", b"IDAT", b"IEND"]
        if which("pngcheck"):
            path = tmp_path / "page.png"
            path.write_bytes(page.png)
            done = subprocess.run(["pngcheck", path], capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stdout
            assert done.stdout.startswith("OK")


def test_metadata_comes_back(atlas: Atlas) -> None:
    page = pages("8x16", atlas)[0]
    metadata = png.decode(page.png).metadata
    assert metadata == PageMetadata(
        "8x16@8x16-1568x1568", atlas.sha256, 1, 0, page.page.length, page.page.sha256
    )


@pytest.mark.parametrize(
    ("kind", "mode", "options"),
    [
        ("PNG", "1", {}),
        ("PNG", "L", {}),
        ("PNG", "RGB", {}),
        ("PNG", "RGBA", {}),
        ("PNG", "I;16", {}),
        ("JPEG", "L", {"quality": 60}),
        ("WEBP", "RGB", {"lossless": True}),
        ("GIF", "P", {}),
    ],
)
def test_pages_saved_again_by_others_still_read(
    kind: str, mode: str, options: dict[str, object], atlas: Atlas
) -> None:
    page = pages("8x16", atlas)[0]
    grey = Image.open(io.BytesIO(page.png)).convert("L")
    if mode == "I;16":
        image = Image.fromarray(np.asarray(grey).astype(np.uint16) * 257)
    else:
        image = grey.convert(mode)
    read = png.decode(save(image, kind, **options))
    text = decode.read_text(read, parse_shape("8x16"), atlas)
    assert text == TEXT[: page.page.length]


def test_transparent_paper_is_white(atlas: Atlas) -> None:
    page = pages("8x16", atlas)[0]
    ink = png.decode(page.png).pixels
    rgba = np.zeros((*ink.shape, 4), np.uint8)
    rgba[..., 3] = ink * 255
    read = png.decode(save(Image.fromarray(rgba), "PNG"))
    assert np.array_equal(read.pixels, ink)


def test_a_page_that_another_program_saved_in_pieces_keeps_its_word(atlas: Atlas) -> None:
    page = pages("8x16", atlas)[0]
    parts = []
    for kind, body in png._chunks(page.png):
        bodies = [body[:1000], body[1000:]] if kind == b"IDAT" else [body]
        parts += [part for piece in bodies for part in png._chunk(kind, piece)]
    saved = png.decode(png.SIGNATURE + b"".join(parts))
    whole = png.decode(page.png)
    assert saved.metadata == whole.metadata is not None
    assert np.array_equal(saved.pixels, whole.pixels)


def test_an_interlaced_page_reads(atlas: Atlas) -> None:
    ink = np.random.default_rng(1).random((8, 8)) < 0.5
    passes = [
        (0, 0, 8, 8),
        (0, 4, 8, 8),
        (4, 0, 8, 4),
        (0, 2, 4, 4),
        (2, 0, 4, 2),
        (0, 1, 2, 2),
        (1, 0, 2, 1),
    ]
    raw = b"".join(
        b"\0" + np.packbits(~row).tobytes() for y, x, dy, dx in passes for row in ink[y::dy, x::dx]
    )
    data = png.SIGNATURE + b"".join(
        part
        for kind, body in [
            (b"IHDR", struct.pack(">IIBBBBB", 8, 8, 1, 0, 0, 0, 1)),
            (b"IDAT", zlib.compress(raw)),
            (b"IEND", b""),
        ]
        for part in png._chunk(kind, body)
    )
    assert np.array_equal(png.decode(data).pixels, ink)


@settings(deadline=None, max_examples=150)
@given(st.data())
def test_damaged_files_are_refused_and_never_crash(data: st.DataObject) -> None:
    whole = damaged_source()
    broken = bytearray(whole[: data.draw(st.integers(0, len(whole)))])
    for place in data.draw(st.lists(st.integers(0, max(0, len(broken) - 1)), max_size=3)):
        if broken:
            broken[place] ^= data.draw(st.integers(1, 255))
    if bytes(broken) != whole:
        with pytest.raises(PageError):
            png.decode(bytes(broken))


def damaged_source() -> bytes:
    rows = np.zeros((20, 3), np.uint8)
    metadata = PageMetadata("s", "0" * 64, 1, 0, 0, "0" * 64)
    return png.encode(
        zlib.compress(rows.tobytes()), (16, 20), [(255, 255, 255), (0, 0, 0)], metadata
    )


@pytest.mark.parametrize("data", [b"", b"\x89PNG", b"GIF89a", b"\xff\xd8\xff\xe0junk", b"text"])
def test_no_picture_is_a_page_error(data: bytes) -> None:
    with pytest.raises(PageError):
        png.decode(data)


def rows_as_png(stream: bytes, width: int, height: int) -> bytes:
    metadata = PageMetadata("s", "0" * 64, 1, 0, 0, "0" * 64)
    return png.encode(stream, (width, height), [(255, 255, 255), (0, 0, 0)], metadata)


def test_bombs_are_refused_before_they_are_unpacked() -> None:
    with pytest.raises(PageError, match="sides of"):
        png.decode(rows_as_png(zlib.compress(b"\0"), 1 << 30, 1 << 30))
    bomb = zlib.compress(bytes(100_000_000))
    with pytest.raises(PageError, match="unpack"):
        png.decode(rows_as_png(bomb, 8, 8))
    whole = zlib.compress(bytes(16))
    dictionary, other = b"\x78\xbb" + whole[2:], b"\x79\x9c" + whole[2:]
    for stream in (
        *(zlib.compress(bytes(10)), whole[:-1], whole + b"x", whole[:-1] + b"x", b"no"),
        *(dictionary, other, whole[:1] + b"\0" + whole[2:]),
    ):
        with pytest.raises(PageError, match="unpack"):
            png.decode(rows_as_png(stream, 8, 8))
    large = Image.new("1", (9000, 10))
    with pytest.raises(PageError, match="sides of"):
        png.decode(save(large, "PNG"))
    with pytest.raises(PageError, match="sides of"):
        png.decode(save(large, "GIF"))


def test_animations_are_refused() -> None:
    frames = [Image.new("L", (16, 16), shade) for shade in (0, 255)]
    for kind in ("GIF", "PNG", "WEBP"):
        data = save(frames[0], kind, save_all=True, append_images=frames[1:])
        with pytest.raises(PageError, match="animated"):
            png.decode(data)


def test_a_newer_page_is_refused_politely() -> None:
    newer = b'{"version":2}'
    with pytest.raises(VersionError, match="update snapcompact"):
        parse_metadata(newer)


@given(st.binary(max_size=50) | st.sampled_from([b"[]", b"{}", b'{"version":true}', b"[" * 5000]))
def test_metadata_of_any_bytes_is_refused(text: bytes) -> None:
    with pytest.raises(PageError):
        parse_metadata(text)
