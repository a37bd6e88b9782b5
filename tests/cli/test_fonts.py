from __future__ import annotations

import io
import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from snapcompact.cli.app import run
from snapcompact.fonts.atlas import load_atlas
from snapcompact.fonts.bdf import bdf_text
from snapcompact.fonts.load import font_names, load_font
from snapcompact.pages.specimen import specimen
from tests.fonts.files import HAN, cjk_file


def test_the_list_names_every_shipped_font(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["fonts"]) == 0
    shown = capsys.readouterr().out
    assert all(name in shown for name in font_names())
    assert run(["fonts", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert [font["name"] for font in said] == font_names()
    assert all(font["closest"][0]["distance"] >= 3 for font in said)


def test_a_font_file_is_checked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "own.bdf"
    path.write_text(bdf_text(load_font("8x16")))
    assert run(["fonts", "check", str(path)]) == 0
    shown = capsys.readouterr().out
    for word in ("8x16 px", "box drawing", "closest pairs"):
        assert word in shown
    assert run(["fonts", "check", str(tmp_path / "none.ttf")]) == 2
    (tmp_path / "none.ttf").write_bytes(b"no font")
    assert run(["fonts", "check", str(tmp_path / "none.ttf")]) == 1
    assert "Traceback" not in capsys.readouterr().err


def test_a_specimen_shows_every_glyph(tmp_path: Path) -> None:
    path = tmp_path / "sheet.png"
    assert run(["fonts", "specimen", "5x8", "-o", str(path)]) == 0
    assert run(["fonts", "specimen", "5x8", "-o", str(path)]) == 2
    assert path.read_bytes() == specimen(load_atlas("5x8"))
    atlas = load_atlas("5x8")
    sheet = np.asarray(Image.open(io.BytesIO(path.read_bytes())).convert("1"))[::2, ::2]
    ink = (~sheet).astype(np.uint8)
    view = np.lib.stride_tricks.sliding_window_view(ink, (atlas.height, atlas.width))
    shown = {window.tobytes() for row in view for window in row}
    printed = np.flatnonzero(atlas.codes >= 0)
    assert all(atlas.bitmaps[glyph].tobytes() in shown for glyph in printed)


def test_sessions_are_archived_and_read_with_a_fallback_font(
    tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    cjk, out = cjk_file(tmp_path), tmp_path / "a"
    session = tmp_path / "s.txt"
    session.write_text(f"plain {chr(HAN[0])} text {chr(HAN[1])}\n")
    given = ["archive", str(session), "-o", str(out), "--fallback", cjk]
    assert run(given) == 0
    assert b"no glyph" not in capsysbinary.readouterr().err
    assert run([*given, "--append"]) == 0
    assert run([*given, "--append", "--fallback", "5x8"]) == 1
    assert b"5x8" in capsysbinary.readouterr().err
    Path(cjk).unlink()
    assert run(["verify", str(out)]) == 0
    assert run(["transcript", str(session)]) == 0
    transcript = capsysbinary.readouterr().out.partition(b"\n")[2]
    assert run(["read", str(out / "pages" / "000001.png")]) == 0
    assert capsysbinary.readouterr().out.endswith(transcript)
    assert run(["archive", str(session), "-o", str(tmp_path / "b"), "--fallback", cjk]) == 2


def test_auto_says_which_shape_and_why(
    tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    cjk, session = cjk_file(tmp_path), tmp_path / "s.txt"
    session.write_text("".join(f"{chr(code)} " for code in HAN) * 3)
    given = ["archive", str(session), "--shape", "auto", "-o"]
    assert run([*given, str(tmp_path / "a")]) == 0
    out, err = capsysbinary.readouterr()
    assert b"8x16@9x16-1960x1904" in out
    assert b"shape 8x16@9x16-1960x1904: no font has them all" in err
    assert b"--fallback" in err
    assert run([*given, str(tmp_path / "b"), "--fallback", cjk]) == 0
    assert b"its font lacks 0.0%" in capsysbinary.readouterr().err
    assert run([*given, str(tmp_path / "c"), "--fallback", cjk, "-q"]) == 0
    assert capsysbinary.readouterr().err == b""
    assert run(["verify", str(tmp_path / "c")]) == 0
