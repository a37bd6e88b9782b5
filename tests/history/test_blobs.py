"""Images and files inside sessions."""

from __future__ import annotations

import base64
import hashlib
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from snapcompact.history.blobs import blob, blob_base64, blob_url, picture


def _image(kind: str, size: tuple[int, int], **options: bool) -> bytes:
    file = io.BytesIO()
    Image.new("RGB", size, (9, 99, 200)).save(file, kind, **options)
    return file.getvalue()


@pytest.mark.parametrize("size", [(1, 1), (8, 5), (300, 700)])
@pytest.mark.parametrize(
    ("kind", "options"),
    [("png", {}), ("gif", {}), ("jpeg", {}), ("webp", {}), ("webp", {"lossless": True})],
)
def test_picture_sizes_equal_pillows(
    kind: str, options: dict[str, bool], size: tuple[int, int]
) -> None:
    found = picture(_image(kind, size, **options))
    assert found is not None
    assert found.mime == f"image/{kind}"
    assert (found.width_px, found.height_px) == size


@given(
    st.sampled_from(
        [b"", b"\x89PNG\r\n\x1a\n", b"GIF89a", b"\xff\xd8", b"RIFF0000WEBP", b"RIFFxxxxWEBPVP8 "]
    ),
    st.binary(max_size=80),
)
def test_no_bytes_break_picture(start: bytes, rest: bytes) -> None:
    picture(start + rest)


def test_true_type_wins_over_a_wrong_one() -> None:
    data = _image("png", (3, 4))
    found = blob_base64("file", "image/jpeg", base64.b64encode(data).decode())
    assert (found.kind, found.mime, found.width_px, found.height_px) == ("image", "image/png", 3, 4)
    assert found.sha256 == hashlib.sha256(data).hexdigest()
    assert found.data == data


def test_broken_base64_is_kept_and_named() -> None:
    found = blob_base64("image", "image/png", "iVBORw0KGgo[truncated]")
    assert found.ref == "broken base64"
    assert found.data == b"iVBORw0KGgo[truncated]"
    assert found.size == 22


@given(st.binary(max_size=50), st.sampled_from(["", ";charset=x"]))
def test_data_urls(data: bytes, parameter: str) -> None:
    url = f"data:text/x{parameter};base64," + base64.b64encode(data).decode()
    assert blob_url("file", url) == blob("file", "text/x", data)


def test_links_have_no_bytes() -> None:
    found = blob_url("image", "https://example.invalid/a.png", "image/png")
    assert (found.ref, found.sha256, found.data) == ("https://example.invalid/a.png", "", None)
    assert blob_base64("image", "", "blob:sha256:00").ref == "blob:sha256:00"
