"""OpenCode's database."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from snapcompact.errors import FormatError, InputError
from snapcompact.history.session import open_session
from tests.history.formats.test_opencode_export import ANSWER, QUESTION, info, text
from tests.history.seen import sample, seen

TABLES = """
CREATE TABLE session (id text PRIMARY KEY, parent_id text, directory text, title text,
                      version text, revert text, time_created integer);
CREATE TABLE message (id text PRIMARY KEY, session_id text, time_created integer, data text);
CREATE TABLE part (id text PRIMARY KEY, message_id text, session_id text, data text);
"""


def _fill(database: sqlite3.Connection, name: str, *pairs: Any, time: int = 1, **more: str) -> None:
    database.execute(
        "INSERT INTO session VALUES (?, ?, '/w', 'List', '1.2', ?, ?)",
        (name, more.get("parent"), more.get("revert"), time),
    )
    for at, (head, parts) in enumerate(pairs):
        data = {key: value for key, value in head.items() if key not in ("id", "sessionID")}
        row = (f"{name}-{head['id']}", name, at, json.dumps(data))
        database.execute("INSERT INTO message VALUES (?, ?, ?, ?)", row)
        for number, part in enumerate(parts):
            key = f"{row[0]}-{number}"
            values = (key, row[0], name, json.dumps(part))
            database.execute("INSERT INTO part VALUES (?, ?, ?, ?)", values)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    place = tmp_path / "a db?.db"
    with closing(sqlite3.connect(place)) as database, database:
        database.executescript(TABLES)
        _fill(database, "ses_1", QUESTION, (info("empty", "assistant"), []), ANSWER)
        _fill(database, "ses_2", QUESTION, time=0, parent="ses_1")
    return place


def test_sessions_by_time_and_messages_as_in_the_export(path: Path) -> None:
    got = seen(path)
    assert got.format == "opencode_db"
    notes = [m.text for m in got.messages if m.label == "conversation"]
    assert notes == ["ses_2: List (sub-session of ses_1)", "ses_1: List"]
    one = seen(path, select="ses_1")
    assert one.texts == ["a file", "secret", "List", "a.txt", "no", "One file."]
    assert one.messages[0].meta.id == "ses_1-msg_1"
    assert one.report.skipped["conversation not selected"] == 1
    with open_session(path) as session:
        assert [about.id for about in session.conversations] == ["ses_2", "ses_1"]


def test_bytes_read_as_the_file_does(path: Path) -> None:
    assert seen(path.read_bytes()).messages == seen(path).messages


def test_turns_in_the_wal_are_read_and_nothing_is_written(path: Path) -> None:
    with closing(sqlite3.connect(path)) as database:
        database.execute("PRAGMA journal_mode=WAL")
        database.execute("PRAGMA wal_autocheckpoint=0")
        _fill(database, "ses_3", (info("new", "user"), [text("newest")]), time=9)
        database.commit()
        before = {file.name: file.read_bytes() for file in path.parent.iterdir()}
        assert f"{path.name}-wal" in before
        got = seen(path)
        assert {file.name: file.read_bytes() for file in path.parent.iterdir()} == before
    assert got.texts[-1] == "newest"


def test_a_wal_left_behind_is_missed_aloud(path: Path) -> None:
    with closing(sqlite3.connect(path)) as database:
        database.execute("PRAGMA journal_mode=WAL")
    got = seen(path)
    assert got.report.notes == ["no -wal beside this database: if it was in use, turns are missing"]


def test_a_broken_row_is_counted(path: Path) -> None:
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("UPDATE part SET data = '{\"type\": ' WHERE id = 'ses_2-msg_1-2'")
        database.execute("UPDATE message SET data = NULL WHERE id = 'ses_1-empty'")
    assert seen(path).report.damage.counts == {"bad-line": 2}


@pytest.mark.parametrize(
    "schema",
    [
        "CREATE TABLE other (id)",
        "CREATE TABLE session (id); CREATE TABLE message (id);"
        "CREATE VIEW part AS WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x FROM n)"
        " SELECT x AS id, x AS message_id, x AS data FROM n",
        "CREATE TABLE session (id); CREATE TABLE message (id); CREATE TABLE part (id)",
        "CREATE TABLE session (id); CREATE TABLE message (id);"
        "CREATE VIRTUAL TABLE part USING fts5(id, message_id, data)",
    ],
)
def test_hostile_schemas_are_refused(tmp_path: Path, schema: str) -> None:
    place = tmp_path / "x.db"
    with closing(sqlite3.connect(place)) as database, database:
        database.executescript(schema)
        if "session" in schema:
            database.execute("INSERT INTO session VALUES ('s')")
    with pytest.raises(FormatError):
        seen(place)


def test_changed_bytes_are_our_errors(path: Path) -> None:
    data = path.read_bytes()
    for at in range(16, len(data), 331):
        broken = bytearray(data)
        broken[at] ^= 0x55
        try:
            seen(bytes(broken))
        except InputError:
            continue


def test_sample() -> None:
    got = seen(sample("opencode_storage/gen-opencode-1.18.33.db"))
    assert got.format == "opencode_db"
    assert got.roles == {"note": 2, "user": 5, "assistant": 8, "tool": 4}
    assert got.kinds == {"Text": 16, "Thinking": 8, "ToolCall": 4, "ToolResult": 4, "Blob": 1}
    assert got.pairs == (4, 0)
    exported = seen(sample("opencode_export/gen-opencode-1.18.33-export.json"))
    same = seen(
        sample("opencode_storage/gen-opencode-1.18.33.db"), select="ses_dd1be4637ffeXy5WJJ5bv5surs"
    )
    assert same.messages == exported.messages
