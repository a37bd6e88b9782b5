from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from snapcompact.cli.app import run
from tests.fonts.files import HAN, cjk_file
from tests.payload.conftest import messages

SAMPLES = Path(__file__).parents[2] / "samples"


@pytest.fixture
def session(tmp_path: Path) -> Path:
    path = tmp_path / "session.jsonl"
    path.write_text("".join(json.dumps(m) + "\n" for m in messages(60)))
    return path


@pytest.fixture(autouse=True)
def no_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))


def test_pages_equal_those_of_a_real_run(
    session: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shape = "8x16@8x16-512x256"
    assert run(["estimate", str(session), "--shape", shape, "--json"]) == 0
    (judged,) = json.loads(capsys.readouterr().out)["models"][0]["shapes"]
    out = str(tmp_path / "archive")
    assert run(["archive", str(session), "-o", out, "--shape", shape, "--json"]) == 0
    made = json.loads(capsys.readouterr().out)
    assert judged["pages"] == made["pages"]
    assert judged["png_bytes"] == pytest.approx(made["png_bytes"], rel=0.3)


def test_the_report_in_all_three_forms(session: Path, capsys: pytest.CaptureFixture[str]) -> None:
    models = ["--model", "claude-opus-4-7", "--model", "gpt-5.5"]
    assert run(["estimate", str(session), *models]) == 0
    shown = capsys.readouterr().out
    for word in ("role", "tool", "Bash", "largest message", "verdict", "factor"):
        assert word in shown
    assert run(["estimate", str(session), *models, "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["total"]["items"] == 240
    assert [m["id"] for m in said["models"]] == ["claude-opus-4-7", "gpt-5.5"]
    assert len(said["largest"]) == 10
    assert run(["estimate", str(session), *models, "--csv"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert {row["model"] for row in rows} == {"claude-opus-4-7", "gpt-5.5"}
    assert all(float(row["factor"]) > 0 for row in rows)


def test_one_form_of_output_at_a_time(session: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["estimate", str(session), "--csv", "--json"]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert "--json and --csv exclude each other" in said.err


def test_recorded_usage_beats_the_estimate(capsys: pytest.CaptureFixture[str]) -> None:
    session = str(SAMPLES / "claude-code-session.jsonl")
    assert run(["estimate", session, "--json"]) == 0
    context = json.loads(capsys.readouterr().out)["context"]
    assert context["measured"] == 10 + 1049 + 31950 + 391  # of its last answer
    assert context["model"] == "claude-made-up-1"
    assert context["tokens"] == context["measured"] + context["estimated"]
    assert context["share_measured"] > 0.99
    assert run(["estimate", session, "--csv"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert {row["context_measured"] for row in rows} == {"33400"}
    assert run(["estimate", session]) == 0
    assert "33,400 tokens as claude-made-up-1 counts, 100.0% measured" in capsys.readouterr().out


def test_without_usage_all_is_estimated(session: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["estimate", str(session), "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["context"]["share_measured"] == 0
    assert said["context"]["tokens"] == said["total"]["tokens"]


def test_all_models_are_judged(session: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["estimate", str(session), "--all-models", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)["models"]
    assert len(said) > 8
    assert all(m["text_tokens"] > 0 for m in said)


def test_a_model_without_images_has_its_row(
    session: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["estimate", str(session), "--model", "deepseek-v3", "--csv"]) == 0
    (row,) = csv.DictReader(io.StringIO(capsys.readouterr().out))
    assert int(row["text_tokens"]) > 0
    assert (row["shape"], row["verdict"]) == ("", "takes no images")


def test_nothing_in_it_is_nothing_to_count(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    empty = tmp_path / "empty.jsonl"
    empty.write_bytes(b"")
    assert run(["estimate", str(empty), "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["total"]["tokens"] == 0
    assert all(s["pages"] == 0 for s in said["models"][0]["shapes"])


def test_an_unknown_shape_is_refused(session: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["estimate", str(session), "--shape", "no-such"]) == 2
    assert "no-such" in capsys.readouterr().err


def test_auto_judges_the_shape_that_draws_the_text(
    session: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["estimate", str(session), "--shape", "auto", "--shape", "5x8", "--json"]) == 0
    out, err = capsys.readouterr()
    judged = json.loads(out)["models"][0]["shapes"]
    assert [worth["shape"] for worth in judged] == [
        "8x16@9x16-1960x1904",
        "5x8@5x8-1568x1568",
    ]
    assert "8x16@9x16-1960x1904: its font lacks 0.0%" in err


def test_fallback_fonts_are_counted_as_they_are_printed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cjk, session = cjk_file(tmp_path), tmp_path / "s.txt"
    session.write_text("".join(f"{chr(code)} and " for code in HAN) * 20)
    shape = "8x16@8x16-512x256"
    fonts = ["--shape", shape, "--fallback", cjk, "--json"]
    assert run(["estimate", str(session), *fonts]) == 0
    (judged,) = json.loads(capsys.readouterr().out)["models"][0]["shapes"]
    assert run(["archive", str(session), "-o", str(tmp_path / "a"), *fonts]) == 0
    assert judged["pages"] == json.loads(capsys.readouterr().out)["pages"]
