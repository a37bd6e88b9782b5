"""Eight bytes of an array as one number, at any offset.

Written byte by byte; LLVM joins the eight into one load or store of 64 bits (seen in the machine
code with numba 0.68), so that this is both plain and as fast as the machine. Offsets are
``uint64``: a signed one would be tested for being negative each time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numba import types
from numba.extending import intrinsic, overload

from snapcompact_kernels._jit import kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

U = np.uint64


@kernel
def load_little(data: NDArray[np.uint8], at: np.uint64) -> np.uint64:
    """``data[at : at + 8]`` as a number, the first byte lowest."""
    return (
        U(data[at])
        | U(data[at + U(1)]) << U(8)
        | U(data[at + U(2)]) << U(16)
        | U(data[at + U(3)]) << U(24)
        | U(data[at + U(4)]) << U(32)
        | U(data[at + U(5)]) << U(40)
        | U(data[at + U(6)]) << U(48)
        | U(data[at + U(7)]) << U(56)
    )


@kernel
def store_little(data: NDArray[np.uint8], at: np.uint64, value: np.uint64) -> None:
    """Write `value` to ``data[at : at + 8]``, the lowest byte first."""
    data[at] = np.uint8(value & U(255))
    data[at + U(1)] = np.uint8(value >> U(8) & U(255))
    data[at + U(2)] = np.uint8(value >> U(16) & U(255))
    data[at + U(3)] = np.uint8(value >> U(24) & U(255))
    data[at + U(4)] = np.uint8(value >> U(32) & U(255))
    data[at + U(5)] = np.uint8(value >> U(40) & U(255))
    data[at + U(6)] = np.uint8(value >> U(48) & U(255))
    data[at + U(7)] = np.uint8(value >> U(56))


@kernel
def swap(value: np.uint64) -> np.uint64:
    """`value` with its eight bytes the other way round."""
    value = (value & U(0x00FF00FF00FF00FF)) << U(8) | value >> U(8) & U(0x00FF00FF00FF00FF)
    value = (value & U(0x0000FFFF0000FFFF)) << U(16) | value >> U(16) & U(0x0000FFFF0000FFFF)
    return value << U(32) | value >> U(32)


def low_zeros(value: np.uint64) -> int:
    """How many bits of `value` below its lowest 1 are 0; `value` is not 0."""
    return (int(value) & -int(value)).bit_length() - 1


def high_zeros(value: np.uint64) -> int:
    """How many bits of `value`, a number of 64, above its highest 1 are 0; `value` is not 0."""
    return 64 - int(value).bit_length()


@intrinsic
def _count_low(typing: Any, value: Any) -> Any:
    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], context.get_constant(types.boolean, True))

    return types.uint64(types.uint64), build


@intrinsic
def _count_high(typing: Any, value: Any) -> Any:
    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctlz(arguments[0], context.get_constant(types.boolean, True))

    return types.uint64(types.uint64), build


@overload(low_zeros)
def _low_zeros(value: Any) -> Any:
    def compiled(value: Any) -> Any:
        return _count_low(value)  # type: ignore[call-arg]  # numba gives the first itself

    return compiled


@overload(high_zeros)
def _high_zeros(value: Any) -> Any:
    def compiled(value: Any) -> Any:
        return _count_high(value)  # type: ignore[call-arg]  # numba gives the first itself

    return compiled


@kernel
def equal_ahead(one: np.uint64, other: np.uint64) -> np.uint64:
    """In how many of their lowest bytes both numbers are equal, 7 at most."""
    return U(low_zeros(one ^ other | U(1 << 63))) >> U(3)


@kernel
def equal_behind(one: np.uint64, other: np.uint64) -> np.uint64:
    """In how many of their highest bytes both numbers are equal, 7 at most."""
    return U(high_zeros(one ^ other | U(1))) >> U(3)


@kernel
def exchange(
    low: np.uint64, high: np.uint64, mask: np.uint64, shift: np.uint64
) -> tuple[np.uint64, np.uint64]:
    """Both numbers, the bits of `low` above `mask` exchanged for those of `high` within it."""
    return (low & mask) | (high & mask) << shift, low >> shift & mask | (high & ~mask)


SQUARES = 16
"""Squares turned at a time: several go through the machine's wide registers at once. Fewer are
unrolled by the compiler, number by number, and take four times as long."""


@kernel
def transpose(source: NDArray[np.uint64], target: NDArray[np.uint64]) -> None:
    """Rows and columns of SQUARES squares of 8 numbers of 8 bytes swapped.

    Number i of square x is ``source[i * SQUARES + x]``; its byte j becomes byte i of number j of
    that square in `target`.
    """
    half, quarter, eighth = U(0x00000000FFFFFFFF), U(0x0000FFFF0000FFFF), U(0x00FF00FF00FF00FF)
    size = U(SQUARES)
    for square in range(SQUARES):
        x = U(square)
        a, e = exchange(source[x], source[x + U(4) * size], half, U(32))
        b, f = exchange(source[x + size], source[x + U(5) * size], half, U(32))
        c, g = exchange(source[x + U(2) * size], source[x + U(6) * size], half, U(32))
        d, h = exchange(source[x + U(3) * size], source[x + U(7) * size], half, U(32))
        a, c = exchange(a, c, quarter, U(16))
        b, d = exchange(b, d, quarter, U(16))
        e, g = exchange(e, g, quarter, U(16))
        f, h = exchange(f, h, quarter, U(16))
        target[x], target[x + size] = exchange(a, b, eighth, U(8))
        target[x + U(2) * size], target[x + U(3) * size] = exchange(c, d, eighth, U(8))
        target[x + U(4) * size], target[x + U(5) * size] = exchange(e, f, eighth, U(8))
        target[x + U(6) * size], target[x + U(7) * size] = exchange(g, h, eighth, U(8))
