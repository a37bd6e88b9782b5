"""Slow, obvious twin of snapcompact_kernels.features: one text, word by word."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from snapcompact.tokens.machine import machine

if TYPE_CHECKING:
    from snapcompact.tokens.table import Table

PIECE = 64
MULTIPLIER = 0x5851F42D4C957F2D
WORD_PLACES = 4


def words_of(data: bytes, table: Table) -> list[tuple[bytes, int]]:
    """Pre-tokens of `data`, each with the sum of its bytes' costs by ``rare_costs``."""
    return [(word, cost) for word, cost, _ in _walk(data, table)]


def count(data: bytes, table: Table, fast: bool) -> int:
    """Count of `data` in 1/256 token."""
    walked = _walk(data, table)
    if fast:
        return sum(by_bytes for _, _, by_bytes in walked)
    return sum(_word_cost(word, cost, table) for word, cost, _ in walked)


def prefix(data: bytes, cut: int, table: Table) -> int:
    """Count of data[:cut] in 1/256 token; a word that is cut gets its share, rounded down."""
    total = at = 0
    for word, by_bytes, _ in _walk(data, table):
        cost = _word_cost(word, by_bytes, table)
        if cut <= at + len(word):
            return total + int(Fraction(cost * (cut - at), len(word)))
        total += cost
        at += len(word)
    return total


def _walk(data: bytes, table: Table) -> list[tuple[bytes, int, int]]:
    signs, moves, rows = machine(table.style)
    kind, position, before = 0, -1, 0
    words: list[tuple[bytearray, list[int], list[int]]] = []
    for at, byte in enumerate(data):
        following = data[at + 1] if at + 1 < len(data) else ord("\n")
        symbol, klass = int(signs[byte]) >> 8, int(signs[byte]) & 15
        move = int(moves[kind << 8 | klass << 4 | int(signs[following]) & 15])
        kind = move >> 8
        goes_on = move & 127 != 0
        position = (position + 1) % 128 if goes_on else 0
        if position % PIECE == 0:
            words.append((bytearray(), [], []))
        cell = int(rows[kind << 7 | position]) + (before << 7 | symbol)
        word, rare, common = words[-1]
        word.append(byte)
        rare.append(int(table.rare_costs[cell]))
        common.append(int(table.costs[cell]))
        before = symbol
    return [(bytes(word), sum(rare), sum(common)) for word, rare, common in words]


def _word_cost(word: bytes, by_bytes: int, table: Table) -> int:
    value = 0
    for byte in word:
        value = (value + byte + 1) * MULTIPLIER % (1 << 64)
    bucket, tag = value >> 48, (value >> 40) & 255
    for entry in table.words[bucket * WORD_PLACES : (bucket + 1) * WORD_PLACES]:
        if int(entry) >> 8 == tag and int(entry) & 255:
            code = int(entry) & 255
            return code * 8 if code <= 128 else 128 * 8 + (code - 128) * 64
    return by_bytes
