"""The commands as a user types them: results on stdout, the rest on stderr, stable exit codes."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from snapcompact.cli.app import run
from tests.cli.program import SESSION, Capture, process, program, said
from tests.corpus import CASES


def test_the_main_job(tmp_path: Path, capsysbinary: Capture) -> None:
    out = tmp_path / "a"
    assert run(["archive", str(SESSION), "-o", str(out)]) == 0
    assert b"read back and equal" in said(capsysbinary)[0]
    assert run(["verify", str(out)]) == 0
    assert b"sound" in said(capsysbinary)[0]
    assert run(["restore", str(out)]) == 0
    assert said(capsysbinary)[0] == SESSION.read_bytes()
    assert run(["transcript", str(SESSION)]) == 0
    transcript = said(capsysbinary)[0]
    assert run(["restore", str(out), "--from", "pixels", "--as", "transcript"]) == 0
    assert said(capsysbinary)[0] == transcript
    assert run(["read", str(out / "pages")]) == 0
    assert said(capsysbinary)[0] == transcript
    lone = shutil.copy(out / "pages" / "000001.png", tmp_path / "x.png")
    assert run(["read", str(lone), "-o", str(tmp_path / "t")]) == 0
    assert (tmp_path / "t").read_bytes() == transcript
    assert run(["info", str(out)]) == 0
    assert b"openai_chat" in said(capsysbinary)[0]


def test_json_results_are_json(tmp_path: Path, capsysbinary: Capture) -> None:
    out = tmp_path / "a"
    assert run(["archive", str(SESSION), "-o", str(out), "--json"]) == 0
    made = json.loads(said(capsysbinary)[0])
    assert made["archive"] == str(out)
    assert made["pages"] == 1
    for command in (["verify", str(out)], ["info", str(out)], ["shapes"]):
        assert run([*command, "--json"]) == 0
        assert json.loads(said(capsysbinary)[0])


def test_case_01_and_02_have_nothing_to_archive_and_that_is_no_error(
    tmp_path: Path, capsysbinary: Capture
) -> None:
    for name in ("01_empty_file.jsonl", "02_header_only_session.jsonl"):
        assert run(["archive", str(CASES / name), "-o", str(tmp_path / "a")]) == 0
        out, err = said(capsysbinary)
        assert "nothing to archive" in err
        assert out == b""
        assert list(tmp_path.iterdir()) == []


def test_a_damaged_page_is_exit_code_1_with_its_place(
    tmp_path: Path, capsysbinary: Capture
) -> None:
    out = tmp_path / "a"
    run(["archive", str(SESSION), "-o", str(out), "-q"])
    page = out / "pages" / "000001.png"
    page.write_bytes(page.read_bytes()[:200])
    said(capsysbinary)
    assert run(["verify", str(out)]) == 1
    assert "page 1" in said(capsysbinary)[1]
    assert run(["restore", str(out), "--as", "transcript"]) == 1
    assert run(["read", str(page)]) == 1
    assert "000001.png" in said(capsysbinary)[1]


def test_several_sessions_make_several_archives(tmp_path: Path, capsysbinary: Capture) -> None:
    twin = tmp_path / "in" / SESSION.name
    twin.parent.mkdir()
    shutil.copy(SESSION, twin)
    out = tmp_path / "out"
    assert (
        run(
            [
                "archive",
                str(SESSION),
                str(twin),
                str(CASES / "03_one_message.jsonl"),
                "-o",
                str(out),
            ]
        )
        == 0
    )
    assert {p.name for p in out.iterdir()} == {
        "27_unicode_mix",
        "27_unicode_mix-2",
        "03_one_message",
    }


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["archive", "{missing}", "-o", "{out}"], 3, "missing"),
        (["archive", "{session}", "-o", "{session}"], 2, "already exists"),
        (["archive", "{session}"], 2, "-o"),
        (["archive", "{session}", "-o", "{out}", "--shape", "8x17"], 2, "unknown shape"),
        (["archive", "{session}", "-o", "{out}", "--format", "word"], 2, "unknown format"),
        (["archive", "{session}", "-o", "{out}", "--fidelity", "some"], 2, "fidelity"),
        (["archive", "{session}", "-o", "{out}", "--append", "--zip"], 2, "folder"),
        (["archive", "-", "-", "-o", "{out}"], 2, "once"),
        (["verify", "{missing}"], 3, "does not exist"),
        (["verify", "{session}"], 1, "zip"),
        (["restore", "{missing}"], 3, "does not exist"),
        (["read", "{session}"], 1, "jsonl"),
        (["nonsense"], 2, "nonsense"),
    ],
)
def test_mistakes_end_with_a_message_and_their_code(
    arguments: list[str], code: int, words: str, tmp_path: Path, capsysbinary: Capture
) -> None:
    names = {
        "missing": str(tmp_path / "missing"),
        "session": str(shutil.copy(SESSION, tmp_path / "s.jsonl")),
        "out": str(tmp_path / "out"),
    }
    before = (tmp_path / "s.jsonl").read_bytes()
    assert run([argument.format(**names) for argument in arguments]) == code
    out, err = said(capsysbinary)
    assert words in err
    assert "Traceback" not in err
    assert out == b""
    assert (tmp_path / "s.jsonl").read_bytes() == before
    assert not (tmp_path / "out").exists()


def test_stdin_is_a_session(tmp_path: Path) -> None:
    made = program("archive", "-", "-o", str(tmp_path / "a"), stdin=SESSION.read_bytes())
    assert made.returncode == 0, made.stderr
    assert program("restore", str(tmp_path / "a")).stdout == SESSION.read_bytes()


def test_a_reader_that_leaves_early_is_no_error(tmp_path: Path) -> None:
    long = tmp_path / "long.txt"
    long.write_bytes(b"a line of text\n" * 200_000)
    shell = f"{sys.executable} -m snapcompact transcript {long} | head -c 10"
    run_ = process("bash", "-o", "pipefail", "-c", shell)
    assert run_.returncode == 0, run_.stderr
    assert run_.stderr == b""


def test_an_ascii_terminal_and_a_read_only_home_are_enough(tmp_path: Path) -> None:
    environment = {
        "PYTHONPATH": os.pathsep.join(sys.path),
        "PATH": os.environ["PATH"],
        "HOME": "/proc/nowhere",
        "LC_ALL": "C",
        "PYTHONIOENCODING": "ascii",
        "TERM": "dumb",
    }
    strange = tmp_path / "naïve\x1b[31m.jsonl"
    shutil.copy(SESSION, strange)
    for arguments in (
        ["archive", str(strange), "-o", str(tmp_path / "a")],
        ["info", str(tmp_path / "a")],
    ):
        made = subprocess.run(
            [sys.executable, "-m", "snapcompact", *arguments],
            env=environment,
            capture_output=True,
            check=False,
        )
        assert made.returncode == 0, made.stderr
        assert b"\x1b" not in made.stdout + made.stderr


def test_a_pipe_that_can_be_read_once_is_a_session(tmp_path: Path) -> None:
    shell = (
        f"{sys.executable} -m snapcompact archive <(cat {SESSION}) -o {tmp_path}/a -q && "
        f"{sys.executable} -m snapcompact restore {tmp_path}/a | cmp - {SESSION}"
    )
    made = process("bash", "-c", shell)
    assert made.returncode == 0, made.stderr


def test_devices_and_places_without_a_name_are_refused(
    tmp_path: Path, capsysbinary: Capture
) -> None:
    assert run(["transcript", "/dev/zero"]) == 1
    assert "device" in said(capsysbinary)[1]
    for out in (".", "", ".."):
        assert run(["archive", str(SESSION), "-o", out, "--force"]) == 2


def test_no_escape_code_of_a_manifest_reaches_the_terminal(
    tmp_path: Path, capsysbinary: Capture
) -> None:
    manifest = {"snapcompact": 1, "totals": {"\x1b]0;pwn\x07": "x"}}
    (tmp_path / "manifest.json").write_text(json.dumps(manifest))
    for command in ("verify", "info", "restore"):
        assert run([command, str(tmp_path)]) == 1
        out, err = said(capsysbinary)
        assert b"\x1b" not in out
        assert "\x1b" not in err


def test_closed_streams_are_no_crash(tmp_path: Path) -> None:
    for closing in (">&-", "2>&-", "<&-"):
        shell = f"{sys.executable} -m snapcompact shapes {closing}"
        made = process("bash", "-c", shell)
        assert made.returncode == 0, made.stderr


NO_SOCKETS = """
import socket, sys
def refuse(*arguments, **named): raise AssertionError("a socket was opened")
socket.socket.__init__ = refuse
socket.create_connection = refuse
from snapcompact.cli.app import run
for arguments in {commands}:
    assert run(arguments) == 0, arguments
"""


def test_nothing_opens_a_socket(tmp_path: Path) -> None:
    out = str(tmp_path / "a")
    commands = [
        ["archive", str(SESSION), "-o", out],
        ["verify", out],
        ["restore", out],
        ["restore", out, "--as", "transcript"],
        ["read", out + "/pages"],
        ["info", out],
    ]
    made = process(sys.executable, "-c", NO_SOCKETS.format(commands=commands))
    assert made.returncode == 0, made.stderr


def test_case_36_no_secret_reaches_any_file_of_a_redacted_archive(
    tmp_path: Path, capsysbinary: Capture
) -> None:
    pytest.importorskip("detect_secrets", reason="needs the extra [redact]")
    session = CASES / "36_fake_secrets.jsonl"
    out = tmp_path / "a"
    assert run(["archive", str(session), "-o", str(out), "--redact"]) == 0
    for form in (["restore", str(out), "--as", "transcript"], ["info", str(out), "--json"]):
        assert run(form) == 0
    printed = said(capsysbinary)[0]
    files = b"".join(p.read_bytes() for p in out.rglob("*") if p.is_file())
    assert b"FAKE" not in printed + files
    assert b"9c4e0b8d1a2f3e4d5c6b7a8091a2b3c4d5e6f708" in printed
    assert not (out / "source.zst").exists()
    assert run(["restore", str(out)]) == 2
    assert run(["transcript", str(session), "--redact"]) == 0
    assert b"FAKE" not in said(capsysbinary)[0]


def test_a_secret_that_stands_bare_before_it_is_known_is_found_too(
    tmp_path: Path, capsysbinary: Capture
) -> None:
    pytest.importorskip("detect_secrets", reason="needs the extra [redact]")
    session = tmp_path / "s.jsonl"
    value = "q7Zt9xLw3KpVb2Rm8YcD"
    lines = [f"I saw {value} in a log.", f"DEMO_API_KEY={value}"]
    session.write_text("".join(json.dumps({"role": "user", "content": t}) + "\n" for t in lines))
    assert run(["transcript", str(session), "--redact"]) == 0
    text = said(capsysbinary)[0].decode()
    assert value not in text
    assert text.count("[REDACTED:") == 2


def test_sessions_are_named_by_id_or_as_the_latest(
    tmp_path: Path, capsysbinary: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    place = tmp_path / ".claude" / "projects" / "-w"
    place.mkdir(parents=True)
    sample = Path(__file__).parents[2] / "samples" / "claude-code-session.jsonl"
    shutil.copy(sample, place / "5e550000-0000-4000-8000-000000000001.jsonl")
    assert run(["archive", "5e550000", "-o", str(tmp_path / "a"), "-q"]) == 0
    assert run(["archive", "--latest", "-o", str(tmp_path / "b"), "-q"]) == 0
    said(capsysbinary)
    assert run(["archive", "-o", str(tmp_path / "c")]) == 2
    assert "--latest" in said(capsysbinary)[1]
    assert run(["archive", "beefbeef", "-o", str(tmp_path / "c")]) == 2
    assert "snapcompact sessions" in said(capsysbinary)[1]
