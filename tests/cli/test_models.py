from __future__ import annotations

import json
from pathlib import Path

import pytest

from snapcompact.cli.app import run
from snapcompact.providers.catalog import load_catalog


@pytest.fixture(autouse=True)
def no_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's settings folder, empty."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    (tmp_path / "snapcompact").mkdir()
    return tmp_path / "snapcompact"


def test_all_rows_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["models"]) == 0
    lines = capsys.readouterr().out.splitlines()
    names = [line.split()[0] for line in lines[1:] if line]
    assert names[:-1] == [m.name for m in load_catalog().models]
    assert "models.toml" in lines[-1]
    assert run(["models", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert all(row["source"] and row["date"] for row in rows)


def test_one_model_is_told_with_its_sources(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["models", "openrouter/anthropic/claude-opus-5.5", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["known"]
    assert said["router"] == "openrouter"
    assert said["model"]["name"] == "claude-4.7"
    assert said["model"]["image"]["extra_tokens"] == [0, 4]
    assert said["price"]["input_usd_per_mtok"] == 4.0
    assert run(["models", "claude-opus-5.5"]) == 0
    assert "price.input_usd_per_mtok" in capsys.readouterr().out


def test_an_unknown_model_is_said_to_be_unknown(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["models", "nobody-knows", "--json"]) == 0
    out, err = capsys.readouterr()
    assert not json.loads(out)["known"]
    assert "nobody-knows" in err


def test_the_users_file_is_read(no_settings: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (no_settings / "models.toml").write_text('[[model]]\nname = "gpt-5.4"\nwindow_tokens = 42\n')
    assert run(["models", "gpt-5.5", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["model"]["window_tokens"] == 42
    (no_settings / "models.toml").write_text('[[model]]\nname = "gpt-5.4"\nwindows = 42\n')
    assert run(["models"]) == 1
    assert "windows" in capsys.readouterr().err


def test_a_name_with_escape_codes_is_shown_harmless(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["models", "\x1b[31mx\x07"]) == 0
    said = capsys.readouterr()
    assert "\x1b" not in said.out + said.err
    assert "\x07" not in said.out + said.err
    assert "\\x1b[31mx" in said.out
