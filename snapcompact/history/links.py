"""Where records stand in their session's tree; of large files read by a kernel.

That makes no objects and takes a sixth of the time of reading record by record; lines that it
leaves are read so. Both ways plant the same tree.
"""

from __future__ import annotations

import os
import sys
from codecs import getincrementaldecoder
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson

from snapcompact.history.records import line_blocks
from snapcompact.history.report import DamageReport
from snapcompact.history.salvage import salvage

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray

    from snapcompact.history.branch import Tree
    from snapcompact.history.resume import Ids
    from snapcompact.history.source import Source

LEAST_BYTES = 1 << 21
"""Of smaller files the kernel takes longer to load than it saves."""
LEAST_BYTES_COLD = 1 << 24
"""The same where nothing has loaded numba yet."""
_MOST_ROWS = 4096
"""Rows made at a time."""
_PIECE_BYTES = 1 << 16


class Link(NamedTuple):
    """A record's place in the tree; see :meth:`snapcompact.history.branch.Tree.add`."""

    id: str
    parent: str = ""
    answer: str = ""
    tool: str = ""
    side: bool = False


@dataclass(frozen=True, slots=True)
class LinkNames:
    """Under which names a format's records say what their :class:`Link` holds; empty for none.

    Texts of the record itself, but for `side`, which is true or not, and `message`, an object in
    Anthropic's form: with the answer's ``id``, and blocks as its ``content``.
    """

    id: str
    parent: str
    other_parent: str = ""
    """Used where the parent is absent or empty."""
    side: str = ""
    message: str = ""
    outside: tuple[str, ...] = ()
    """Values of ``type`` of the records that stand outside the tree though they have an id."""


def pays(source: Source) -> bool:
    """Whether `source` is so large that :func:`plant` is faster than reading record by record."""
    if source.size() < (LEAST_BYTES if "numba" in sys.modules else LEAST_BYTES_COLD):
        return False
    from snapcompact_kernels._jit import config

    return not config.DISABLE_JIT


def plant(
    tree: Tree,
    ids: Ids | None,
    source: Source,
    names: LinkNames,
    link: Callable[[dict[str, Any]], Link | None],
) -> None:
    """Add the links of all records of `source` to the empty `tree`, and their ids to `ids`.

    `link` gives a record's link, as `names` say it. Raises DiskError.
    """
    import numpy as np

    from snapcompact_kernels.json_moves import MOVES
    from snapcompact_kernels.links import WORDS, read_links

    key = np.frombuffer(os.urandom(16), np.uint64)
    tree.hashed = _Hash(key[0], key[1])
    tables = _tables(names)
    rows, spans = np.empty((_MOST_ROWS, WORDS), np.int64), np.empty((_MOST_ROWS, 2), np.int64)
    for block in line_blocks(source, DamageReport()):
        data = block.data + b"\n"
        array = np.frombuffer(data, np.uint8)
        at, plain = 0, _is_utf8(data)
        while at < len(data):
            count = 0
            if plain:
                count, at = read_links(
                    array, at, *tables, (key[0], key[1]), MOVES, rows.view(np.uint64), spans
                )
                tree.extend(rows[:count])
                if ids is not None:
                    ids.extend(data[start:stop] for start, stop in spans[:count].tolist())
            if at < len(data) and count < _MOST_ROWS:
                end = data.index(b"\n", at)
                for record in _objects(data[at:end]):
                    if (place := link(record)) is not None:
                        tree.add(*place)
                        if ids is not None:
                            ids.extend((encoded(place.id),))
                at = end + 1


def encoded(text: str) -> bytes:
    """The bytes of `text` that stand for it in hashes; whatever it holds."""
    return text.encode("utf-8", "surrogatepass")


class _Hash:
    """The kernel's hash of a text, as a number with a sign."""

    def __init__(self, low: np.uint64, high: np.uint64) -> None:
        self._key = low, high

    def __call__(self, text: str) -> int:
        import numpy as np

        from snapcompact_kernels.siphash import siphash

        data = np.frombuffer(encoded(text), np.uint8)
        return int(np.uint64(siphash(data, 0, data.size, *self._key)).astype(np.int64))


@cache
def _tables(
    names: LinkNames,
) -> tuple[NDArray[np.uint8], NDArray[np.int64], NDArray[np.uint8]]:
    """`names` as ``kernels links.read_links`` takes them: names, their levels and slots, types."""
    import numpy as np

    from snapcompact_kernels import links as k

    rows = [
        (names.id, k.RECORD_LEVEL, k.ID),
        (names.parent, k.RECORD_LEVEL, k.PARENT),
        (names.other_parent, k.RECORD_LEVEL, k.OTHER_PARENT),
        (names.side, k.RECORD_LEVEL, k.SIDE),
        ("type" if names.outside else "", k.RECORD_LEVEL, k.TYPE),
        (names.message, k.RECORD_LEVEL, k.MESSAGE),
        ("id", k.MESSAGE_LEVEL, k.ANSWER),
        ("content", k.MESSAGE_LEVEL, k.CONTENT),
        ("type", k.BLOCK_LEVEL, k.KIND),
        ("id", k.BLOCK_LEVEL, k.CALL),
        ("tool_use_id", k.BLOCK_LEVEL, k.RESULT),
    ]
    rows = [row for row in rows if row[0]]
    table = np.array([row[1:] for row in rows], np.int64)
    texts = k.texts(tuple(row[0].encode() for row in rows))
    return texts, table, k.texts(tuple(map(str.encode, names.outside)))


def _is_utf8(data: bytes) -> bool:
    """Whether `data` is UTF-8; a piece at a time, since texts of megabytes break up the memory."""
    if data.isascii():
        return True
    decoder = getincrementaldecoder("utf-8")()
    try:
        for at in range(0, len(data), _PIECE_BYTES):
            decoder.decode(data[at : at + _PIECE_BYTES])
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


def _objects(line: bytes) -> list[dict[str, Any]]:
    """The objects that ``records`` finds on `line`."""
    try:
        values = [orjson.loads(line)]
    except orjson.JSONDecodeError:
        values = salvage(line).values
    return [value for value in values if type(value) is dict]
