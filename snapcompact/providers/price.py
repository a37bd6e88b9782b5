"""What an image costs a model and what of it arrives: pure functions of its size and a row.

Nothing here opens an image: the width and height decide, never the bytes of its file.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import ceil, isqrt
from types import MappingProxyType

from snapcompact.providers.rows import Fit, ImageRule, Model, Range

Size = tuple[int, int]

UNKNOWN_SIZE: Size = (2048, 2048)
"""Stands for an image whose size is unknown, before the fit: no figure is far above it."""


@dataclass(frozen=True, slots=True)
class ImagePrice:
    """An image as one model bills and sees it; ``faults`` say in words why it cannot be sent."""

    width_px: int
    height_px: int
    seen_width_px: int
    seen_height_px: int
    low_tokens: int
    high_tokens: int
    faults: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether the model takes it."""
        return not self.faults

    @property
    def whole(self) -> bool:
        """Whether every pixel sent is seen."""
        return (self.width_px, self.height_px) == (self.seen_width_px, self.seen_height_px)


def image_price(
    model: Model, width_px: int, height_px: int, *, base64_bytes: int = 0, images: int = 1
) -> ImagePrice:
    """The price of one image in a request of `images`; never 0 tokens where images are taken.

    A size of 0 is unknown and priced as :data:`UNKNOWN_SIZE`. A text-only model bills nothing and
    the fault says so.
    """
    size = (width_px, height_px) if width_px > 0 and height_px > 0 else UNKNOWN_SIZE
    if not model.vision or model.image is None:
        return ImagePrice(*size, 0, 0, 0, 0, (f"{model.name} takes no images",))
    seen = seen_size(model, *size)
    billed = RULES[model.image.rule](model.image, *seen)
    extra = model.image.extra_tokens
    faults = tuple(_image_faults(model, size, base64_bytes, images))
    low, high = ceil(billed.low + extra.low), ceil(billed.high + extra.high)
    return ImagePrice(*size, *seen, max(1, low), max(1, high), faults)


def seen_size(model: Model, width_px: int, height_px: int) -> Size:
    """Width and height after the provider's downscale; never larger than given, at least 1."""
    patch_px = model.image.patch_px if model.image else 0
    return fit_size(model.fit, patch_px, width_px, height_px)


def fit_size(fit: Fit, patch_px: int, width_px: int, height_px: int) -> Size:
    """The size an image of this size is scaled down to; the same where it fits already.

    With ``whole_patches`` the patch budget shrinks the image to whole patches, as OpenAI's guide
    does in its example (1800x2400 at 1536 patches gives 1056x1408); otherwise it gets the largest
    long edge that fits, as Anthropic's reference does (1568x1568 at 1568 patches: 1092x1092).
    """
    size = _within_edges(fit, width_px, height_px)
    if not fit.patches or _patches(size, patch_px) <= fit.patches:
        return size
    if fit.whole_patches:
        whole = _whole_patches(size, patch_px, fit.patches)
        if whole:
            return whole
    return _largest(size, lambda scaled: _patches(scaled, patch_px) <= fit.patches)


def request_faults(
    model: Model, *, images: int, base64_bytes: int, high: bool = False
) -> tuple[str, ...]:
    """Why a request of this many images and base64 bytes is refused, in words; empty if taken.

    Measured against the careful end of each cap, or with `high` against the provider's own.
    """
    image_cap = model.caps.images.high if high else model.caps.images.low
    byte_cap = model.caps.request_bytes.high if high else model.caps.request_bytes.low
    faults = []
    if images > image_cap:
        faults.append(f"{images} images, {model.name} takes {image_cap:g} a request")
    if base64_bytes > byte_cap:
        faults.append(f"{base64_bytes:,} bytes of images, {model.name} takes {byte_cap:,.0f}")
    return tuple(faults)


def patch_tokens(rule: ImageRule, width_px: int, height_px: int) -> Range:
    """A token for each square patch touched, times a factor (Anthropic 28 px, OpenAI 32 px)."""
    patches = _patches((width_px, height_px), rule.patch_px)
    return Range(patches * rule.factor.low, patches * rule.factor.high)


def tile_tokens(rule: ImageRule, width_px: int, height_px: int) -> Range:
    """A base and so much for each square tile touched (OpenAI 512 px, Gemini 2 768 px)."""
    tiles = _patches((width_px, height_px), rule.tile_px)
    tokens = rule.base_tokens + rule.tile_tokens * tiles
    return Range(tokens, tokens)


def fixed_tokens(rule: ImageRule, _width_px: int, _height_px: int) -> Range:
    """The same for every image (Gemini 3 at one media resolution, Gemma 3)."""
    return rule.tokens


def area_tokens(rule: ImageRule, width_px: int, height_px: int) -> Range:
    """By the pixel (Grok, Qwen as the peers count them)."""
    megapixels = width_px * height_px / 1_000_000
    rate = rule.tokens_per_megapixel
    return Range(rate.low * megapixels, rate.high * megapixels)


RULES: Mapping[str, Callable[[ImageRule, int, int], Range]] = MappingProxyType(
    {"area": area_tokens, "fixed": fixed_tokens, "patches": patch_tokens, "tiles": tile_tokens}
)


def _image_faults(model: Model, size: Size, base64_bytes: int, images: int) -> list[str]:
    caps = model.caps
    many = caps.many_images and images > caps.many_images
    edge = caps.many_edge_px if many else caps.edge_px
    faults = []
    if edge and max(size) > edge:
        faults.append(f"{size[0]}x{size[1]} px, {model.name} takes edges up to {edge} px")
    if base64_bytes > caps.image_bytes:
        faults.append(f"{base64_bytes:,} bytes, {model.name} takes {caps.image_bytes:,} an image")
    return faults


def _patches(size: Size, patch_px: int) -> int:
    return -(-size[0] // patch_px) * -(-size[1] // patch_px)


def _within_edges(fit: Fit, width_px: int, height_px: int) -> Size:
    """Scaled to the long edge, then to the short one; sides rounded down, at least 1."""
    width, height = width_px, height_px
    for edge, longest in ((fit.long_edge_px, max), (fit.short_edge_px, min)):
        side = longest(width, height)
        if edge and side > edge:
            width, height = max(1, width * edge // side), max(1, height * edge // side)
    return width, height


def _whole_patches(size: Size, patch_px: int, most: int) -> Size | None:
    """`size` shrunk so that one side is whole patches; None for shapes too thin for that."""
    width, height = size
    columns, rows = isqrt(most * width // height), isqrt(most * height // width)
    if columns * height <= rows * width:
        scaled = columns * patch_px, height * columns * patch_px // width
    else:
        scaled = width * rows * patch_px // height, rows * patch_px
    good = min(scaled) > 0 and scaled[0] <= width and _patches(scaled, patch_px) <= most
    return scaled if good else None


def _largest(size: Size, fits: Callable[[Size], bool]) -> Size:
    """The largest size of the same aspect that fits, by halving over the long edge."""
    long, short = max(size), min(size)

    def scaled(edge: int) -> Size:
        other = max(1, (2 * short * edge + long) // (2 * long))
        return (edge, other) if size[0] >= size[1] else (other, edge)

    low, high = 1, long
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(scaled(middle)) else (low, middle - 1)
    return scaled(low)
