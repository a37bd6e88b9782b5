"""How the process starts, ends and is interrupted."""

from __future__ import annotations

import gc
import io
import os
import subprocess
import sys
from pathlib import Path

import numba
import pytest

from snapcompact.cli import garbage
from snapcompact.cli.app import run
from snapcompact.cli.kernels import announce_compiling
from snapcompact_kernels._jit import _KNOWN
from tests.cli.program import SESSION, Capture, process, said

IMPORTS = """
import sys
{statement}
heavy = {{"numba", "PIL", "numpy", "rich.progress", "orjson"}} & set(sys.modules)
assert not heavy, heavy
"""


@pytest.mark.parametrize(
    "statement",
    [
        "import snapcompact",
        "from snapcompact.cli.app import run; assert run(['--help']) == 0",
        "from snapcompact.cli.app import run; assert run(['archive', '--help']) == 0",
        "from snapcompact.cli.app import run; assert run(['--version']) == 0",
    ],
)
def test_help_and_import_load_nothing_heavy(statement: str) -> None:
    made = process(sys.executable, "-c", IMPORTS.format(statement=statement))
    assert made.returncode == 0, made.stderr


RUNS = """
import sys
from snapcompact.__main__ import main
def leave(code):
    print(sorted(name for name in {heavy} if name in sys.modules), code)
    sys.exit(code)
import os
os._exit = leave
sys.argv[1:] = {arguments}
main()
"""
HEAVY = [
    "PIL",
    "pytesseract",
    "rich",
    "rapidfuzz",
    "tokenizers",
    "asyncio",
    "http.client",
    "xml",
    "numba.np.arrayobj",
    "numba.np.linalg",
    "snapcompact.compaction",
    "snapcompact.readback",
    "snapcompact.llm",
    "snapcompact.providers",
    "snapcompact.tokens",
    "snapcompact.payload",
    "snapcompact.legibility",
    "snapcompact.transcript.identifiers",
    "snapcompact.cli.compact",
    "snapcompact.cli.verify",
]


@pytest.mark.skipif(
    not numba.__version__.startswith(_KNOWN), reason="loads as this version of numba does"
)
def test_archiving_loads_nothing_heavy_that_it_does_not_use(tmp_path: Path) -> None:
    for name in ("compiles", "loads"):
        arguments = ["archive", str(SESSION), "--quiet", "-o", str(tmp_path / name)]
        code = RUNS.format(heavy=HEAVY, arguments=arguments)
        made = process(sys.executable, "-c", code)
    assert made.stdout.endswith(b"[] 0\n"), made.stdout + made.stderr


@pytest.mark.parametrize("command", [["transcript"], ["export", "--to", "json"]])
def test_telling_a_session_loads_no_kernels(command: list[str]) -> None:
    heavy = [*HEAVY, "numba", "snapcompact.archive", "snapcompact.pages", "snapcompact.fonts"]
    code = RUNS.format(heavy=heavy, arguments=[*command, str(SESSION)])
    made = process(sys.executable, "-c", code)
    assert made.stdout.endswith(b"[] 0\n"), made.stdout + made.stderr


def test_a_process_says_all_before_it_ends(tmp_path: Path, capsysbinary: Capture) -> None:
    for arguments in (["transcript", str(SESSION)], ["transcript", "missing"], ["nonsense"]):
        code = run(arguments)
        made = process(sys.executable, "-m", "snapcompact", *arguments)
        assert (made.returncode, made.stdout) == (code, said(capsysbinary)[0])
        assert bool(made.stderr) == bool(code)


def _unread(*arguments: str) -> int:
    """The exit code where nobody reads stderr."""
    reader, writer = os.pipe()
    os.close(reader)
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    try:
        command = [sys.executable, "-m", "snapcompact", *arguments]
        return subprocess.run(
            command, env=environment, stdout=subprocess.DEVNULL, stderr=writer, check=False
        ).returncode
    finally:
        os.close(writer)


def test_messages_that_nobody_reads_change_nothing(tmp_path: Path) -> None:
    damaged = tmp_path / "damaged.jsonl"
    damaged.write_bytes(b'{"role":"user","content":"hi"}\n{"role":"assist\n')
    assert _unread("nonsense") == 2
    assert _unread("transcript", str(tmp_path / "missing")) == 3
    assert _unread("archive", str(damaged), "-o", str(tmp_path / "a")) == 0
    assert (tmp_path / "a" / "manifest.json").exists()


def test_ctrl_c_is_said_and_is_exit_code_130(
    tmp_path: Path, capsysbinary: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*arguments: object, **named: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("snapcompact.cli.archiving.open_session", interrupted)
    assert run(["archive", str(SESSION), "-o", str(tmp_path / "a")]) == 130
    assert "interrupted" in said(capsysbinary)[1]


EARLY = """
import sys
class Interrupts:
    def find_spec(self, name, path=None, target=None):
        if name == "typer":
            raise KeyboardInterrupt
sys.meta_path.insert(0, Interrupts())
from snapcompact.__main__ import main
main()
"""


def test_ctrl_c_while_the_program_loads_is_exit_code_130_too() -> None:
    made = process(sys.executable, "-c", EARLY)
    assert (made.returncode, made.stderr) == (130, b"")


def test_kernels_are_compiled_ahead_only_once_nothing_stands_in_the_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ahead: list[tuple[str, str]] = []
    monkeypatch.setattr(
        "snapcompact.cli.archiving.compile_ahead",
        lambda shape, effort: ahead.append((shape, effort)),
    )
    (tmp_path / "taken").mkdir()
    (tmp_path / "empty.jsonl").write_bytes(b"")
    for arguments, code in (
        (["missing.jsonl", "-o", str(tmp_path / "a")], 3),
        ([str(SESSION), "-o", str(tmp_path / "taken")], 2),
        ([str(SESSION), "-o", str(tmp_path / "a"), "--shape", "nonsense"], 2),
        ([str(tmp_path / "empty.jsonl"), "-o", str(tmp_path / "a")], 0),
    ):
        assert run(["archive", *arguments]) == code
    assert ahead == []
    assert run(["archive", str(SESSION), "-o", str(tmp_path / "a"), "--smaller"]) == 0
    assert ahead == [("default", "smaller")]


LOST = """
import ctypes, sys, threading
from snapcompact.cli.app import _once_more
sys.unraisablehook = _once_more
@ctypes.CFUNCTYPE(None)
def called_back():
    raise KeyboardInterrupt
try:
    called_back()
    threading.Event().wait(30)
except KeyboardInterrupt:
    print("interrupted")
"""


def test_ctrl_c_that_is_lost_in_a_call_back_from_c_comes_again() -> None:
    made = process(sys.executable, "-c", LOST)
    assert (made.stdout, made.stderr) == (b"interrupted\n", b"")


def test_garbage_is_searched_for_as_usual_once_all_is_loaded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    usual = gc.get_threshold()
    try:
        garbage.search_late()
        assert gc.get_threshold()[0] > usual[0]
        announce_compiling(quiet=True)
        assert gc.get_threshold() == usual
        assert gc.get_freeze_count()
        garbage.search_late()
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO()))
        assert run(["rpc", str(SESSION)]) == 0
        assert gc.get_threshold() == usual
    finally:
        gc.unfreeze()
        gc.set_threshold(*usual)
