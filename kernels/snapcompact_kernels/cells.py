"""UTF-8 bytes to code points, and cells back to bytes.

A cell is a ``uint16`` glyph id. The special ids are those of ``snapcompact.fonts.atlas.Special``,
repeated here because kernels know nothing of the package above them; a test holds them equal.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from snapcompact_kernels._jit import kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

END, PAD, POINT_OPEN, CLOSE, BYTE_OPEN = 128, 129, 130, 131, 132
BLANK = 32
"""Paper: what stands after the end of the text, and after line end and PAD in a row."""
NO_GLYPH = 0xFFFF
LINE_END = 10
BLOCK = 64
"""Cells or bytes tested at a time for being plain ASCII; two AVX-512 or four AVX2 registers."""


@kernel
def signed(value: np.integer[Any]) -> int:
    """`value` as an int64: numba would widen a small unsigned number, mixed with int, to float."""
    return np.int64(value)  # type: ignore[return-value]  # an int to all who call it


@kernel
def next_point(text: NDArray[np.uint8], at: int) -> tuple[int, int]:  # noqa: PLR0911
    """The code point that starts at byte `at`, and its length in bytes.

    Strict UTF-8 (RFC 3629, table 3-7 of the Unicode standard), and besides it the three bytes of
    one surrogate; -1 and 1 for a byte that is part of neither.
    """
    left = text.size - at
    first = signed(text[at])
    if first < 0x80:
        return first, 1
    if first < 0xC2 or first > 0xF4 or left < 2:
        return -1, 1
    second = signed(text[at + 1])
    if second & 0xC0 != 0x80:
        return -1, 1
    if first < 0xE0:
        return (first & 0x1F) << 6 | (second & 0x3F), 2
    if left < 3:
        return -1, 1
    third = signed(text[at + 2])
    if third & 0xC0 != 0x80:
        return -1, 1
    if first < 0xF0:
        point = (first & 0x0F) << 12 | (second & 0x3F) << 6 | (third & 0x3F)
        return (point, 3) if point >= 0x800 else (-1, 1)
    if left < 4:
        return -1, 1
    fourth = signed(text[at + 3])
    point = (first & 7) << 18 | (second & 0x3F) << 12 | (third & 0x3F) << 6 | (fourth & 0x3F)
    return (point, 4) if fourth & 0xC0 == 0x80 and 0x10000 <= point <= 0x10FFFF else (-1, 1)


@kernel
def put_point(point: int, out: NDArray[np.uint8], at: int) -> int:
    """Write `point` as UTF-8 (a surrogate as three bytes) at `at`; the offset behind it."""
    if point < 0x80:
        out[at] = point
        return at + 1
    if point < 0x800:
        out[at] = 0xC0 | point >> 6
        out[at + 1] = 0x80 | point & 0x3F
        return at + 2
    if point < 0x10000:
        out[at] = 0xE0 | point >> 12
        out[at + 1] = 0x80 | point >> 6 & 0x3F
        out[at + 2] = 0x80 | point & 0x3F
        return at + 3
    out[at] = 0xF0 | point >> 18
    out[at + 1] = 0x80 | point >> 12 & 0x3F
    out[at + 2] = 0x80 | point >> 6 & 0x3F
    out[at + 3] = 0x80 | point & 0x3F
    return at + 4


@kernel
def hex_value(cells: NDArray[np.uint16], at: int, stop: int) -> int:
    """The number that upper-case hex digits in ``cells[at:stop]`` write; -1 if one is none."""
    value = 0
    for i in range(at, stop):
        cell = signed(cells[i])
        if 48 <= cell <= 57:
            value = value << 4 | (cell - 48)
        elif 65 <= cell <= 70:
            value = value << 4 | (cell - 55)
        else:
            return -1
    return value


@kernel
def put_plain(cells: NDArray[np.uint16], at: int, out: NDArray[np.uint8], size: int) -> int:
    """Write cells from `at` on to `out`, in whole blocks of printable ASCII, tab and line end.

    No line end stands last, since what is behind it may belong to it. Returns their number; what
    stands in `out` behind them is overwritten too, up to a block.
    """
    run = 0
    while at + run + BLOCK <= cells.size:
        source = cells[at + run : at + run + BLOCK]
        target = out[size + run : size + run + BLOCK]
        odd = False
        for i in range(BLOCK):
            cell = source[i]
            odd |= (cell >= 127) | ((cell < 32) & (cell != LINE_END) & (cell != 9))
            target[i] = cell
        if odd or source[BLOCK - 1] == LINE_END:
            return run
        run += BLOCK
    return run


@kernel
def mark(cells: NDArray[np.uint16], seen: NDArray[np.bool_]) -> None:
    """Make ``seen[cell]`` true for all `cells` (rows, columns)."""
    for row in range(cells.shape[0]):
        for x in range(cells.shape[1]):
            seen[cells[row, x]] = True


@kernel
def escapes(cells: NDArray[np.uint16]) -> int:
    """How many escapes `cells` (rows, columns) print."""
    count = 0
    for row in range(cells.shape[0]):
        for x in range(cells.shape[1]):
            count += 1 if (cells[row, x] == POINT_OPEN) | (cells[row, x] == BYTE_OPEN) else 0
    return count


@kernel
def cells_to_text(
    cells: NDArray[np.uint16],
    codes: NDArray[np.int32],
    wide: NDArray[np.bool_],
    row_cells: int,
    out: NDArray[np.uint8],
) -> tuple[int, int]:
    """Write the bytes that `cells`, in reading order, print; return their number and a position.

    The inverse of ``paginate.fill_page``, for both layouts: a line end with PAD behind it in its
    row ends that row. `out` holds 4 bytes a cell. The position is where the first cell stands that
    no text prints so (an open escape, half a wide glyph, ink after the end), or -1; what follows it
    is not read.
    """
    size = 0
    at = 0
    plain = codes[9] == 9 and codes[LINE_END] == LINE_END
    for cell in range(32, 127):
        plain &= codes[cell] == cell
    again = 0
    while at < cells.size:
        if plain and at >= again:
            run = put_plain(cells, at, out, size)
            size += run
            at += run
            again = at + 2 * BLOCK  # up to two blocks one by one: then the next try
            continue
        cell = signed(cells[at])
        if cell < 128 and codes[cell] == cell and cell != LINE_END:
            out[size] = cell
            size += 1
            at += 1
            continue
        if cell == END:
            for i in range(at + 1, cells.size):
                if cells[i] != BLANK:
                    return size, i
            return size, -1
        if cell == PAD:
            at += 1
        elif cell == BYTE_OPEN:
            value = hex_value(cells, at + 1, at + 3) if at + 3 <= cells.size else -1
            if value < 0:
                return size, at
            out[size] = value
            size += 1
            at += 3
        elif cell == POINT_OPEN:
            stop = at + 1
            while stop < cells.size and stop < at + 8 and cells[stop] != CLOSE:
                stop += 1
            point = -1
            if stop >= at + 5 and stop < cells.size and cells[stop] == CLOSE:
                point = hex_value(cells, at + 1, stop)
            if point < 0 or point > 0x10FFFF:
                return size, at
            size = put_point(point, out, size)
            at = stop + 1
        elif cell >= codes.size or codes[cell] < 0:
            return size, at
        else:
            if wide[cell]:
                if (at + 1) % row_cells == 0 or at + 1 >= cells.size or cells[at + 1] != cell + 1:
                    return size, at
                at += 1
            size = put_point(signed(codes[cell]), out, size)
            at += 1
            if cell == LINE_END and at % row_cells != 0 and at < cells.size and cells[at] == PAD:
                row_end = min((at // row_cells + 1) * row_cells, cells.size)
                for i in range(at, row_end):
                    if cells[i] != BLANK and cells[i] != PAD:
                        return size, i
                at = row_end
    return size, -1
