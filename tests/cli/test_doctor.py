from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

from snapcompact.cli import doctor
from snapcompact.cli.app import run

if TYPE_CHECKING:
    import pytest


def test_doctor_prints_and_reads_a_page(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["doctor", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["self-test"].startswith("passed: ")
    assert all(f"{name} " in found["libraries"] for name in doctor.LIBRARIES)
    assert "not installed" not in found["libraries"]


def test_doctor_fails_where_the_page_does_not_come_back(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("snapcompact.pages.decode.read_text", lambda *_: b"something else")
    assert run(["doctor"]) == 1
    assert "came back as" in capsys.readouterr().err


def test_extras_are_those_of_the_project() -> None:
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())
    assert set(doctor.EXTRAS) | {"dev"} == set(project["project"]["optional-dependencies"])
