"""Where the reading of a session can go on once its file has grown, without reading it all again.

While a file is read, its reader leaves marks on a :class:`Trail`; the oldest one kept becomes the
:class:`Point` that an archive remembers. Reading from there gives the messages that a reading of
the whole file would give, or raises :class:`CannotResume`; then the whole is read.
"""

from __future__ import annotations

import hashlib
from collections import deque
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from snapcompact.errors import SnapcompactError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

ID_BYTES = 8
MOST_IDS = 1 << 23
"""64 MB of them; a file of more records is read anew."""

MARK_STEPS = 16
"""Steps between marks."""
MARKS_BEHIND = 4
"""The point is so many marks before the end: 48 to 64 steps, so that an answer, or results of
parallel calls, that are still coming in lie behind it."""
MARKS_WARM = 12
"""Marks before the point that a reader begins at which knows what it last saw, not all."""

MOST_TIPS = 64
MOST_LEFT = 4096
"""Newest records of trees, and calls and answers of left branches, that a point holds."""

_MOST = 1 << 62


class CannotResume(SnapcompactError):
    """Reading cannot go on from a point: only a reading of the whole file tells what is there."""

    code = "cannot-resume"


class OlderCall(CannotResume):
    """A result that answers no call known from the rows that were read; more of them may do."""


class Mark(NamedTuple):
    """The state of a reading before one record: its place, and what was counted so far."""

    offset: int
    line: int
    rows: int
    """Records before it that have an id."""
    tips: tuple[str, ...]
    """Ids of the newest record of each tree."""
    skipped: dict[str, int]
    damage: dict[str, int]
    words: str = ""
    """What else the format's reader has to remember, such as a model's name."""


@dataclass(frozen=True, slots=True)
class Point:
    """A mark to go on from, and what the reading behind it must not meet again."""

    offset: int
    line: int
    rows: int = 0
    tips: tuple[str, ...] = ()
    skipped: dict[str, int] = field(default_factory=dict)
    damage: dict[str, int] = field(default_factory=dict)
    words: str = ""
    left: tuple[str, ...] = ()
    """Ids of answers and calls on left branches."""
    answers: tuple[str, ...] = ()
    """Ids of answers that began before the mark and could still be continued."""
    title: int = 0
    """Rank of the session's title (see ``titles.py``)."""
    warm_offset: int = 0
    warm_line: int = 0
    """Where the reader begins so as to know at the point what came before; 0: at the point."""

    def to_json(self) -> dict[str, Any]:
        """As an object of JSON, empty fields left out."""
        return {key: value for key, value in asdict(self).items() if value}


def point_from_json(raw: Mapping[str, Any]) -> Point:
    """The point that :meth:`Point.to_json` wrote; CannotResume where `raw` is none."""
    empty = asdict(Point(0, 0))
    found = {name: raw.get(name, value) for name, value in empty.items()}
    if not found["offset"]:
        raise CannotResume("the archive has no point")
    for name, value in empty.items():
        if not _like(found[name], value):
            raise CannotResume(f"the archive's {name} is no point's")
    checked: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in found.items()
    }
    return Point(**checked)


def _like(value: object, model: object) -> bool:
    """Whether `value` is of the kind of `model`: a count, text, texts, or counts by name."""
    if isinstance(model, tuple):
        return isinstance(value, list | tuple) and all(isinstance(text, str) for text in value)
    if isinstance(model, dict):
        return isinstance(value, dict) and all(map(_is_count, value.values()))
    return _is_count(value) if isinstance(model, int) else isinstance(value, str)


def _is_count(value: object) -> bool:
    return type(value) is int and 0 <= value < _MOST


class Ids:
    """Ids of records as 64-bit hashes, the same in every process, in order: 8 bytes each."""

    def __init__(self) -> None:
        self._hashes = bytearray()
        self.full = False
        """Whether there were more than are held."""

    def __len__(self) -> int:
        return len(self._hashes) // ID_BYTES

    def extend(self, texts: Iterable[bytes]) -> None:
        """The next ids, as ``links.encoded`` gives them."""
        for text in texts:
            self._hashes += hashlib.blake2b(text, digest_size=ID_BYTES).digest()
        if len(self) > MOST_IDS:
            self.full = True
            del self._hashes[MOST_IDS * ID_BYTES :]

    def data(self, start: int, stop: int) -> bytes:
        """The hashes `start` up to `stop`."""
        return bytes(self._hashes[start * ID_BYTES : stop * ID_BYTES])

    def meet(self, blocks: Iterable[bytes]) -> bool:
        """Whether one of them is in `blocks`, pieces of what :meth:`data` gave."""
        import numpy as np  # few who read sessions come here

        mine = np.frombuffer(self._hashes, "<u8")
        begins = np.zeros(1 << 16, np.bool_)  # of hashes: one look spares most of the search
        begins[mine >> np.uint64(48)] = True
        for block in blocks:
            theirs = np.frombuffer(block, "<u8")
            near = theirs[begins[theirs >> np.uint64(48)]]
            if np.isin(near, mine).any():
                return True
        return False


class Trail:
    """What one reading leaves behind for the next, see the module's head."""

    def __init__(self, begin: int = 0) -> None:
        self.begin = begin
        """Records with an id before this reading's beginning."""
        self.ids = Ids()
        """Of the records from there on."""
        self.marks: deque[Mark] = deque(maxlen=MARKS_WARM + MARKS_BEHIND)
        self.point: Point | None = None
        """Where the next reading may go on; known once this one has ended."""
        self._until_next = 0

    @property
    def last(self) -> Mark:
        """The mark to go on from; there must be one."""
        return self.marks[-min(MARKS_BEHIND, len(self.marks))]

    def due(self) -> bool:
        """Whether it is time for a mark; asked at each place that could have one."""
        self._until_next -= 1
        if self._until_next > 0:
            return False
        self._until_next = MARK_STEPS
        return True
