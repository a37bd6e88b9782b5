"""`read` with its readers, as a user types it."""

from __future__ import annotations

import json
import shutil
import zlib
from pathlib import Path

import numpy as np
import pytest

from snapcompact.cli.app import run
from snapcompact.pages import png
from snapcompact.pages.ink import PALETTES
from tests.corpus import CASES
from tests.readback.pages import WORDS, grey_of, made_page, picture
from tests.servers.script import Fail, Say
from tests.servers.server import serve

SHAPE = "8x16@8x16-512x320"
Capture = pytest.CaptureFixture[bytes]


@pytest.fixture
def page(tmp_path: Path) -> Path:
    path = tmp_path / "p.png"
    path.write_bytes(made_page()[1].data)
    return path


def test_a_jpeg_of_a_page_is_read_exactly(tmp_path: Path, capsysbinary: Capture) -> None:
    path = tmp_path / "p.jpg"
    path.write_bytes(picture(grey_of(made_page()[1].data), "JPEG", quality=40))
    assert run(["read", str(path), "--shape", SHAPE, "-q"]) == 0
    assert capsysbinary.readouterr().out == (WORDS * 3).encode()


def test_guesses_are_written_named_and_exit_1(tmp_path: Path, capsysbinary: Capture) -> None:
    grey = grey_of(made_page()[1].data)
    chance = np.random.default_rng(0).random(grey.shape)
    noisy = np.where(chance < 0.25, np.where(chance < 0.125, 0, 255), grey).astype(np.float32)
    path = tmp_path / "p.png"
    path.write_bytes(picture(noisy))
    assert run(["read", str(path), "--shape", SHAPE]) == 1
    out, err = capsysbinary.readouterr()
    assert len(out) > 500
    assert b"are guesses, first row" in err


def test_an_archive_is_read_exactly(tmp_path: Path, capsysbinary: Capture) -> None:
    out = str(tmp_path / "a")
    assert run(["archive", str(CASES / "27_unicode_mix.jsonl"), "-o", out, "-q"]) == 0
    capsysbinary.readouterr()
    assert run(["transcript", str(CASES / "27_unicode_mix.jsonl")]) == 0
    transcript = capsysbinary.readouterr().out
    assert run(["read", out, "-q"]) == 0
    assert capsysbinary.readouterr().out == transcript


def test_a_page_that_says_another_text_is_damaged(page: Path, capsysbinary: Capture) -> None:
    assert run(["read", str(page), "-q"]) == 0
    image = png.decode(page.read_bytes())
    lines = image.scanlines.copy()
    lines[:32] = np.roll(lines[:32], 16, axis=0)  # the first two rows of cells, exchanged
    assert image.metadata is not None
    stream, size = zlib.compress(lines.tobytes()), (image.width, image.height)
    page.write_bytes(png.encode(stream, size, PALETTES["black"], image.metadata))
    capsysbinary.readouterr()
    assert run(["read", str(page)]) == 1
    out, err = capsysbinary.readouterr()
    assert len(out) > 500
    assert b"not the text that it was printed with" in err


def test_exchanged_pages_of_an_archive_are_named(tmp_path: Path, capsysbinary: Capture) -> None:
    (tmp_path / "t.txt").write_text("".join(f"{n} " for n in range(1000)))
    out = tmp_path / "a"
    assert run(["archive", str(tmp_path / "t.txt"), "-o", str(out), "--shape", SHAPE, "-q"]) == 0
    first, second = out / "pages" / "000001.png", out / "pages" / "000002.png"
    data = first.read_bytes()
    first.write_bytes(second.read_bytes())
    second.write_bytes(data)
    capsysbinary.readouterr()
    assert run(["read", str(out)]) == 1
    assert capsysbinary.readouterr().err.count(b"not the text that it was printed with") == 2


@pytest.mark.skipif(shutil.which("tesseract") is None, reason="tesseract is not installed")
def test_tesseract_reads_words(page: Path, capsysbinary: Capture) -> None:
    assert run(["read", str(page), "--reader", "tesseract", "-q"]) == 0
    assert b"tests of module" in capsysbinary.readouterr().out


def test_a_vision_model_is_billed_once(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsysbinary: Capture
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "key")
    with serve(
        Fail(429, "wait", headers={"retry-after": "0"}), Say("<page>\na\nb\n</page>")
    ) as server:
        command = [
            "read", str(page), "--reader", "vision:claude-sonnet-5", "-q",
            "--base-url", server.url, "--answers", str(tmp_path / "answers"),
        ]  # fmt: skip
        assert run([*command, "--dry-run"]) == 0
        bill = capsysbinary.readouterr().out.decode()
        assert bill.startswith("1 pages to ask")
        assert "$" in bill
        assert not server.asked
        for _ in range(2):
            assert run(command) == 0
            assert capsysbinary.readouterr().out == b"a\nb\n"
        assert len(server.asked) == 2
        assert run([*command, "--dry-run"]) == 0
        assert b"0 pages to ask" in capsysbinary.readouterr().out
        assert run([*command, "--max-cost", "0"]) == 0


def test_a_page_that_was_not_read_whole_is_exit_3(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsysbinary: Capture
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "key")
    with serve(Say("<page>\nhalf", stop="length")) as server:
        command = [
            "read", str(page), "--reader", "vision:claude-sonnet-5", "--base-url", server.url,
            "--answers", str(tmp_path / "answers"), "-o", str(tmp_path / "out.txt"),
        ]  # fmt: skip
        assert run(command) == 3
    assert (tmp_path / "out.txt").read_text() == "half\n"
    assert b"cut" in capsysbinary.readouterr().err


def test_batch_files_out_and_results_in(page: Path, tmp_path: Path, capsysbinary: Capture) -> None:
    answers = str(tmp_path / "answers")
    command = ["read", str(page), "--reader", "vision:openai:gpt-5.5", "--answers", answers, "-q"]
    assert run([*command, "--batch", "openai", "-o", str(tmp_path / "b")]) == 0
    (file,) = (tmp_path / "b").iterdir()
    key = json.loads(file.read_text())["custom_id"]
    choice = {"message": {"content": "<page>\nrow\n</page>"}, "finish_reason": "stop"}
    results = tmp_path / "results.jsonl"
    response = {"status_code": 200, "body": {"choices": [choice], "model": "m"}}
    results.write_text(json.dumps({"custom_id": key, "response": response, "error": None}))
    capsysbinary.readouterr()
    assert run([*command, "--collect", str(results)]) == 0
    assert capsysbinary.readouterr().out == b"row\n"


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["--reader", "nobody"], 2),
        (["--dry-run"], 2),
        (["--reader", "vision:openai:x", "--max-cost", "1", "--base-url", "http://127.0.0.1:9"], 2),
        (["--reader", "vision:openai:x", "--batch", "openai"], 2),
        (["--reader", "vision:openai:x", "--batch", "gemini", "-o", "{out}"], 2),
    ],
)
def test_mistakes(arguments: list[str], code: int, page: Path, tmp_path: Path) -> None:
    given = [argument.format(out=tmp_path / "out") for argument in arguments]
    assert run(["read", str(page), *given, "--answers", str(tmp_path / "a"), "-q"]) == code
