"""Batch files, and results in any order, twice over, or broken."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from snapcompact.errors import InputError, OutputExistsError, UnknownNameError
from snapcompact.readback.answers import Answers
from snapcompact.readback.batch import BATCHES, collect_batch, write_batch
from snapcompact.readback.vision import open_vision
from tests.readback.pages import made_page

PAGES = [made_page(f"page {number}\n")[1] for number in range(3)]
MODEL = {"anthropic": "anthropic:claude-sonnet-5", "openai": "openai:gpt-5.5"}
KIND = pytest.mark.parametrize("kind", sorted(BATCHES))


def requests(kind: str, path: Path) -> list[Any]:
    if kind == "anthropic":
        return list(json.loads(path.read_bytes())["requests"])
    return [json.loads(line) for line in path.read_text().splitlines()]


def result(kind: str, key: str, text: str) -> str:
    if kind == "anthropic":
        message = {
            "content": [{"type": "text", "text": text}],
            "stop_reason": "end_turn",
            "model": "m",
            "usage": {"input_tokens": 5, "output_tokens": 2},
        }
        return json.dumps({"custom_id": key, "result": {"type": "succeeded", "message": message}})
    choice = {"message": {"content": text}, "finish_reason": "stop"}
    body = {"choices": [choice], "model": "m", "usage": {"prompt_tokens": 5}}
    return json.dumps(
        {"custom_id": key, "response": {"status_code": 200, "body": body}, "error": None}
    )


@KIND
def test_requests_out_and_results_in(kind: str, tmp_path: Path) -> None:
    answers = Answers(tmp_path / "answers")
    (file,) = write_batch(kind, MODEL[kind], [*PAGES, PAGES[0]], answers, tmp_path / "b")
    made = requests(kind, file.path)
    assert len(made) == file.requests == 3
    assert "stream" not in json.dumps([list(r.get("params") or r.get("body")) for r in made])
    lines = [result(kind, r["custom_id"], f"<page>\n{i}\n</page>") for i, r in enumerate(made)]
    results = tmp_path / "results.jsonl"
    results.write_text("\n".join(reversed(lines)) + "\n")
    assert collect_batch(results, answers).kept == 3
    assert collect_batch(results, answers).known == 3
    reader = open_vision(MODEL[kind], answers, None)
    assert [reader.read_page(page).rows for page in PAGES] == [("0",), ("1",), ("2",)]
    assert write_batch(kind, MODEL[kind], PAGES, answers, tmp_path / "again") == []


@KIND
def test_failed_requests_are_named_and_asked_again(kind: str, tmp_path: Path) -> None:
    answers = Answers(tmp_path / "answers")
    (file,) = write_batch(kind, MODEL[kind], PAGES[:1], answers, tmp_path / "b")
    key = requests(kind, file.path)[0]["custom_id"]
    failed = {
        "anthropic": {"custom_id": key, "result": {"type": "expired"}},
        "openai": {"custom_id": key, "response": None, "error": {"message": "expired"}},
    }[kind]
    results = tmp_path / "r.jsonl"
    results.write_text(json.dumps(failed))
    taken = collect_batch(results, answers)
    assert (taken.kept, len(taken.failed)) == (0, 1)
    assert "expired" in taken.failed[0]
    assert len(write_batch(kind, MODEL[kind], PAGES[:1], answers, tmp_path / "again")) == 1


@pytest.mark.parametrize(
    "line", ["{", "[]", "{}", '{"custom_id": "../../etc", "result": {"type": "succeeded"}}']
)
def test_a_file_that_is_no_result_is_an_error_with_its_line(line: str, tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    path.write_text("\n" + line)
    with pytest.raises(InputError, match="line 2"):
        collect_batch(path, Answers(tmp_path / "a"))


def test_other_batches_and_folders_in_use_are_refused(tmp_path: Path) -> None:
    answers = Answers(tmp_path / "answers")
    with pytest.raises(UnknownNameError):
        write_batch("gemini", "gemini:x", PAGES, answers, tmp_path / "b")
    write_batch("openai", MODEL["openai"], PAGES, answers, tmp_path / "b")
    with pytest.raises(OutputExistsError):
        write_batch("openai", MODEL["openai"], PAGES, answers, tmp_path / "b")
