"""A session file as entries, and a compaction written back, the same for every format.

A writer module has two functions and knows one tool's files:

- ``load(session) -> Stored``: the active path as entries, each an id of the tool's own.
- ``write(stored, change) -> Iterator[bytes]``: the whole new file, in pieces.

What a tool appends, we append: the old bytes are copied, so nothing of the past is lost. Where the
kept tail cannot stay in place (an entry pinned, a result cut, pages to be shown before it) its
entries are appended once more, as copies with ids of their own.
"""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Protocol

from snapcompact.compaction.entries import Entry, Files, Item
from snapcompact.history.jsontext import json_text
from snapcompact.history.model import Message, Text, ToolResult

if TYPE_CHECKING:
    from snapcompact.compaction.prepare import Partition
    from snapcompact.history.links import Link
    from snapcompact.history.session import Session
    from snapcompact.llm.contract import Part

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Stored:
    """A session as the engine sees it, and what its writer needs to know."""

    session: Session
    entries: tuple[Entry, ...]
    """The active path, marks included, in file order."""
    head: tuple[Message, ...] = ()
    """System prompts in front: no part of what is compacted, always kept."""
    records: Mapping[str, tuple[Json, ...]] = field(default_factory=dict)
    """The file's records by entry id."""
    document: Any = None
    """The whole file where it is one JSON value."""
    facts: Mapping[str, Any] = field(default_factory=dict)
    """What new records of this session must repeat."""
    taken: frozenset[str] = frozenset()
    """Ids in use on all branches."""
    digest: str = ""
    """SHA-256 (hex) of the file these come from."""


@dataclass(frozen=True, slots=True)
class Change:
    """A compaction to be written. Every item of `partition` was decided over by id."""

    partition: Partition
    first_kept: str
    summary: str
    pieces: tuple[Part, ...] = ()
    """Pages and the words that go with them; they follow the summary."""
    native: tuple[Json, ...] = ()
    """Items of the provider's own compaction, in place of a summary."""
    carried: tuple[Item, ...] = ()
    """Summarised, and kept word for word as well (skill texts)."""
    edited: Mapping[str, Message] = field(default_factory=dict)
    """Kept messages with a part cut, by entry id."""
    tokens_before: int = 0
    tokens_after: int = 0
    files: Files = field(default_factory=Files)
    short: str = ""
    method: str = ""
    automatic: bool = False
    time: datetime = datetime(1970, 1, 1, tzinfo=UTC)

    @property
    def in_place(self) -> bool:
        """True where the kept tail can stay where it is, behind a plain summary."""
        part = self.partition
        moved = part.pinned or part.before or self.carried or self.pieces or self.native
        return not moved and not any(item.id in self.edited for item in self.partition.kept)

    @property
    def shown(self) -> tuple[Item, ...]:
        """What stands behind the summary word for word, the kept tail last."""
        return (*self.carried, *self.partition.pinned, *self.partition.kept)

    @property
    def removed(self) -> int:
        """Messages that the summary replaces."""
        return len(self.partition.summarised)

    @property
    def iso_time(self) -> str:
        """``time`` as most tools write it, in UTC with milliseconds."""
        utc = self.time.astimezone(UTC)
        return utc.strftime("%Y-%m-%dT%H:%M:%S.") + f"{utc.microsecond // 1000:03d}Z"


class Writer(Protocol):
    """What a writer module offers; see the module's head."""

    def load(self, session: Session) -> Stored:
        """The session as entries."""

    def write(self, stored: Stored, change: Change) -> Iterator[bytes]:
        """The new file."""


def fresh_ids(seed: str, taken: Iterable[str], width: int) -> Iterator[str]:
    """Ids of `width` hex digits that are not `taken`; the same for the same `seed`."""
    used = set(taken)
    number = 0
    while True:
        number += 1
        made = hashlib.sha256(f"{seed}\0{number}".encode()).hexdigest()[:width]
        if made not in used:
            used.add(made)
            yield made


def noting(link: Callable[[Json], Link | None], taken: set[str]) -> Callable[[Json], Link | None]:
    """`link`, which adds the id of every record, on whatever branch, to `taken`."""

    def noted(record: Json) -> Link | None:
        place = link(record)
        if place is not None:
            taken.add(place.id)
        return place

    return noted


def seed_of(stored: Stored, change: Change) -> str:
    """What new ids are made from: where the session ends, and what is said of it."""
    last = stored.entries[-1].id if stored.entries else ""
    return f"{last}\0{change.iso_time}\0{change.summary}"


def source_bytes(stored: Stored) -> Iterator[bytes]:
    """The file as it is, unpacked, ending in a line end."""
    last = b"\n"
    for block in stored.session.source.blocks():
        yield block
        last = block[-1:]
    if last != b"\n":
        yield b"\n"


def line(record: Json) -> bytes:
    """`record` as one line of JSON Lines."""
    return json_text(record) + b"\n"


SetResult = Callable[[Json, ToolResult, str], None]
"""Put `text` in place of what the tool result held, inside one tool's record."""


def edited_record(record: Json, before: Message, after: Message, set_result: SetResult) -> Json:
    """`record` with the parts in which `after` differs from `before`; a copy."""
    made = copy.deepcopy(record)
    for old, new in zip(before.blocks, after.blocks, strict=True):
        if old == new:
            continue
        if isinstance(old, ToolResult) and isinstance(new, ToolResult):
            set_result(made, old, new.text)
        elif isinstance(old, Text) and isinstance(new, Text):
            _set_text(made, old.text, new.text)
    return made


def recorded(stored: Stored, change: Change, entry_id: str, set_result: SetResult) -> Json:
    """A copy of the record of an entry that is kept, its parts cut where `change` says so."""
    (record,) = stored.records[entry_id]
    if entry_id not in change.edited:
        return dict(record)
    message = next(e.message for e in stored.entries if e.id == entry_id)
    assert message is not None
    return edited_record(record, message, change.edited[entry_id], set_result)


def _set_text(value: Any, old: str, new: str) -> None:
    """Replace every string that is `old` inside `value`."""
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, inner in list(items):
        if inner == old:
            value[key] = new
        elif isinstance(inner, dict | list):
            _set_text(inner, old, new)
