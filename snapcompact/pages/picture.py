"""Any picture of a page to ink, through Pillow, within bounds."""

from __future__ import annotations

import io
import struct
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np

from snapcompact.errors import PageError
from snapcompact.pages.shape import MAX_SIDE_PX

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from PIL import Image

FORMATS = ("PNG", "JPEG", "GIF", "WEBP")
"""What is opened; the rarer readers of Pillow see no hostile bytes from us."""


MOST_GREY_PX = 24_000_000
"""Looking for a page takes about 30 bytes a pixel."""
BAND_PX = 256


def check_size(width: int, height: int) -> None:
    """Raise PageError where no page is as large, or as small, as `width` by `height` px."""
    if not (1 <= width <= MAX_SIDE_PX and 1 <= height <= MAX_SIDE_PX):
        raise PageError(
            f"a picture of {width}x{height} px is no page; sides of 1 to {MAX_SIDE_PX} px are read"
        )


def read_picture(data: bytes) -> NDArray[np.bool_]:
    """(height, width), true where the picture in `data` is darker than mid-grey over white.

    Raises PageError where it is no picture, damaged, animated, or larger than any page.
    """
    with _opened(data) as image:
        return np.concatenate([_grey(band) < 128 for band in _bands(image)])


def read_grey(data: bytes) -> NDArray[np.float32]:
    """(height, width) brightness of the picture in `data`, 0 to 255, transparent parts over white.

    Raises PageError as :func:`read_picture`, and where it has more than MOST_GREY_PX pixels.
    """
    with _opened(data) as image:
        if image.width * image.height > MOST_GREY_PX:
            raise PageError(
                f"a picture of {image.width}x{image.height} px that is no page as printed is too "
                f"large to find one on it; make it smaller, to at most {MOST_GREY_PX:,} pixels"
            )
        return np.concatenate([_grey(band) for band in _bands(image)])


@contextmanager
def _opened(data: bytes) -> Iterator[Image.Image]:
    """The picture in `data`, its size checked; what reading it in the body raises is PageError."""
    from PIL import Image, UnidentifiedImageError

    try:
        with warnings.catch_warnings():  # Pillow warns of sizes that are refused here anyway
            warnings.simplefilter("ignore")
            with Image.open(io.BytesIO(data), formats=FORMATS) as image:
                check_size(*image.size)
                if getattr(image, "n_frames", 1) > 1:
                    raise PageError("an animated picture is no page; save one frame of it")
                yield image
    except PageError:
        raise
    except (UnidentifiedImageError, Image.DecompressionBombError) as error:
        raise PageError(f"not a picture that is read here ({', '.join(FORMATS)})") from error
    except (OSError, ValueError, SyntaxError, EOFError, struct.error) as error:
        raise PageError(f"damaged picture: {error}") from error


def _bands(image: Image.Image) -> Iterator[Image.Image]:
    """`image` in bands from the top: conversions hold several copies of what they convert."""
    for top in range(0, image.height, BAND_PX):
        yield image.crop((0, top, image.width, min(top + BAND_PX, image.height)))


def _grey(image: Image.Image) -> NDArray[np.float32]:
    """(height, width) brightness, 0 to 255, transparent parts over white."""
    from PIL import Image

    if image.mode.startswith(("I", "F")):  # 16 bits a pixel: convert() would clip, not scale
        return np.asarray(image).astype(np.float32) / np.float32(257)
    if image.mode in ("RGBA", "LA", "PA") or "transparency" in image.info:
        over = image.convert("RGBA")
        paper = Image.new("RGBA", over.size, "white")
        image = Image.alpha_composite(paper, over)
    return np.asarray(image.convert("L")).astype(np.float32)
