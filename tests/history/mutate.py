"""Damage done to real session files, the way disks, crashes and enemies do it. Seeded."""

from __future__ import annotations

import re
from collections.abc import Callable
from random import Random

_VALUES = (
    b"null", b"0", b"-1", b"true", b'""', b'"x"', b"[]", b"{}", b"[null]", b'{"type":"text"}',
    b"1e999", b"NaN", b"123456789012345678901234567890", b'"\\ud83d"', b"[[[[[]]]]]",
)  # fmt: skip
_SCALAR = re.compile(rb'(?<=[:\[,])(?:"(?:[^"\\]|\\.){0,200}"|-?\d+(?:\.\d+)?|true|false|null)')


def flip_bits(data: bytes, random: Random) -> bytes:
    """Some bits turned over."""
    out = bytearray(data)
    for _ in range(random.randint(1, 8)):
        if out:
            out[random.randrange(len(out))] ^= 1 << random.randrange(8)
    return bytes(out)


def cut(data: bytes, random: Random) -> bytes:
    """A piece gone: the end, the start, or something between."""
    low, high = sorted(random.randrange(len(data) + 1) for _ in range(2))
    return random.choice([data[:low], data[high:], data[:low] + data[high:]])


def zero(data: bytes, random: Random) -> bytes:
    """A run of NULs written over or between."""
    at, size = random.randrange(len(data) + 1), random.randint(1, 5000)
    return data[:at] + b"\0" * size + data[at + random.choice([0, size]) :]


def join_lines(data: bytes, random: Random) -> bytes:
    """Line ends gone, lines doubled, lines in another order."""
    lines = data.split(b"\n")
    for _ in range(random.randint(1, 4)):
        at = random.randrange(len(lines))
        match random.randrange(3):
            case 0 if at:
                lines[at - 1 : at + 1] = [lines[at - 1] + lines[at]]
            case 1:
                lines.insert(random.randrange(len(lines)), lines[at])
            case _:
                lines.append(lines.pop(at))
    return b"\n".join(lines)


def retype(data: bytes, random: Random) -> bytes:
    """JSON values replaced by values of other types."""
    spots = list(_SCALAR.finditer(data))
    for spot in sorted(random.sample(spots, min(len(spots), 6)), key=lambda m: -m.start()):
        data = data[: spot.start()] + random.choice(_VALUES) + data[spot.end() :]
    return data


def rename(data: bytes, random: Random) -> bytes:
    """One key named as another everywhere."""
    keys = sorted(set(re.findall(rb'"(\w{1,30})":', data)))
    if len(keys) > 1:
        old, new = random.sample(keys, 2)
        data = data.replace(b'"%s":' % old, b'"%s":' % new)
    return data


DAMAGES: tuple[Callable[[bytes, Random], bytes], ...] = (
    flip_bits, cut, zero, join_lines, retype, rename,
)  # fmt: skip


def mutate(data: bytes, random: Random) -> bytes:
    """`data` with one to three damages."""
    for _ in range(random.randint(1, 3)):
        data = random.choice(DAMAGES)(data, random)
    return data
