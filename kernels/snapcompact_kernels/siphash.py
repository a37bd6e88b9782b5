"""SipHash-1-3 of short texts: 64 bits that nobody can make collide who does not know the key.

J.-P. Aumasson, D. J. Bernstein: SipHash, a fast short-input PRF (2012), with one round a word and
three at the end, as Python's own ``hash``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from snapcompact_kernels._jit import kernel
from snapcompact_kernels.words import load_little

if TYPE_CHECKING:
    from numpy.typing import NDArray

U = np.uint64
_State = tuple[np.uint64, np.uint64, np.uint64, np.uint64]


@kernel
def _turned(value: np.uint64, bits: int) -> np.uint64:
    return value << U(bits) | value >> U(64 - bits)


@kernel
def _round(a: np.uint64, b: np.uint64, c: np.uint64, d: np.uint64) -> _State:
    a += b
    b = _turned(b, 13) ^ a
    a = _turned(a, 32)
    c += d
    d = _turned(d, 16) ^ c
    a += d
    d = _turned(d, 21) ^ a
    c += b
    b = _turned(b, 17) ^ c
    return a, b, _turned(c, 32), d


@kernel
def siphash(
    data: NDArray[np.uint8], start: int, stop: int, low: np.uint64, high: np.uint64
) -> np.uint64:
    """The hash of ``data[start:stop]`` under the key of the words `low` and `high`."""
    a, b = low ^ U(0x736F6D6570736575), high ^ U(0x646F72616E646F6D)
    c, d = low ^ U(0x6C7967656E657261), high ^ U(0x7465646279746573)
    at = start
    while at + 8 <= stop:
        word = load_little(data, U(at))
        d ^= word
        a, b, c, d = _round(a, b, c, d)
        a ^= word
        at += 8
    word = U(stop - start) << U(56)
    for i in range(stop - at):
        word |= U(data[at + i]) << U(8 * i)
    d ^= word
    a, b, c, d = _round(a, b, c, d)
    a ^= word
    c ^= U(255)
    for _ in range(3):
        a, b, c, d = _round(a, b, c, d)
    return a ^ b ^ c ^ d
