"""Cells to packed rows of one bit a pixel."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from snapcompact_kernels._jit import kernel
from snapcompact_kernels.words import SQUARES, store_little, swap, transpose

if TYPE_CHECKING:
    from numpy.typing import NDArray

U = np.uint64


@kernel
def raster_any(
    cells: NDArray[np.uint16],
    glyphs: NDArray[np.uint64],
    width: int,
    pitch_width: int,
    pitch_height: int,
    out: NDArray[np.uint8],
) -> None:
    """Print `cells` (rows, columns) into `out` (rows * pitch_height, 1 + row bytes), 1 is ink.

    The first byte of each row is PNG's filter, 0.
    `glyphs` (ids, height) holds `width` bits of each scanline, right-aligned. Glyphs stand in the
    middle of their pitch, the odd pixel right and below. Every byte of `out` is written.
    """
    height = glyphs.shape[1]
    left = (pitch_width - width) // 2
    top = (pitch_height - height) // 2
    rows, columns = cells.shape
    out[:] = 0
    for row in range(rows):
        for line in range(height):
            target = out[row * pitch_height + top + line]
            for column in range(columns):
                bits = glyphs[cells[row, column], line]
                if bits == 0:
                    continue
                x = 8 + column * pitch_width + left
                # Shift so that the first pixel stands at bit 7 - x % 8 of byte x // 8.
                byte = (x + width - 1) // 8
                drop = 7 - (x + width - 1) % 8
                low = np.uint8(bits << np.uint64(drop) & np.uint64(0xFF))
                target[byte] |= low
                rest = bits >> np.uint64(8 - drop)
                while rest != 0:
                    byte -= 1
                    target[byte] |= np.uint8(rest & np.uint64(0xFF))
                    rest >>= np.uint64(8)


@kernel
def copy(
    source: NDArray[np.uint8], start: int, target: NDArray[np.uint8], to: int, count: int
) -> None:
    """``target[to : to + count] = source[start : start + count]``.

    Flat arrays and offsets here and below: each view of a row costs two atomic reference counts,
    and unfiltering takes 4 ns a cell with them, 0.6 without.
    """
    for i in range(count):
        target[U(to) + U(i)] = source[U(start) + U(i)]


@kernel
def clear(target: NDArray[np.uint8], start: int, stop: int) -> None:
    """``target[start:stop] = 0``."""
    for i in range(stop - start):
        target[U(start) + U(i)] = 0


@kernel
def print_strip(
    cells: NDArray[np.uint16],
    row: int,
    columns: NDArray[np.uint64],
    height: int,
    strip: NDArray[np.uint8],
    start: int,
    stride: int,
    glyphs: NDArray[np.uint64],
    turned: NDArray[np.uint64],
) -> None:
    """Write the glyph bytes of one row of `cells` (rows, columns) to `strip`.

    Scanline s of cell x is byte start + s * stride + x; `height` scanlines are written. `columns`
    (ids, words) holds 8 scanlines a word, the uppermost lowest.
    """
    lines = turned.view(np.uint8)
    for begin in range(0, cells.shape[1], 8 * SQUARES):
        count = min(8 * SQUARES, cells.shape[1] - begin)
        for word in range(columns.shape[1]):
            for x in range(count):
                glyph = U(cells[U(row), U(begin + x)])
                glyphs[U((x & 7) * SQUARES + (x >> 3))] = columns[glyph, U(word)]
            transpose(glyphs, turned)
            for line in range(min(8, height - 8 * word)):
                to = U(start + (8 * word + line) * stride + begin)
                for x in range(count):
                    strip[to + U(x)] = lines[U(8 * SQUARES * line) + U(x)]


@kernel
def spread_line(
    strip: NDArray[np.uint64],
    start: int,
    width: int,
    pitch_width: int,
    words: NDArray[np.uint64],
    out: NDArray[np.uint8],
    at: int,
) -> None:
    """Print 8 glyph bytes of one scanline for each two of `words`, at a pitch of up to 16 px.

    They stand in `strip` from number `start` on, the leftmost lowest, and are printed to `out` from
    byte `at` on. 8 cells are `pitch_width` bytes: two halves of 4 cells, each in one number of 64
    bits, which `words` is scratch for. Writes up to 16 bytes a group of 8, of which the last
    group's may go beyond its `pitch_width`.
    """
    left = (pitch_width - width) // 2
    half = U(4 * pitch_width)
    pitch = U(pitch_width)
    groups = words.size // 2
    for group in range(groups):
        glyphs = strip[U(start + group)]
        early, late = U(0), U(0)
        drop = U(64 - left - width)
        for i in range(4):
            early |= (glyphs >> U(8 * i) & U(255)) << drop
            late |= (glyphs >> U(8 * i + 32) & U(255)) << drop
            drop -= pitch
        words[U(group)] = swap(early | late >> half if half < U(64) else early)
        words[U(groups + group)] = swap(late << (U(64) - half) if half < U(64) else late)
    for group in range(groups):
        to = U(at) + U(group) * pitch
        store_little(out, to, words[U(group)])
        store_little(out, to + U(8), words[U(groups + group)])


@kernel
def raster_small(
    cells: NDArray[np.uint16],
    columns: NDArray[np.uint64],
    size: tuple[int, int],
    pitch: tuple[int, int],
    row_bytes: int,
    out: NDArray[np.uint8],
) -> None:
    """As :func:`raster_any`, for glyphs up to 8 px wide on pitches up to 16: 8 cells at a time.

    `columns` as in :func:`print_strip`; `size` and `pitch` are (width, height). `out` is flat, with
    16 bytes behind the page, which may be overwritten.
    """
    width, height = size
    pitch_width, pitch_height = pitch
    top = (pitch_height - height) // 2
    rows, count = cells.shape
    groups = (count + 7) // 8
    stride = 8 * groups
    strip = np.zeros(height * groups, np.uint64)
    strip_bytes = strip.view(np.uint8)
    words = np.empty(2 * groups, np.uint64)
    glyphs = np.zeros(8 * SQUARES, np.uint64)
    turned = np.empty(8 * SQUARES, np.uint64)
    whole_bytes = pitch_width == 8 and width == 8
    printed = count if whole_bytes else min(groups * pitch_width, row_bytes)
    line_bytes = 1 + row_bytes
    for row in range(rows):
        first = (row * pitch_height + top) * line_bytes + 1
        target, to, step = (out, first, line_bytes) if whole_bytes else (strip_bytes, 0, stride)
        print_strip(cells, row, columns, height, target, to, step, glyphs, turned)
        for y in range(pitch_height):
            start = (row * pitch_height + y) * line_bytes
            line = y - top
            if line < 0 or line >= height:
                clear(out, start, start + 1 + row_bytes)
                continue
            out[start] = 0
            if not whole_bytes:
                spread_line(strip, line * groups, width, pitch_width, words, out, start + 1)
            clear(out, start + 1 + printed, start + 1 + row_bytes)


@kernel
def colour(
    page: NDArray[np.uint8],
    inks: NDArray[np.uint8],
    pitch: tuple[int, int],
    depth: int,
    out: NDArray[np.uint8],
) -> None:
    """Print the scanlines `page` (px high, 1 + row bytes) in colours, `depth` bits a pixel.

    ``inks`` (rows, columns) is the colour of each cell; what is right of them has that of the last
    column. `out` (px high, 1 + row bytes at `depth`) is written whole.
    """
    pitch_width, pitch_height = pitch
    last = inks.shape[1] - 1
    out[:] = 0
    for y in range(page.shape[0]):
        for byte in range(1, page.shape[1]):
            bits = page[y, byte]
            if bits == 0:
                continue
            for i in range(8):
                if bits >> (7 - i) & 1:
                    x = 8 * (byte - 1) + i
                    ink = inks[y // pitch_height, min(x // pitch_width, last)]
                    place = x * depth
                    out[y, 1 + place // 8] |= ink << (8 - depth - place % 8)


@kernel
def filter_up(
    page: NDArray[np.uint8], row_bytes: int, up: NDArray[np.bool_], out: NDArray[np.uint8]
) -> None:
    """Apply PNG's filter 2, the row minus the one above modulo 256, from flat to flat.

    Scanlines s, s + n, … are filtered where ``up[s]``, n being its size; ``up[0]`` is False.
    """
    size = 1 + row_bytes
    for y in range(page.size // size):
        line = U(y * size)
        if up[y % up.size]:
            above = U((y - 1) * size)
            for i in range(size):
                out[line + U(i)] = page[line + U(i)] - page[above + U(i)]
            out[line] = 2
        else:
            copy(page, y * size, out, y * size, size)


@kernel
def unfilter(page: NDArray[np.uint8], row_bytes: int, out: NDArray[np.uint8]) -> bool:
    """Undo PNG's filters 0 and 2 from flat to flat, the filter bytes 0; False if others occur."""
    size = 1 + row_bytes
    for y in range(page.size // size):
        start = y * size
        if page[start] == 0 or (page[start] == 2 and y == 0):
            copy(page, start, out, start, size)
        elif page[start] == 2:
            line = U(start)
            above = U(start - size)
            for i in range(size):
                out[line + U(i)] = page[line + U(i)] + out[above + U(i)]
        else:
            return False
        out[start] = 0
    return True


@kernel
def first_difference(
    one: NDArray[np.uint8], other: NDArray[np.uint8], row_bytes: int, rows: int
) -> int:
    """Number of the first of `rows` rows in which the flat scanlines differ, or -1."""
    size = 1 + row_bytes
    for y in range(rows):
        start = U(y * size)
        odd = np.uint8(0)
        for i in range(size):
            odd |= one[start + U(i)] ^ other[start + U(i)]
        if odd:
            return y
    return -1


@kernel
def unfilters_to(
    filtered: NDArray[np.uint8], page: NDArray[np.uint8], start: int, stop: int, size: int
) -> bool:
    """Whether :func:`unfilter` makes ``page[start:stop]`` of the same place in `filtered`.

    Both are scanlines of `size` bytes, whole ones; it is known of those before `start`.
    """
    for at in range(start, stop, size):
        line = U(at)
        odd = page[line]
        if filtered[line] == 0 or (filtered[line] == 2 and at == 0):
            for i in range(1, size):
                odd |= filtered[line + U(i)] ^ page[line + U(i)]
        elif filtered[line] == 2:
            above = U(at - size)
            for i in range(1, size):
                change = np.uint8(page[line + U(i)] - page[above + U(i)])
                odd |= filtered[line + U(i)] ^ change
        else:
            return False
        if odd:
            return False
    return True
