"""The real programs resume what we wrote: summary or pages, and exactly the kept tail.

Not run by itself: it needs the programs (about 300 MB each, installed by ../shared/realclients) and
some seconds for each. Set REALCLIENTS_PROGRAMS to their folder and run with ``-m programs``.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from snapcompact.cli.app import run

TOOLS = Path(__file__).parents[3] / "shared" / "realclients"
PROGRAMS = os.environ.get("REALCLIENTS_PROGRAMS", "")
pytestmark = [
    pytest.mark.programs,
    pytest.mark.skipif(not TOOLS.exists(), reason="../shared/realclients is not there"),
    pytest.mark.skipif(not PROGRAMS, reason="REALCLIENTS_PROGRAMS names no folder of programs"),
]
CLIENTS = ("pi", "omp", "claude")
Block = dict[str, Any]


def client(*arguments: str) -> None:
    command = [sys.executable, str(TOOLS / "run_client.py"), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="module", params=CLIENTS)
def made(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a session the program wrote; its parent's name is the program's."""
    name: str = request.param
    if not (Path(PROGRAMS) / name).exists():
        pytest.skip(f"{name} is not installed")
    folder = tmp_path_factory.mktemp("made") / name
    more = ["--provider", "openai"] if name == "omp" else []
    client("make", name, str(folder), "--no-compaction", "--note-lines", "400", *more)
    return folder


def session_of(made: Path, folder: Path) -> Path:
    """A copy of the program's session, with the blobs that belong to it."""
    source = next((made / "session").glob("*.jsonl"))
    if (made / "session" / "blobs").exists():
        shutil.copytree(made / "session" / "blobs", folder / "blobs")
    return Path(shutil.copy(source, folder / source.name))


def resumed(made: Path, session: Path, folder: Path) -> list[Block]:
    """What the program sends after loading `session`, but for its own system texts."""
    more = ["--provider", "openai"] if made.name == "omp" else []
    client("resume", made.name, str(session), "--out", str(folder), *more)
    blocks: list[Block] = json.loads((folder / "context.json").read_bytes())
    return [
        block for block in blocks
        if block["role"] != "system" and not str(block["value"]).startswith("<system-reminder>")
    ]  # fmt: skip


def words(blocks: Sequence[Block]) -> list[str]:
    return [str(block["value"]).strip() for block in blocks if block["kind"] == "text"]


def compact(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    assert run(["compact", *arguments, "--json"]) == 0
    value: dict[str, Any] = json.loads(capsys.readouterr().out)
    return value


LATE = ["What was the second word?", "The second word was beta."]
EARLY = "Please list the two words."


@pytest.mark.parametrize("in_place", [True, False])
def test_a_summary_and_the_tail(
    made: Path, in_place: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    session = session_of(made, tmp_path)
    more = ["--in-place"] if in_place else ["-o", str(tmp_path / "out" / session.name)]
    (tmp_path / "out").mkdir()
    compact(capsys, str(session), "--keep-turns", "1", *more)
    written = session if in_place else tmp_path / "out" / session.name
    said = words(resumed(made, written, tmp_path / "resumed"))
    assert any("Extract made without a model" in text for text in said)
    assert [text for text in said if text in LATE] == LATE
    assert EARLY not in said
    assert said[-1].startswith("RESUMED")
    assert said.index(LATE[0]) == len(said) - 3


def test_pages_and_the_tail(made: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    session = session_of(made, tmp_path)
    model = {"claude": "claude-4.7"}.get(made.name, "gpt-5")
    result = compact(
        capsys, str(session), "snapcompact", "--keep-turns", "1", "--in-place", "--strict",
        "--model", model,
    )  # fmt: skip
    blocks = resumed(made, session, tmp_path / "resumed")
    pages = sorted((Path(result["archive"]) / "pages").glob("*.png"))
    drawn = [hashlib.sha256(page.read_bytes()).hexdigest() for page in pages]
    sent = [block["value"]["sha256"] for block in blocks if block["kind"] == "image"]
    assert result["pages_shown"] == len(sent)
    if model == "gpt-5":
        assert sent == drawn
    said = words(blocks)
    assert [text for text in said if text in LATE] == LATE
    assert EARLY not in said


def test_undo_gives_the_program_its_past_back(
    made: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    session = session_of(made, tmp_path)
    before = session.read_bytes()
    compact(capsys, str(session), "--keep-turns", "1", "--in-place")
    assert run(["undo", str(session)]) == 0
    assert session.read_bytes() == before
    assert EARLY in words(resumed(made, session, tmp_path / "resumed"))
