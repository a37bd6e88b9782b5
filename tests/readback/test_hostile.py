"""Pictures that are no pages, or want too much memory, given to `read`: an error, exit code 1."""

from __future__ import annotations

import io
import os
import resource
import struct
import subprocess
import sys
import zlib
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from snapcompact.errors import PageError
from snapcompact.pages.picture import read_grey, read_picture
from tests.readback.pages import grey_of, made_page, picture

MEMORY_BYTES = 3 << 30
"""Address space of the child; numba and its threads reserve 2 GB of it before any page is read."""


def chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def png(width: int, height: int, body: bytes, *, interlaced: int = 0) -> bytes:
    """A palette PNG of one bit a pixel, as pages are."""
    header = struct.pack(">IIBBBBB", width, height, 1, 3, 0, 0, interlaced)
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        (
            chunk(b"IHDR", header),
            chunk(b"PLTE", b"\xff\xff\xff\0\0\0"),
            chunk(b"IDAT", body),
            chunk(b"IEND", b""),
        )
    )


def animated() -> bytes:
    buffer = io.BytesIO()
    frames = [Image.new("L", (64, 64), shade) for shade in (0, 128, 255)]
    frames[0].save(buffer, "GIF", save_all=True, append_images=frames[1:])
    return buffer.getvalue()


def deep(noise: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> bytes:
    buffer = io.BytesIO()
    Image.fromarray((noise * 65535).astype(np.uint16)).save(buffer, "PNG")
    return buffer.getvalue()


def huge() -> bytes:
    buffer = io.BytesIO()
    Image.new("I;16", (8192, 8192)).save(buffer, "PNG", compress_level=1)
    return buffer.getvalue()


def hostile_files() -> dict[str, bytes]:
    rng = np.random.default_rng(0)
    noise = rng.random((200, 300))
    zeros = zlib.compress(bytes(60_000_000), 9)
    whole = made_page()[1].data
    grey = grey_of(whole)
    return {
        "empty.png": b"",
        "text.png": b"no picture at all",
        "random.png": rng.bytes(5000),
        "noise.png": picture((noise * 255).astype(np.float32)),
        "noise.jpg": picture((noise * 255).astype(np.float32), "JPEG", quality=50),
        "one_pixel.png": picture(np.zeros((1, 1), np.float32)),
        "huge.png": png(60_000, 60_000, zeros),
        "endless.png": png(2**31 - 1, 2**31 - 1, zeros),
        "thin.png": png(8192, 1, zeros),
        "interlaced.png": png(512, 320, zlib.compress(bytes(100)), interlaced=1),
        "bomb.png": png(512, 320, zeros),
        "animated.gif": animated(),
        "16_bit.png": deep(noise),
        "16_bit_huge.png": huge(),
        "cut.png": whole[: len(whole) // 2],
        "cut.jpg": picture(grey, "JPEG", quality=60)[:2000],
        "head.png": whole[:40],
    }


CHILD = """
import sys
from snapcompact.cli.app import run
for path in sys.argv[2:]:
    print(path, run(["read", path, "--reader", sys.argv[1], "--shape", "8x16@8x16-512x320", "-q"]))
"""


def limit_memory() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))


@pytest.mark.parametrize("reader", ["exact", "vision:openai:none"])
def test_no_hostile_picture_gets_through(reader: str, tmp_path: Path) -> None:
    files = hostile_files()
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
    # A vision model would be sent any picture that opens as one; here only those that do not.
    opens = {"noise.png", "noise.jpg", "one_pixel.png", "16_bit.png", "16_bit_huge.png"}
    wanted = [name for name in files if reader == "exact" or name not in opens]
    made = subprocess.run(
        [sys.executable, "-c", CHILD, reader, *(str(tmp_path / name) for name in wanted)],
        env=os.environ
        | {"PYTHONPATH": os.pathsep.join(sys.path), "OPENAI_BASE_URL": "http://127.0.0.1:9/v1",
           "XDG_CACHE_HOME": str(tmp_path / "cache"), "OPENBLAS_NUM_THREADS": "2"},
        capture_output=True,
        check=False,
        preexec_fn=limit_memory,
    )  # fmt: skip
    said = made.stderr.decode()
    assert made.returncode == 0, said
    codes = dict(line.rsplit(" ", 1) for line in made.stdout.decode().splitlines())
    assert codes == {str(tmp_path / name): "1" for name in wanted}, said
    assert "Traceback" not in said
    assert all(name in said for name in wanted)


def test_a_page_of_16_bits_is_read_like_any_other() -> None:
    from snapcompact.fonts.atlas import load_atlas
    from snapcompact.readback.exact import see_cells
    from tests.readback.pages import SMALL

    page, given_page = made_page()
    deep_page = deep(grey_of(given_page.data) / 255)
    assert (see_cells(deep_page, load_atlas, shape=SMALL).cells == page.cells).all()


@pytest.mark.parametrize("mode", ["1", "L", "P", "RGB", "RGBA", "LA", "I;16"])
def test_pictures_of_every_kind_have_the_same_brightness(mode: str) -> None:
    wanted = np.random.default_rng(0).integers(0, 2, (600, 30)).astype(np.uint8) * 255
    if mode == "I;16":
        image = Image.fromarray(wanted.astype(np.uint16) * 257)
    else:
        image = Image.fromarray(wanted).convert(mode)
    buffer = io.BytesIO()
    image.save(buffer, "PNG")
    assert (read_grey(buffer.getvalue()) == wanted).all()
    assert (read_picture(buffer.getvalue()) == (wanted < 128)).all()


def test_a_picture_too_large_to_look_for_a_page_on_says_how_large_it_may_be() -> None:
    with pytest.raises(PageError, match=r"8192x8192 px .* 24,000,000"):
        read_grey(huge())
