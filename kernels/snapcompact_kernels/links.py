"""Lines of JSON to what each record says of its place: the hashes of a few of its texts.

One pass over the bytes; nothing is made of what is not asked for. Only plain lines are taken: JSON
that every reader reads alike, the texts asked for without escapes. Any other line is left to a
reader that knows all of it, so that a rule too narrow costs time, never a record.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from snapcompact_kernels import json_moves as json
from snapcompact_kernels._jit import kernel
from snapcompact_kernels.cells import signed
from snapcompact_kernels.siphash import siphash
from snapcompact_kernels.words import load_little, low_zeros

if TYPE_CHECKING:
    from numpy.typing import NDArray

U = np.uint64

ID, PARENT, OTHER_PARENT, TYPE, ANSWER, KIND, CALL, RESULT, SIDE, MESSAGE, CONTENT = range(11)
"""What a name stands for: texts up to RESULT, then what is true or false, an object, a list.

Of the record: its id; its parent's, and the one used where that is absent or empty; its type;
whether it is on a sidechain; its message. Of the message: its answer's id, and its list of blocks.
Of a block: its kind, its own id, and that of the call it answers."""
_TOOL = 11
"""The id of the first call or result among the blocks: found by their kinds, no name's own."""
_SLOTS = 12

RECORD_LEVEL, MESSAGE_LEVEL, _LIST_LEVEL, BLOCK_LEVEL = 1, 2, 3, 4
"""How deep the objects stand that names belong to, and the list of blocks."""

WORDS = 4
"""Of a row: hashes of the id, the parent's, the answer's (its lowest bit: on a sidechain) and the
first call's or result's, 0 for none."""

_MOST_DEPTH = 60
_MOST_DIGITS = 18
"""Bytes of a number; some readers read longer ones otherwise."""


def texts(words: tuple[bytes, ...]) -> NDArray[np.uint8]:
    """A table of short texts: in each row the text's size, then its bytes."""
    out = np.zeros((len(words), 1 + max(map(len, words), default=0)), np.uint8)
    for row, word in zip(out, words, strict=True):
        row[: 1 + len(word)] = len(word), *word
    return out


_KINDS = texts((b"tool_use", b"tool_result"))
_CALL_KIND, _RESULT_KIND = 0, 1

_LF, _QUOTE, _BACKSLASH, _SPACE, _MINUS, _NINE = 0x0A, 0x22, 0x5C, 0x20, 0x2D, 0x39
_SMALL_N, _SMALL_T = 0x6E, 0x74
_EACH, _TOP = U(0x0101010101010101), U(0x8080808080808080)


@kernel
def _run_end(data: NDArray[np.uint8], at: int) -> int:
    r"""Offset, from `at` on, of the first byte that is ``"``, ``\\`` or below a space.

    Within 8 bytes of the end of `data` it may lie before it.
    """
    while at + 8 <= data.size:
        word = load_little(data, U(at))
        quote, slash = word ^ (_EACH * U(_QUOTE)), word ^ (_EACH * U(_BACKSLASH))
        low = (word - _EACH * U(_SPACE)) & ~word
        found = (((quote - _EACH) & ~quote) | ((slash - _EACH) & ~slash) | low) & _TOP
        if found:  # the lowest 1 is right; those above it may come of its borrow
            return at + signed(U(low_zeros(found)) >> U(3))
        at += 8
    return at


@kernel
def _is(data: NDArray[np.uint8], start: int, stop: int, words: NDArray[np.uint8], row: int) -> bool:
    """Whether ``data[start:stop]`` is text number `row` of `words`."""
    if stop - start != words[row, 0]:
        return False
    equal = True
    for i in range(stop - start):
        equal &= data[start + i] == words[row, 1 + i]
    return equal


@kernel
def _forget(spans: NDArray[np.int64], slot: int) -> None:
    """Forget what was inside the value of `slot`, since another one begins."""
    if slot == MESSAGE:
        spans[ANSWER, 0] = -1
    if slot in (MESSAGE, CONTENT):
        spans[_TOOL, 0] = -1


@kernel
def _line_end(
    data: NDArray[np.uint8],
    at: int,
    names: NDArray[np.uint8],
    table: NDArray[np.int64],
    moves: NDArray[np.int8],
    spans: NDArray[np.int64],
) -> int:
    """Offset behind the LF of the line that begins at `at`; -1 where it is no plain record.

    Where the texts of its slots lie is written to ``spans`` (_SLOTS, 2), -1 for none. `names`,
    `table` and `moves` as in :func:`read_links`.
    """
    for i in range(_SLOTS):
        spans[i, 0] = -1
    state, depth, wanted, slot, begin, first = json.LINE, 0, 0, -1, 0, 0
    decided = is_name = False
    objects = U(0)  # a bit for each level, the innermost lowest: an object or a list
    while at < data.size:
        if state == json.TEXT:
            at = _run_end(data, at)
        byte = signed(data[U(at)])
        if state in (json.VALUE, json.FIRST):
            first, begin = byte, at
        move = signed(moves[state, byte])
        at += 1
        if move >= 0:
            state = move
        elif move == json.OPEN_TEXT:
            is_name = state in (json.NAME, json.FIRST_NAME)
            begin, state = at, json.TEXT
        elif move == json.CLOSE_TEXT:
            state = json.COLON if is_name else json.BEHIND
            if depth == wanted and (is_name or 0 <= slot < SIDE):
                for i in range(begin, at - 1):
                    if data[U(i)] == _BACKSLASH:
                        return -1
                if is_name:
                    slot = _slot(data, begin, at - 1, depth, names, table)
                    _forget(spans, slot)
                    decided &= slot not in (MESSAGE, CONTENT)
                else:
                    spans[slot, 0], spans[slot, 1] = begin, at - 1
        elif move in (json.OPEN_OBJECT, json.OPEN_LIST):
            is_object = move == json.OPEN_OBJECT
            if 0 <= slot <= SIDE or depth == _MOST_DEPTH:
                return -1
            asked = slot == CONTENT
            if is_object:
                asked = slot == MESSAGE or depth in (0, _LIST_LEVEL)
            if depth == wanted and asked:
                wanted += 1
                if wanted == BLOCK_LEVEL:
                    spans[KIND, 0] = spans[CALL, 0] = spans[RESULT, 0] = -1
            depth += 1
            objects = objects << U(1) | U(is_object)
            slot, state = -1, json.FIRST_NAME if is_object else json.FIRST
        elif depth == 0 or move in (json.BAD, json.END):
            return at if depth == 0 and state == json.BEHIND and move == json.END else -1
        else:
            if _MINUS <= first <= _NINE and at - begin > _MOST_DIGITS:
                return -1
            if slot == SIDE:
                spans[SIDE, 0] = 0 if first == _SMALL_T else -1
            elif 0 <= slot < SIDE and first != _QUOTE:
                if first != _SMALL_N:
                    return -1
                spans[slot, 0] = -1
            slot = -1
            in_object = objects & U(1) != U(0)
            if move == json.COMMA:
                state = json.NAME if in_object else json.VALUE
                continue
            if in_object != (move == json.CLOSE_OBJECT):
                return -1
            if depth == wanted:
                if depth == BLOCK_LEVEL and not decided:
                    decided = _decides(data, spans)
                wanted -= 1
            depth -= 1
            objects >>= U(1)
            first, state = 0, json.BEHIND
    return -1


@kernel
def _decides(data: NDArray[np.uint8], spans: NDArray[np.int64]) -> bool:
    """Whether a block that has ended is a call or a result; its id is then the message's tool."""
    start, stop = spans[KIND, 0], spans[KIND, 1]
    found = -1
    if start >= 0 and _is(data, start, stop, _KINDS, _RESULT_KIND):
        found = RESULT
    elif start >= 0 and _is(data, start, stop, _KINDS, _CALL_KIND):
        found = CALL
    if found < 0:
        return False
    spans[_TOOL, 0], spans[_TOOL, 1] = spans[found, 0], spans[found, 1]
    return True


@kernel
def _slot(
    data: NDArray[np.uint8],
    start: int,
    stop: int,
    level: int,
    names: NDArray[np.uint8],
    table: NDArray[np.int64],
) -> int:
    """The slot of the name ``data[start:stop]`` of an object at `level`, -1 if it has none."""
    for row in range(table.shape[0]):
        if table[row, 0] == level and _is(data, start, stop, names, row):
            return signed(table[row, 1])
    return -1


@kernel
def _hashed(
    data: NDArray[np.uint8], spans: NDArray[np.int64], slot: int, low: np.uint64, high: np.uint64
) -> np.uint64:
    """The hash of a slot's text, 0 where there is none or it is empty."""
    start, stop = spans[slot, 0], spans[slot, 1]
    if start < 0 or start == stop:
        return U(0)
    return siphash(data, start, stop, low, high)


@kernel
def read_links(
    data: NDArray[np.uint8],
    start: int,
    names: NDArray[np.uint8],
    table: NDArray[np.int64],
    outside: NDArray[np.uint8],
    key: tuple[np.uint64, np.uint64],
    moves: NDArray[np.int8],
    rows: NDArray[np.uint64],
    ids: NDArray[np.int64],
) -> tuple[int, int]:
    """Write a row to ``rows`` (n, WORDS) for each record that has an id, from byte `start` on.

    `data` is UTF-8, whole lines, each with its LF; `start` is the beginning of one. Where the id
    lies is written to ``ids`` (n, 2). `names` is a table of :func:`texts`, its row i being the name
    of slot ``table[i, 1]`` in objects at level ``table[i, 0]``. Records whose type is in `outside`,
    a table too, get no row. `moves` is ``json_moves.MOVES``.

    Returns the number of rows, and where reading ended: at the end, or at the beginning of a line
    that is not plain, or for which there is no room.
    """
    low, high = key
    spans = np.empty((_SLOTS, 2), np.int64)
    at, count = start, 0
    while at < data.size and count < rows.shape[0]:
        if data[at] == _LF:
            at += 1
            continue
        end = _line_end(data, at, names, table, moves, spans)
        if end < 0:
            break
        at = end
        if spans[ID, 0] < 0 or spans[ID, 0] == spans[ID, 1]:
            continue
        stands = True
        for row in range(outside.shape[0]):
            stands &= not _is(data, spans[TYPE, 0], spans[TYPE, 1], outside, row)
        if not stands:
            continue
        parent = _hashed(data, spans, PARENT, low, high)
        if parent == U(0):
            parent = _hashed(data, spans, OTHER_PARENT, low, high)
        rows[count, 0] = _hashed(data, spans, ID, low, high)
        rows[count, 1] = parent
        side = U(spans[SIDE, 0] >= 0)
        rows[count, 2] = _hashed(data, spans, ANSWER, low, high) >> U(1) << U(1) | side
        rows[count, 3] = _hashed(data, spans, _TOOL, low, high)
        ids[count, 0], ids[count, 1] = spans[ID, 0], spans[ID, 1]
        count += 1
    return count, at
