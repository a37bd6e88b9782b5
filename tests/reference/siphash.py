"""SipHash, straight from the paper (Aumasson, Bernstein 2012): the twin of the kernel's."""

from __future__ import annotations

_MASK = (1 << 64) - 1


def siphash(data: bytes, key: bytes, *, rounds: int = 1, last: int = 3) -> int:
    """The hash of `data` under `key` (16 bytes), with `rounds` a word and `last` at the end."""
    low, high = int.from_bytes(key[:8], "little"), int.from_bytes(key[8:], "little")
    v = [
        low ^ 0x736F6D6570736575,
        high ^ 0x646F72616E646F6D,
        low ^ 0x6C7967656E657261,
        high ^ 0x7465646279746573,
    ]
    padded = data + bytes(7 - len(data) % 8) + bytes([len(data) & 0xFF])
    for at in range(0, len(padded), 8):
        word = int.from_bytes(padded[at : at + 8], "little")
        v[3] ^= word
        for _ in range(rounds):
            _round(v)
        v[0] ^= word
    v[2] ^= 0xFF
    for _ in range(last):
        _round(v)
    return v[0] ^ v[1] ^ v[2] ^ v[3]


def _turn(x: int, bits: int) -> int:
    return (x << bits | x >> 64 - bits) & _MASK


def _round(v: list[int]) -> None:
    v[0] = (v[0] + v[1]) & _MASK
    v[1] = _turn(v[1], 13) ^ v[0]
    v[0] = _turn(v[0], 32)
    v[2] = (v[2] + v[3]) & _MASK
    v[3] = _turn(v[3], 16) ^ v[2]
    v[0] = (v[0] + v[3]) & _MASK
    v[3] = _turn(v[3], 21) ^ v[0]
    v[2] = (v[2] + v[1]) & _MASK
    v[1] = _turn(v[1], 17) ^ v[2]
    v[2] = _turn(v[2], 32)
