"""Slow, obvious twins of the deflate kernels' parts."""

from __future__ import annotations

import heapq


def huffman_cost(counts: list[int]) -> int:
    """Bits that the best code without a limit takes for symbols that occur `counts` times."""
    heap = list(counts)
    heapq.heapify(heap)
    total = 0
    while len(heap) > 1:
        both = heapq.heappop(heap) + heapq.heappop(heap)
        total += both
        heapq.heappush(heap, both)
    return total


def canonical_codes(lengths: list[int]) -> list[str]:
    """The code of each symbol as a string of 0 and 1, first bit first: RFC 1951, 3.2.2, in words.

    Shorter codes come before longer ones, and symbols of one length in their order.
    """
    codes = [""] * len(lengths)
    code = 0
    before = 0
    for length, symbol in sorted((length, symbol) for symbol, length in enumerate(lengths)):
        code <<= length - before
        before = length
        codes[symbol] = f"{code:0{length}b}"
        code += 1
    return codes
