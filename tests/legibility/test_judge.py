from __future__ import annotations

import json
from pathlib import Path

import pytest

from snapcompact.cli.app import run
from snapcompact.errors import UnknownNameError, UsageError
from snapcompact.fonts.atlas import load_atlas
from snapcompact.legibility.judge import judge
from snapcompact.pages.count import PageCounter
from snapcompact.pages.shape import parse_shape
from snapcompact.providers.catalog import load_catalog, match
from snapcompact.transcript.identifiers import find_identifiers, line_blocks

SHAPES = [parse_shape(f"{name}-1568x784") for name in ("8x16@8x16", "6x12@6x12", "5x8@8x16")]
TEXT = b"".join(
    b'\xc2\xb6call:f({"n": %d})\nsrc/module_%d/IlO0_%08x.py\n' % (n, n % 7, n * 2654435761)
    for n in range(1500)
)
CLAUDE = match(load_catalog(), "claude-sonnet-4-5").model


def test_one_pass_judges_all_shapes() -> None:
    pieces = iter([TEXT[:1001], TEXT[1001:50_000], TEXT[50_000:]])
    result = judge(pieces, SHAPES, CLAUDE)
    assert result.transcript_bytes == len(TEXT)
    assert 0 < result.sample_bytes < len(TEXT)
    assert result.identifiers == len(find_identifiers(line_blocks(TEXT)))
    by_shape = {one.score.shape: one for one in result.shapes}
    for shape in SHAPES:
        counter = PageCounter(shape, load_atlas(shape.font))
        counter.feed(TEXT)
        one = by_shape[shape.name]
        assert one.pages == counter.result().pages
        assert one.low_tokens <= one.high_tokens
        assert one.whole
        assert 0 <= one.identifiers_right <= 1
        assert one.identifiers_at_risk <= result.identifiers
        chances = [risk.chance for risk in one.risks]
        assert chances == sorted(chances, reverse=True)
    tokens = [one.high_tokens for one in result.shapes]
    assert tokens == sorted(tokens)
    # The small font in large cells costs as much as the large one and reads worse.
    assert [by_shape[shape.name].best for shape in SHAPES] == [True, True, False]


def test_what_cannot_be_judged_is_refused() -> None:
    text_model = match(load_catalog(), "deepseek-v3").model
    with pytest.raises(UsageError, match="takes no images"):
        judge([TEXT], SHAPES, text_model)
    with pytest.raises(UnknownNameError, match="lanczos"):
        judge([TEXT], SHAPES, CLAUDE, how="cubic")


@pytest.fixture
def session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    path = tmp_path / "chat.jsonl"
    words = "看看这个文件 src/api/handler_9f8e7d6c.py " * 30
    rows = [{"role": role, "content": words} for role in ("user", "assistant") * 3]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_the_command_prints_costs_errors_and_what_is_at_risk(
    session: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["legibility", str(session), "--model", "claude-sonnet-4-5", "--shape", "8x16"]
    assert run(command) == 0
    printed = capsys.readouterr()
    for word in ("tokens", "CER %", "8x16@8x16-1568x1568", "predicted", "src/api/handler_9f8e7d6c"):
        assert word in printed.out
    assert "have no glyph" in printed.err
    assert run([*command, "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    (shape,) = said["shapes"]
    assert shape["seen_px"] == [1092, 1092]
    assert not shape["whole"]
    assert shape["escaped_share"] > 0.1
    assert 0 < shape["cer"]["low"] <= shape["cer"]["value"] <= shape["cer"]["high"] < 1
    assert len(shape["misread_by_character"]) == 94


def test_usage_errors_of_the_command(session: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["legibility", str(session), "--model", "deepseek-v3"]) == 2
    assert run(["legibility", str(session), "--model", "gpt-5.5", "--shape", "9x9"]) == 2
    empty = session.with_name("empty.jsonl")
    empty.write_text("")
    assert run(["legibility", str(empty), "--model", "gpt-5.5", "--shape", "8x16"]) == 1
    assert "Traceback" not in capsys.readouterr().err
