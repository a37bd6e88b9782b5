"""Kernels compiled before they are asked for, half of them in a second process.

Compiling holds the GIL and one core: on a first run that would be nearly all of the time. What
packs a page takes as long to compile as what prints it and reads it back, so each process makes one
half on a page of no meaning, and finds the other in the cache.
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
from snapcompact.pages.compress import Drawn, compress
from snapcompact.pages.decode import reads_back
from snapcompact.pages.ink import PALETTES
from snapcompact.pages.metadata import PageMetadata
from snapcompact.pages.pipeline import draw_cells
from snapcompact.pages.render import raster
from snapcompact.pages.shape import parse_shape
from snapcompact_kernels import cells as cell_kernels
from snapcompact_kernels._jit import cache_folder, cache_is_warm

if TYPE_CHECKING:
    from collections.abc import Iterator

_SHAPE = "8x16"
"""Kernels serve all shapes of glyphs up to 8 px wide alike."""


def compile_ahead(effort: str) -> None:
    """Make the kernels that archiving with `effort` needs, where what packs is not in the cache.

    Does nothing where there is no cache to share or one core only; what fails in the second process
    is left to be compiled where it is needed.
    """
    if cache_is_warm("deflate") or cache_folder() is None or len(os.sched_getaffinity(0)) < 2:
        return
    with _second_process(effort):
        print_and_read()


def pack(effort: str) -> None:
    """Compile what packs a page with `effort`."""
    shape = parse_shape(_SHAPE)
    atlas = load_atlas(shape.font)
    cells = np.zeros((1, shape.grid_columns), np.uint16)
    scanlines = np.zeros((shape.pitch_height, shape.line_bytes), np.uint8)
    compress(Drawn(cells, scanlines, shape, atlas), effort)
    draw_cells(cells, shape, atlas, effort)  # last: by then the other half has what prints


def print_and_read() -> None:
    """Compile what paginates text, prints a page, and reads it back from a PNG."""
    shape = parse_shape(_SHAPE)
    atlas = load_atlas(shape.font)
    page = next(paginate([b"\xff"], shape, atlas))
    cell_kernels.mark(page.cells, np.zeros(1 << 16, np.bool_))
    cell_kernels.escapes(page.cells)
    scanlines = raster(page.cells, shape, atlas)
    metadata = PageMetadata(
        shape.name, atlas.sha256, page.number, page.offset, page.length, page.sha256
    )
    size = shape.page_width, scanlines.shape[0]
    stream = bytes(deflate.zlib_compress(scanlines, 1))
    reads_back(png.encode(stream, size, PALETTES[shape.ink], metadata), scanlines, page, shape)


@contextmanager
def _second_process(effort: str) -> Iterator[subprocess.Popen[bytes]]:
    """Another process that packs a page; ends with this block, or before it where that fails."""
    code = f"from snapcompact.pages.warmup import pack; pack({effort!r})"
    process = subprocess.Popen(
        [sys.executable, "-c", code],
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
