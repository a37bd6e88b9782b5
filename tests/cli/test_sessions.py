from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from snapcompact.cli.app import run
from snapcompact.cli.listing import latest_session, named_session
from snapcompact.errors import UnknownNameError


def _session(path: Path, number: int, title: str = "") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    record = {
        "type": "user",
        "uuid": f"u{number}",
        "parentUuid": None,
        "sessionId": f"id-{number}",
        "cwd": f"/w/{number}",
        "message": {"role": "user", "content": title or f"Prompt {number}"},
    }
    path.write_text(json.dumps(record) + "\n")
    os.utime(path, (1_767_000_000 + number, 1_767_000_000 + number))
    return path


@pytest.fixture(autouse=True)
def empty_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder without sessions."""
    for variable in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_DATA_HOME"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


@pytest.fixture
def home(empty_home: Path) -> Path:
    """A home folder with three Claude Code sessions."""
    for number in range(3):
        _session(empty_home / ".claude" / "projects" / "-work" / f"id-{number}.jsonl", number)
    return empty_home


def _listed(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[dict[str, Any]]:
    assert run(["sessions", *arguments, "--json"]) == 0
    rows: list[dict[str, Any]] = json.loads(capsys.readouterr().out)
    return rows


@pytest.mark.usefixtures("home")
def test_the_newest_first_with_title_and_project(capsys: pytest.CaptureFixture[str]) -> None:
    rows = _listed(capsys)
    assert [row["id"] for row in rows] == ["id-2", "id-1", "id-0"]
    assert (rows[0]["title"], rows[0]["project"]) == ("Prompt 2", "/w/2")
    assert rows[0]["format"] == "claude_code"
    assert 20 < rows[0]["tokens"] < 200
    assert [row["id"] for row in _listed(capsys, "-n", "1")] == ["id-2"]
    assert _listed(capsys, "--format", "pi") == []


def test_below_a_folder(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    away = home / "away"
    _session(away / "x.jsonl", 7, "\x1b[31mred")
    assert [row["id"] for row in _listed(capsys, str(away))] == ["id-7"]
    assert run(["sessions", str(away)]) == 0
    printed = capsys.readouterr().out
    assert "id-7" in printed
    assert "\x1b" not in printed
    assert run(["sessions", str(home / "nowhere")]) == 3


def test_by_id_and_the_latest(home: Path) -> None:
    folder = home / ".claude" / "projects" / "-work"
    assert latest_session() == folder / "id-2.jsonl"
    assert named_session("id-1") == folder / "id-1.jsonl"
    with pytest.raises(UnknownNameError):
        named_session("id-")
    with pytest.raises(UnknownNameError):
        named_session("zebra")


def test_an_empty_home(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["sessions"]) == 0
    assert "no session found" in capsys.readouterr().err
    with pytest.raises(UnknownNameError):
        latest_session()
