"""Sessions on this machine."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from snapcompact.errors import DiskError, UnknownNameError
from snapcompact.history.sessions import Description, Found, describe, find, named
from tests.history.sessions import jsonl

CLAUDE = jsonl(
    [
        {
            "type": "user",
            "uuid": "u",
            "parentUuid": None,
            "sessionId": "5e55",
            "cwd": "/w",
            "message": {"role": "user", "content": "Fix the parser"},
        }
    ]
)
PI = jsonl(
    [
        {"type": "session", "version": 3, "id": "0190", "cwd": "/p"},
        {
            "type": "message",
            "id": "1",
            "parentId": None,
            "message": {"role": "user", "content": "Hi"},
        },
    ]
)


def _write(path: Path, data: bytes, modified: int) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    os.utime(path, (modified, modified))
    return path


@pytest.fixture
def home(tmp_path: Path) -> Path:
    _write(tmp_path / ".claude/projects/-w/5e55.jsonl", CLAUDE, 300)
    _write(tmp_path / ".pi/agent/sessions/--p--/2026_0190.jsonl", PI, 500)
    _write(tmp_path / ".claude/settings.json", b"{}", 900)
    return tmp_path


def test_the_usual_places_newest_first(home: Path) -> None:
    found = find(home=home, environ={})
    assert [(s.path.name, s.format, s.modified) for s in found] == [
        ("2026_0190.jsonl", "pi", 500),
        ("5e55.jsonl", "claude_code", 300),
    ]
    assert [s.size for s in found] == [len(PI), len(CLAUDE)]


def test_a_tools_variable_moves_its_folder(home: Path, tmp_path: Path) -> None:
    moved = tmp_path / "elsewhere"
    _write(moved / "projects/-x/a.jsonl", CLAUDE, 700)
    found = find(home=home, environ={"CLAUDE_CONFIG_DIR": str(moved)})
    assert [s.path.name for s in found] == ["a.jsonl", "2026_0190.jsonl"]


def test_below_a_folder_the_content_tells(tmp_path: Path) -> None:
    _write(tmp_path / "deep/er/log.json", CLAUDE, 100)
    _write(tmp_path / "notes.md", b"# Just text\n", 200)
    _write(tmp_path / "x.bin", PI, 300)
    _write(tmp_path / "p.jsonl", PI, 400)
    (tmp_path / "link.jsonl").symlink_to(tmp_path / "p.jsonl")
    found = find(tmp_path)
    assert [(s.path.name, s.format) for s in found] == [
        ("p.jsonl", "pi"),
        ("log.json", "claude_code"),
    ]
    with pytest.raises(DiskError, match="cannot list"):
        find(tmp_path / "missing")


def test_describe(home: Path) -> None:
    pi, claude = find(home=home, environ={})
    assert describe(claude) == Description("5e55", "Fix the parser", "/w")
    assert describe(pi) == Description("0190", "Hi", "/p")


def test_describe_reads_the_start_of_a_large_file_alone(tmp_path: Path) -> None:
    tail = b'{"type":"user","sessionId":"5e55","uuid":"x","message":"' + b"x" * 1000 + b'"}\n'
    path = _write(tmp_path / "big.jsonl", CLAUDE + tail * 3000 + b"{torn", 1)
    found = Found(path, "claude_code", path.stat().st_size, 1)
    assert describe(found) == Description("5e55", "Fix the parser", "/w")


def test_describe_survives_what_is_gone_or_broken(tmp_path: Path) -> None:
    assert describe(Found(tmp_path / "gone.jsonl", "pi", 10, 1)) == Description("gone")
    path = _write(tmp_path / "broken.db", b"SQLite format 3\0" + b"x" * 100, 1)
    assert describe(Found(path, "opencode_db", 116, 1)).id == "broken"


def test_named(home: Path) -> None:
    sessions = find(home=home, environ={})
    assert named(sessions, "5e55").format == "claude_code"
    assert named(sessions, "0190").format == "pi"
    with pytest.raises(UnknownNameError, match="no session 'zz'"):
        named(sessions, "zz")
    twin = _write(home / ".claude/projects/-w/5e56.jsonl", CLAUDE, 1)
    assert twin.exists()
    with pytest.raises(UnknownNameError, match="fits 2 sessions"):
        named(find(home=home, environ={}), "5e5")
