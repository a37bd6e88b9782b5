from __future__ import annotations

import json
from pathlib import Path

import pytest

from snapcompact.cli.app import run

CASE_36 = Path(__file__).parents[1] / "cases" / "36_fake_secrets.jsonl"


@pytest.mark.parametrize("to", ["anthropic", "html", "json", "markdown", "openai"])
def test_case_36_redacted_in_every_form(
    to: str, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    assert run(["export", str(CASE_36), "--to", to, "--redact"]) == 0
    printed = capsysbinary.readouterr()
    assert b"FAKE" not in printed.out + printed.err
    assert b"9c4e0b8d1a2f3e4d5c6b7a8091a2b3c4d5e6f708" in printed.out
    assert b"redacted: " in printed.err


def test_a_file_is_written_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "x.json"
    assert run(["export", str(CASE_36), "--to", "openai", "-o", str(out)]) == 0
    assert len(json.loads(out.read_text())["messages"]) == 7
    assert out.stat().st_mode & 0o777 == 0o600
    assert run(["export", str(CASE_36), "--to", "openai", "-o", str(out)]) == 2
    assert "already exists" in capsys.readouterr().err


def test_wrong_words(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert run(["export", str(CASE_36), "--to", "pdf"]) == 2
    assert "known: anthropic" in capsys.readouterr().err
    assert run(["export", str(tmp_path / "none"), "--to", "json"]) == 3


def test_an_archive_gives_what_its_session_does(
    tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    out = tmp_path / "archive"
    assert run(["archive", str(CASE_36), "-o", str(out), "--quiet"]) == 0
    capsysbinary.readouterr()
    assert run(["export", str(CASE_36), "--to", "json"]) == 0
    session = capsysbinary.readouterr().out
    assert run(["export", str(out), "--to", "json"]) == 0
    assert capsysbinary.readouterr().out == session
    assert run(["export", str(out), "--to", "json", "--branch", "all"]) == 2
