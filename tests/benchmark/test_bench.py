"""The benchmark on a small session, as a user runs it: figures that agree, reports that parse."""

from __future__ import annotations

import csv
import io
import json
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from snapcompact.benchmark.compare import compare, load_result
from snapcompact.benchmark.pareto import front
from snapcompact.benchmark.run import BenchOptions, run_bench
from snapcompact.cli.app import run
from snapcompact.errors import InputError, VersionError
from snapcompact.readback.reader import PagePicture, Reading, open_reader
from snapcompact.readback.truth import page_truth
from tests.servers.script import Say
from tests.servers.server import serve

SHAPE = "8x16@8x16-512x320"
LINES = 120


@pytest.fixture
def session(tmp_path: Path) -> Path:
    path = tmp_path / "made.jsonl"
    messages = [
        {
            "role": "user" if n % 2 else "assistant",
            "content": f"run {n:05} of task_{n} at 0x{n:08x}",
        }
        for n in range(LINES)
    ]
    path.write_text("\n".join(map(json.dumps, messages)))
    return path


class Blunder:
    """A reader that reads every zero as the letter O."""

    name = "blunder"
    jobs = 2

    def read_page(self, page: PagePicture) -> Reading:
        """The truth but for zeros."""
        from snapcompact.pages.decode import read_cells
        from snapcompact.pages.png import decode

        cells = read_cells(decode(page.data).scanlines, page.shape, page.atlas).cells
        rows = page_truth(cells, page.shape, page.atlas).rows
        return Reading(tuple(row.replace("0", "O") for row in rows))


class Balance(HTMLParser):
    """Notes tags that are never closed."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.images = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in {"meta", "br"}:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.images += tag == "image"
        assert not any((value or "").startswith("http") for _, value in attrs), attrs

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def bench(session: Path, seed: int = 0) -> dict[str, Any]:
    options = BenchOptions((SHAPE,), sample=3, seed=seed)
    return run_bench([session], options, [open_reader("exact"), Blunder()]).data


def steady(data: dict[str, Any]) -> str:
    """The result without times and load."""
    times = ("seconds", "per_second", "made", "machine")

    def kept(found: dict[str, Any]) -> dict[str, Any]:
        return {k: v for k, v in found.items() if not any(time in k for time in times)}

    return json.dumps(json.loads(json.dumps(data), object_hook=kept), sort_keys=True)


def test_figures_agree_with_one_another_and_repeat(session: Path) -> None:
    data = bench(session)
    assert steady(data) == steady(bench(session))
    (shape,) = data["shapes"]
    assert shape["pages"] > 3
    assert shape["characters"] == pytest.approx(shape["characters_per_page"] * shape["pages"])
    exact, blunder = data["readings"]
    assert exact["cer"] == {"value": 0, "low": 0, "high": 0}
    assert exact["exact_recall"]["value"] == exact["rows_perfect"]["value"] == 1
    assert blunder["cer"]["low"] <= blunder["cer"]["value"] <= blunder["cer"]["high"]
    assert blunder["confusions"] == [
        {"printed": "0", "read": "O", "times": blunder["confusions"][0]["times"]}
    ]
    assert blunder["exact"]["number"]["right"] == 0
    assert blunder["exact"]["number"]["invented"] > 0
    errors = sum(part["errors"] for part in blunder["by_role"].values())
    assert errors == blunder["confusions"][0]["times"]
    assert set(data["fronts"][0]) == {"model", "reader", "shapes"}


def test_the_front_keeps_what_none_beats() -> None:
    assert front([("a", 1, 0.0), ("b", 2, 0.1), ("c", 1.5, 0.2), ("d", 2, 0.1)]) == ["a", "b", "d"]


def test_the_command_writes_every_report(
    session: Path, tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    pytest.importorskip("matplotlib", reason="plots need the extra `plot`")
    out = tmp_path / "out"
    arguments = ["bench", str(session), "--shapes", SHAPE, "--sample", "2", "-o", str(out), "-q"]
    assert run(arguments) == 0
    assert SHAPE in capsysbinary.readouterr().out.decode()
    data = load_result(out / "bench.json")
    assert len(list(csv.DictReader(io.StringIO((out / "bench.csv").read_text())))) == len(
        data["text_tokens"]
    )
    assert "| shape |" in (out / "bench.md").read_text()
    page = Balance()
    html = (out / "bench.html").read_text()
    page.feed(html)
    assert page.open == []
    assert page.images == 1
    assert html.count("<svg") >= 3
    assert "<script" not in html
    assert run(arguments) == 2
    name = str(out / "bench.json")
    assert run(["bench", "compare", name, name]) == 0
    assert run(["bench", "compare", name]) == 2


def test_a_comparison_says_what_changed(session: Path, tmp_path: Path) -> None:
    old = bench(session)
    new = json.loads(json.dumps(old))
    new["readings"][0]["cer"] = {"value": 0.5, "low": 0.4, "high": 0.6}
    changed = [row for row in compare(old, new) if row["changed"]]
    assert [(row["reader"], row["figure"]) for row in changed] == [("exact", "cer")]
    path = tmp_path / "x.json"
    path.write_text('{"schema": 99}')
    with pytest.raises(VersionError):
        load_result(path)
    path.write_text("[]")
    with pytest.raises(InputError):
        load_result(path)
    with pytest.raises(InputError, match="lacks"):
        compare({"schema": 1}, old)


def test_probes_of_a_vision_reader_end_in_a_verdict(
    session: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "key")
    with serve(Say("<page>\nnothing\n</page>"), Say("<page>\n</page>"), Say("1: 42")) as server:
        arguments = [
            "bench", str(session), "--shapes", SHAPE, "--sample", "2", "--probes", "1",
            "--readers", "vision:openai:gpt-5.5", "--base-url", server.base_url("openai"),
            "--answers", str(tmp_path / "answers"), "-q",
        ]  # fmt: skip
        assert run([*arguments, "-o", str(tmp_path / "a")]) == 0
        asked = len(server.asked)
        assert asked == 4
        assert run([*arguments, "-o", str(tmp_path / "b")]) == 0
        assert len(server.asked) == asked
    (probe,) = load_result(tmp_path / "a" / "bench.json")["probes"]
    assert probe["probes"] == 8
    assert not probe["verdict"]["may_be_default"]
    assert "Probes" in (tmp_path / "a" / "bench.md").read_text()


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["--readers", "nobody"], 2),
        (["--shapes", "9x99"], 2),
        (["{missing}"], 3),
    ],
)
def test_mistakes(arguments: list[str], code: int, session: Path, tmp_path: Path) -> None:
    given = [argument.format(missing=tmp_path / "missing") for argument in arguments]
    assert run(["bench", str(session), *given, "-q"]) == code


def test_auto_is_the_shape_that_the_text_chooses(session: Path) -> None:
    told: list[str] = []
    options = BenchOptions((SHAPE, "auto"), sample=1)
    data = run_bench([session], options, [], tell=told.append).data
    assert [figures["shape"] for figures in data["shapes"]] == [SHAPE, "8x16@9x16-1960x1904"]
    assert any("its font lacks 0.0%" in line for line in told)
