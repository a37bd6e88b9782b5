from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from snapcompact.cli.app import run

if TYPE_CHECKING:
    import pytest

CASES = Path(__file__).parents[1] / "cases"


def _looked(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    assert run(["inspect", *arguments, "--json"]) == 0
    value: dict[str, Any] = json.loads(capsys.readouterr().out)
    return value


def test_case_36_is_counted_and_warned_of(capsys: pytest.CaptureFixture[str]) -> None:
    found = _looked(capsys, str(CASES / "36_fake_secrets.jsonl"))
    assert found["format"] == "openai_chat"
    assert found["by_role"] == {"user": 1, "assistant": 2, "tool": 4}
    assert found["by_tool"] == {"run": 2, "read": 1}
    assert (found["results"], found["orphans"], found["unanswered"]) == (4, 1, 0)
    assert found["tokens"] > 100
    assert found["secrets"]["token"] == 3
    assert run(["inspect", str(CASES / "36_fake_secrets.jsonl")]) == 0
    printed = capsys.readouterr()
    assert "FAKE" not in printed.out + printed.err
    assert "looks like a secret" in printed.err


def test_case_19_damage_has_its_lines(capsys: pytest.CaptureFixture[str]) -> None:
    path = str(CASES / "19_nul_padding_midfile.jsonl")
    damage = _looked(capsys, path)["damage"]
    assert sum(one["count"] for one in damage.values()) == 2
    assert all(line > 1 for one in damage.values() for line in one["lines"])
    assert run(["inspect", path, "--strict"]) == 1
    assert "line" in capsys.readouterr().err


def test_case_32_pictures(capsys: pytest.CaptureFixture[str]) -> None:
    found = _looked(capsys, str(CASES / "32_base64_image_tool_result.jsonl"))
    assert found["images"] >= 29
    assert found["without_bytes"] >= 2


def test_conversations_and_usage(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    lines = [{"messages": [{"role": "user", "content": f"Hi {n}"}]} for n in range(20)]
    path = tmp_path / "many.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)))
    assert len(_looked(capsys, str(path))["conversations"]) == 20
    assert run(["inspect", str(path)]) == 0
    assert "20 (--select ID): 1; 2; 3;" in capsys.readouterr().out
    one = _looked(capsys, str(path), "--select", "7")
    assert one["messages"] == 1
    assert one["skipped"] == {"conversation not selected": 19}


def test_escape_codes_stay_out_of_the_terminal(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps({"model": "\x1b[31m", "input": [{"type": "\x1b]0;x", "a": 1}]}))
    assert run(["inspect", str(path)]) == 0
    assert "\x1b" not in capsys.readouterr().out


def test_an_empty_session(capsys: pytest.CaptureFixture[str]) -> None:
    found = _looked(capsys, str(CASES / "01_empty_file.jsonl"))
    assert (found["messages"], found["tokens"]) == (0, 0)
