"""Kernels compiled before they are asked for, the greater part of them in a second process.

Compiling holds the GIL and one core: on a first run that would be nearly all of the time. What
draws a page takes 1.7 times as long to compile as what paginates text and reads pages back, so each
process makes one of them on a page of no meaning, and this one finds the other in the cache.
"""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

import deflate
import numpy as np

from snapcompact.fonts.atlas import load_atlas
from snapcompact.pages import png
from snapcompact.pages.cells import paginate
from snapcompact.pages.decode import reads_back
from snapcompact.pages.ink import PALETTES, depth_of
from snapcompact.pages.metadata import PageMetadata
from snapcompact.pages.pipeline import draw_cells
from snapcompact.pages.render import paint
from snapcompact.pages.shape import parse_shape
from snapcompact_kernels import cells as cell_kernels
from snapcompact_kernels._jit import cache_folder, cache_is_warm

if TYPE_CHECKING:
    from collections.abc import Iterator


def compile_ahead(shape: str, effort: str) -> None:
    """Make the kernels for pages of `shape` and `effort`, where none that draws is in the cache.

    Does nothing where there is no cache to share or one core only; what fails in the second process
    is left to be compiled where it is needed.
    """
    if cache_is_warm("draw") or cache_is_warm("deflate"):
        return
    if cache_folder() is None or len(os.sched_getaffinity(0)) < 2:
        return
    with _second_process(shape, effort):
        paginate_and_read(shape)


def draw(name: str, effort: str) -> None:
    """Compile what draws pages of the shape called `name` with `effort`."""
    shape = parse_shape(name)
    cells = np.zeros((1, shape.grid_columns), np.uint16)
    draw_cells(cells, shape, load_atlas(shape.font), effort)


def paginate_and_read(name: str) -> None:
    """Compile what paginates text and reads pages back from a PNG."""
    shape = parse_shape(name)
    atlas = load_atlas(shape.font)
    page = next(paginate([b" "], shape, atlas))
    cell_kernels.mark(page.cells, np.zeros(1 << 16, np.bool_))
    cell_kernels.escapes(page.cells)
    scanlines = np.zeros((shape.pitch_height, shape.line_bytes), np.uint8)
    metadata = PageMetadata(
        shape.name, atlas.sha256, page.number, page.offset, page.length, page.sha256
    )
    size, depth = (shape.page_width, shape.pitch_height), depth_of(shape.ink)
    stream = bytes(deflate.zlib_compress(paint(scanlines, page.cells, shape), 1))
    made = png.encode(stream, size, PALETTES[shape.ink], metadata, depth=depth)
    reads_back(made, scanlines, page, shape)


@contextmanager
def _second_process(shape: str, effort: str) -> Iterator[subprocess.Popen[bytes]]:
    """Another process that draws a page; ends with this block, or before it where that fails."""
    # Looking for garbage among what the compiler holds would take a twentieth of the time.
    code = f"import gc; gc.disable(); from {__name__} import draw; draw({shape!r}, {effort!r})"
    process = subprocess.Popen(
        [sys.executable, "-P", "-c", code],  # -P: nothing is imported from the working folder
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield process
        process.wait()
    finally:
        process.kill()
        process.wait()
