from __future__ import annotations

import json
from pathlib import Path

import pytest

from snapcompact.cli.app import run
from snapcompact.providers.catalog import load_catalog, match
from snapcompact.tokens import families
from tests.payload.conftest import messages


@pytest.fixture
def archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    session = tmp_path / "session.jsonl"
    session.write_text("".join(json.dumps(m) + "\n" for m in messages(80)))
    out = tmp_path / "archive"
    assert run(["archive", str(session), "-o", str(out), "--quiet"]) == 0
    return out


@pytest.mark.parametrize(
    ("model", "key"),
    [
        ("claude-opus-4-7", "messages"),
        ("gpt-5.5", "input"),
        ("gemini-3-pro", "contents"),
        ("who-knows", "messages"),
    ],
)
def test_a_request_for_each_provider(
    archive: Path, tmp_path: Path, model: str, key: str, capsys: pytest.CaptureFixture[str]
) -> None:
    if match(load_catalog(), model).model.tokenizer not in families():
        pytest.skip(f"no token table for {model} yet")
    out = tmp_path / "request.json"
    args = ["payload", str(archive), "--model", model, "--tokens", "9000", "-o", str(out)]
    assert run(args) == 0
    body = json.loads(out.read_text())
    assert body["model"] == model
    assert "base64" in out.read_text() or "inlineData" in out.read_text()
    assert len(body[key]) == 1
    said = capsys.readouterr().err
    assert f" for {model} (counted by the row {match(load_catalog(), model).model.name})" in said
    assert run(args) == 2  # an existing file stays


def test_the_same_bytes_every_time(
    archive: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    args = ["payload", str(archive), "--model", "claude-opus-4-7", "--quiet"]
    assert run(args) == 0
    first = capfdbinary.readouterr().out
    assert run(args) == 0
    assert capfdbinary.readouterr().out == first


def test_another_api_can_be_asked_for(
    archive: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    out = tmp_path / "chat.json"
    args = ["payload", str(archive), "--model", "claude-opus-4-7", "--api"]
    assert run([*args, "openai-chat", "-o", str(out)]) == 0
    assert json.loads(out.read_text())["messages"][0]["role"] == "user"
    assert run([*args, "smtp"]) == 2
    assert "smtp" in capsys.readouterr().err
