"""The README names what there is: every command, in commands that parse, and files that exist."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
import typer

from snapcompact.cli.app import program

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text("utf-8")
COMMANDS = sorted(typer.main.get_command(program()).commands)  # type: ignore[attr-defined]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_is_in_the_readme(command: str) -> None:
    assert re.search(rf"(`|snapcompact ){command}\b", README)


def test_every_command_in_the_readme_is_there() -> None:
    named = set(re.findall(r"^snapcompact ([a-z]+)", README, re.MULTILINE))
    assert named <= set(COMMANDS)


def test_linked_files_exist() -> None:
    for link in re.findall(r"\]\(([^)#:]+)\)", README):
        assert (ROOT / link).exists(), link


def test_the_python_example_runs(tmp_path: Path) -> None:
    code = README.split("```python\n")[1].split("```")[0]
    code = code.replace('"samples/', f'"{ROOT}/samples/').replace('"out"', f'"{tmp_path}/out"')
    run = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        check=False,
        env={"PYTHONPATH": ":".join(sys.path), "HOME": str(tmp_path)},
    )
    assert run.returncode == 0, run.stderr.decode()


def test_the_format_page_says_the_version_that_is_written() -> None:
    from snapcompact.archive.manifest import FORMAT_VERSION

    page = (ROOT / "snapcompact" / "archive" / "FORMAT.md").read_text("utf-8")
    assert f"# The archive format, version {FORMAT_VERSION}" in page
