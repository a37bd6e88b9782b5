"""OpenCode's SQLite store from 1.2 on: tables ``session``, ``message``, ``part``.

The database is never written to. Where a ``-wal`` or ``-journal`` lies beside it, the newest turns
are in there, and SQLite would fold them in: then both are copied to a private folder first.
"""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import orjson

from snapcompact.errors import FormatError
from snapcompact.files import disk_errors
from snapcompact.history.blocks import Json, json_of
from snapcompact.history.conversations import chosen
from snapcompact.history.formats import Conversation
from snapcompact.history.formats.opencode_export import session
from snapcompact.history.report import Report
from snapcompact.history.salvage import salvage
from snapcompact.history.times import time_text

if TYPE_CHECKING:
    from snapcompact.history.formats import Head, Options
    from snapcompact.history.model import Message
    from snapcompact.history.source import Source

MAGIC = b"SQLite format 3\0"
MAX_VALUE_BYTES = 256 << 20
"""Longest text taken from a column."""

_BESIDE = ("-wal", "-journal")
_TABLES = ("session", "message", "part")
_TIMES = ("time_created", "created_at")
"""What the column is called now, and what it was called."""


def sniff(head: Head) -> bool:
    """A SQLite file; whose it is shows only when it is opened."""
    return head.data.startswith(MAGIC)


def read(source: Source, options: Options, report: Report) -> Iterator[Message]:
    """Every selected session by (time, id). Raises FormatError for a database of another kind."""
    with _opened(source, report) as database:
        listed = list(_sessions(database))
        for found in chosen(listed, options, report):
            yield from found.note
            key = found.body["id"]
            yield from session(found.body, _pairs(database, key, report), options, report)


def conversations(source: Source) -> tuple[Conversation, ...]:
    """All sessions by (time, id)."""
    with _opened(source, Report()) as database:
        return tuple(about for about, _ in _sessions(database))


@contextmanager
def _opened(source: Source, report: Report) -> Iterator[sqlite3.Connection]:
    with _private(source, report) as (path, options):
        uri = f"file:{quote(str(path.absolute()))}?{options}"
        try:
            with closing(sqlite3.connect(uri, uri=True)) as database:
                _guard(database)
                _check(database, source.name)
                yield database
        # The second: sqlite3 cannot decode its own message about a broken schema.
        except (sqlite3.Error, UnicodeDecodeError) as error:
            raise FormatError(f"{source.name}: a database that cannot be read: {error}") from error


@contextmanager
def _private(source: Source, report: Report) -> Iterator[tuple[Path, str]]:
    """A file to open and how: the source itself, or a copy where SQLite might change something."""
    beside = [] if source.path is None else [Path(f"{source.path}{end}") for end in _BESIDE]
    beside = [path for path in beside if path.is_file() and path.stat().st_size]
    if source.path is not None and not beside:
        if source.head(20)[18:20] == b"\x02\x02":
            report.notes.append("no -wal beside this database: if it was in use, turns are missing")
        yield source.path, "mode=ro&immutable=1"
        return
    with tempfile.TemporaryDirectory(prefix="snapcompact-") as folder:
        copy = Path(folder) / "copy.db"
        with disk_errors("copy", source.name):
            if source.path is None:
                copy.write_bytes(source.data)
            else:
                shutil.copyfile(source.path, copy)
            for path, end in ((path, path.name[path.name.rindex("-") :]) for path in beside):
                shutil.copyfile(path, f"{copy}{end}")
        yield copy, "mode=rw" if beside else "mode=ro&immutable=1"


def _guard(database: sqlite3.Connection) -> None:
    """Let a hostile file run nothing of its own and make no value too long to hold."""
    database.text_factory = bytes
    database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAX_VALUE_BYTES)
    for pragma in ("trusted_schema=OFF", "cell_size_check=ON", "query_only=ON"):
        database.execute(f"PRAGMA {pragma}")


def _check(database: sqlite3.Connection, name: str) -> None:
    """Raise FormatError unless the three are plain tables: a view or virtual table runs code."""
    rows = database.execute("SELECT name, type, sql FROM sqlite_master")
    kinds = {bytes(row[0]): (row[1], row[2] or b"") for row in rows}
    for table in _TABLES:
        kind, sql = kinds.get(table.encode(), (b"", b""))
        if kind != b"table" or bytes(sql).upper().startswith(b"CREATE VIRTUAL"):
            raise FormatError(f"{name}: a SQLite database without OpenCode's table {table!r}")


def _columns(database: sqlite3.Connection, table: str) -> set[str]:
    return {
        bytes(row[1]).decode("utf-8", "replace")
        for row in database.execute(f"PRAGMA table_info({table})")
    }


def _time(database: sqlite3.Connection, table: str) -> str:
    found = _columns(database, table)
    return next((column for column in _TIMES if column in found), "rowid")


def _sessions(database: sqlite3.Connection) -> Iterator[tuple[Conversation, Json]]:
    """Each session as the tools' own export describes it."""
    known = _columns(database, "session")
    wanted = [
        c for c in ("id", "title", "directory", "version", "revert", "parent_id") if c in known
    ]
    time = _time(database, "session")
    rows = database.execute(f"SELECT {time}, {', '.join(wanted)} FROM session ORDER BY {time}, id")
    for created, *values in rows:
        info: Json = {key: _text(value) for key, value in zip(wanted, values, strict=True)}
        info["revert"] = json_of(_json(info.get("revert", "")))
        title = info.get("title", "")
        if info.get("parent_id"):
            title = f"{title} (sub-session of {info['parent_id']})"
        yield Conversation(info["id"], title, time_text(created)), info


def _pairs(
    database: sqlite3.Connection, session_id: str, report: Report
) -> Iterator[tuple[Json, list[Any]]]:
    """(info, parts) of a session's messages by (time, id), the parts of each by id.

    Two cursors in the same order are merged, so that one message is in memory at a time and
    no index is needed.
    """
    time = _time(database, "message")
    key = session_id.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    heads = database.execute(
        f"SELECT id, data FROM message WHERE session_id = ? ORDER BY {time}, id", (key,)
    )
    tails = database.execute(
        "SELECT m.id, p.id, p.data FROM message m JOIN part p ON p.message_id = m.id"
        f" WHERE m.session_id = ? ORDER BY m.{time}, m.id, p.id",
        (key,),
    )
    grouped = groupby(tails, key=lambda row: row[0])
    head, group = None, next(grouped, None)
    for head in heads:
        parts: list[Any] = []
        if group is not None and group[0] == head[0]:
            parts = [_object(row[2], row[1], report) for row in group[1]]
            group = next(grouped, None)
        yield _object(head[1], head[0], report), parts


def _object(data: Any, identity: Any, report: Report) -> Json:
    """The JSON of a row with its id put back in; empty where it is none, which is counted."""
    value = _json(_text(data))
    if not isinstance(value, dict):
        report.damage.add("bad-line", 0)
        value = {}
    return {**value, "id": _text(identity)}


def _json(text: str) -> Any:
    if not text:
        return None
    try:
        return orjson.loads(text)
    except (orjson.JSONDecodeError, UnicodeEncodeError):
        found = salvage(text.encode("utf-8", "surrogateescape")).values
        return found[0] if found else None


def _text(value: Any) -> str:
    if isinstance(value, bytes):
        return value.decode("utf-8", "surrogateescape")
    return "" if value is None else str(value)
