"""A fair sample of a text read once: blocks drawn from all of it, seeded."""

from __future__ import annotations

import random

BLOCK_BYTES = 4 << 10
BLOCKS = 16
"""The interval of a rate is then a quarter of it on mixed transcripts; 64 blocks halve that."""


class Sampler:
    """Keeps up to `blocks` blocks of the text fed to it, each as likely as any other.

    Reservoir sampling, Vitter's algorithm R; memory is that of the blocks.
    """

    def __init__(self, blocks: int = BLOCKS, seed: int = 0) -> None:
        self._most = blocks
        self._random = random.Random(seed)
        self._kept: list[tuple[int, bytes]] = []
        self._count = 0
        self._rest = bytearray()

    def feed(self, text: bytes) -> None:
        """Take `text`, which follows what was fed before."""
        self._rest += text
        at = 0
        while len(self._rest) - at >= BLOCK_BYTES:
            self._offer(bytes(self._rest[at : at + BLOCK_BYTES]))
            at += BLOCK_BYTES
        del self._rest[:at]

    def result(self) -> tuple[bytes, ...]:
        """The blocks, in the order of the text, cut to whole lines where they have any."""
        if self._rest:
            self._offer(bytes(self._rest))
            self._rest.clear()
        return tuple(_whole_lines(block, first=number == 0) for number, block in sorted(self._kept))

    def _offer(self, block: bytes) -> None:
        number = self._count
        self._count += 1
        if len(self._kept) < self._most:
            self._kept.append((number, block))
        elif (place := self._random.randrange(self._count)) < self._most:
            self._kept[place] = number, block


def _whole_lines(block: bytes, *, first: bool) -> bytes:
    """`block` from its first line start on; never cut to less than half."""
    start = 0 if first else block.find(b"\n") + 1
    if start <= len(block) // 2:
        block = block[start:]
    return block if first else block.lstrip(bytes(range(0x80, 0xC0)))
