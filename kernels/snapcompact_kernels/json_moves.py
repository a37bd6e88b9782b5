"""JSON on one line, as a table: the state of a reader and the kind of a byte to its next state.

Only what every reader reads alike is in it: no exponents, no escapes of half a character. Anything
else leads to BAD. What a table cannot do alone, such as counting brackets, is a negative number.
"""

from __future__ import annotations

import numpy as np

LINE, VALUE, FIRST, NAME, FIRST_NAME, COLON, BEHIND = range(7)
"""At the beginning of a line; before a value, or the first of a list; before a name, or the first
of an object; behind a name; behind a value."""
TEXT, ESCAPE, HEX, HALF, HEX_2, HEX_3, HEX_4 = range(7, 14)
"""In a string; behind a backslash; before the digits of ``\\u``, HALF behind a first ``d``."""
MINUS, ZERO, DIGITS, POINT, DECIMALS = range(14, 19)
_LITERALS = {b"true": 19, b"false": 22, b"null": 26}
"""The state behind the first letter of each; one more a letter, BEHIND after the last."""
_STATES = 29

BAD, OPEN_OBJECT, OPEN_LIST, CLOSE_OBJECT, CLOSE_LIST, COMMA, OPEN_TEXT, CLOSE_TEXT, END = (
    -1,
    -2,
    -3,
    -4,
    -5,
    -6,
    -7,
    -8,
    -9,
)

_SPACES = b" \t\r"
_HEX = b"0123456789abcdefABCDEF"
_RULES: tuple[tuple[tuple[int, ...], bytes, int], ...] = (
    ((LINE,), b"{", OPEN_OBJECT),
    ((LINE,), b"\n", END),
    ((VALUE, FIRST), b"{", OPEN_OBJECT),
    ((VALUE, FIRST), b"[", OPEN_LIST),
    ((VALUE, FIRST, NAME, FIRST_NAME), b'"', OPEN_TEXT),
    ((VALUE, FIRST), b"-", MINUS),
    ((VALUE, FIRST, MINUS), b"0", ZERO),
    ((VALUE, FIRST, MINUS, DIGITS), b"123456789", DIGITS),
    ((DIGITS,), b"0", DIGITS),
    ((ZERO, DIGITS), b".", POINT),
    ((POINT, DECIMALS), b"0123456789", DECIMALS),
    ((FIRST, BEHIND, ZERO, DIGITS, DECIMALS), b"]", CLOSE_LIST),
    ((FIRST_NAME, BEHIND, ZERO, DIGITS, DECIMALS), b"}", CLOSE_OBJECT),
    ((BEHIND, ZERO, DIGITS, DECIMALS), b",", COMMA),
    ((BEHIND, ZERO, DIGITS, DECIMALS), _SPACES, BEHIND),
    ((BEHIND,), b"\n", END),
    ((COLON,), b":", VALUE),
    *(((state,), _SPACES, state) for state in (VALUE, FIRST, NAME, FIRST_NAME, COLON)),
    ((TEXT,), bytes(range(32, 256)), TEXT),
    ((TEXT,), b'"', CLOSE_TEXT),
    ((TEXT,), b"\\", ESCAPE),
    ((ESCAPE,), b'"\\/bfnrt', TEXT),
    ((ESCAPE,), b"u", HEX),
    ((HEX,), _HEX, HEX_2),
    ((HEX,), b"dD", HALF),
    ((HEX_2,), _HEX, HEX_3),
    ((HALF,), b"01234567", HEX_3),
    ((HEX_3,), _HEX, HEX_4),
    ((HEX_4,), _HEX, TEXT),
)
"""(states, bytes, next); a later one overrules an earlier."""


def _moves() -> np.ndarray[tuple[int, int], np.dtype[np.int8]]:
    """(states, 256) the next state for each byte."""
    moves = np.full((_STATES, 256), BAD, np.int8)
    for states, found, following in _RULES:
        moves[np.ix_(states, list(found))] = following
    for word, state in _LITERALS.items():
        moves[[VALUE, FIRST], word[0]] = state
        moves[range(state, state + len(word) - 1), list(word[1:])] = (
            *range(state + 1, state + len(word) - 1),
            BEHIND,
        )
    return moves


MOVES = _moves()
