"""Text to cells, one page at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from snapcompact_kernels._jit import kernel
from snapcompact_kernels.cells import (
    BLANK,
    BLOCK,
    BYTE_OPEN,
    CLOSE,
    END,
    LINE_END,
    NO_GLYPH,
    PAD,
    POINT_OPEN,
    next_point,
    signed,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

FLOW, INDENTED, EVERY = 0, 1, 2
"""Which line ends end their row: none, those before a line that begins with a blank or tab, all."""


@kernel
def plain_run(text: NDArray[np.uint8], limit: int) -> int:
    """Length, in whole blocks up to `limit`, of the run of printable ASCII, tab and line end."""
    run = 0
    while run + BLOCK <= limit:
        block = text[run : run + BLOCK]
        odd = False
        for i in range(BLOCK):
            byte = block[i]
            odd |= (byte >= 127) | ((byte < 32) & (byte != 10) & (byte != 9))
        if odd:
            return run
        run += BLOCK
    return run


@kernel
def put_escape(opening: int, value: int, digits: int, out: NDArray[np.uint16], at: int) -> None:
    """Write `opening` and `digits` upper-case hex digits of `value` at `at`."""
    out[at] = opening
    for i in range(digits):
        nibble = value >> 4 * (digits - 1 - i) & 15
        out[at + 1 + i] = 48 + nibble if nibble < 10 else 55 + nibble


@kernel
def fill_page(
    text: NDArray[np.uint8],
    start: int,
    glyph_of: NDArray[np.uint16],
    wide: NDArray[np.bool_],
    plain: bool,
    row_cells: int,
    breaks: int,
    out: NDArray[np.uint16],
) -> tuple[int, int, bool]:
    """Fill `out`, the cells of one page in reading order, with the text from byte `start` on.

    Whole units only: a wide glyph stands in one row, an escape on one page, with PAD cells before
    it where it did not fit. `breaks` names the line ends (see FLOW) that end their row: PAD behind
    one, if there is room, then BLANK. The cell after the last of the text is END, on a page of its
    own if this one is full; all behind is BLANK. `plain` says that printable ASCII, tab and line
    end are their own glyph ids. `text` must reach its end, or 4 bytes a cell and 4 more
    behind `start`. Returns the offset behind the page's text, the number of cells used, and whether
    END stands.
    """
    size = text.size
    room = out.size
    pos = start
    at = 0
    while at < room and pos < size:
        if plain and breaks == FLOW:
            run = plain_run(text[pos:], min(room - at, size - pos))
            source = text[pos : pos + run]
            target = out[at : at + run]
            for i in range(run):
                target[i] = source[i]
            pos += run
            at += run
            if at == room or pos == size:
                break
        # Up to two blocks one by one: then the next try for a plain run.
        stop = min(pos + 2 * BLOCK, size)
        full = False
        while pos < stop and at < room:
            point, length = next_point(text, pos)
            glyph = NO_GLYPH
            if point >= 0 and (point < 0xD800 or point > 0xDFFF):
                glyph = signed(glyph_of[point])
            if glyph != NO_GLYPH and not wide[glyph]:
                out[at] = glyph
                at += 1
                if breaks == FLOW or glyph != LINE_END or at % row_cells == 0:
                    pos += length
                    continue
                follows = signed(text[pos + 1]) if pos + 1 < size else 0
                if breaks == EVERY or follows in (32, 9):
                    row_end = (at // row_cells + 1) * row_cells
                    out[at] = PAD
                    out[at + 1 : row_end] = BLANK
                    at = row_end
            elif glyph != NO_GLYPH:
                if at % row_cells == row_cells - 1:
                    out[at] = PAD
                    at += 1
                    continue
                out[at] = glyph
                out[at + 1] = glyph + 1
                at += 2
            else:
                digits = 2 if point < 0 else 4 + (point > 0xFFFF) + (point > 0xFFFFF)
                if at + digits + 1 + (point >= 0) > room:
                    full = True
                    break
                if point < 0:
                    put_escape(BYTE_OPEN, signed(text[pos]), digits, out, at)
                else:
                    put_escape(POINT_OPEN, point, digits, out, at)
                    out[at + 1 + digits] = CLOSE
                at += digits + 1 + (point >= 0)
            pos += length
        if full:
            out[at:] = PAD
            return pos, room, False
    used = at
    ended = pos == size and at < room
    if ended:
        out[at] = END
        used = at + 1
    out[used:] = BLANK
    return pos, used, ended
