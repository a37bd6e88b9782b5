"""Kernels compiled ahead are those that archiving calls."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from snapcompact.pages import warmup
from tests.cli.program import SESSION, process

CALLED = """
import sys
from numba.core.dispatcher import Dispatcher
{work}
for name, module in sorted(sys.modules.items()):
    if name.startswith("snapcompact_kernels."):
        for key, kernel in vars(module).items():
            if isinstance(kernel, Dispatcher) and kernel.__module__ == name:
                for signature in kernel.signatures:
                    print(name, key, signature)
"""


def _called(work: str) -> set[str]:
    """The kernels that a process which does `work` has called, with their arguments' types."""
    made = process(sys.executable, "-c", CALLED.format(work=work))
    assert made.returncode == 0, made.stderr
    return set(made.stdout.decode().splitlines())


@pytest.mark.parametrize(
    ("shape", "effort"),
    [
        ("default", "fast"),
        ("11x16", "smaller"),
        ("8x16@20x20-1568x1568", "fast"),
        ("8x16@8x16-1568x1568-sentence", "fast"),
    ],
)
def test_all_that_archiving_calls_is_compiled_ahead(
    shape: str, effort: str, tmp_path: Path
) -> None:
    halves = [f"draw({shape!r}, {effort!r})", f"paginate_and_read({shape!r})"]
    ready = [_called(f"from snapcompact.pages.warmup import *; {half}") for half in halves]
    archive = f"""
from pathlib import Path
from snapcompact.archive.write import ArchiveOptions, write_archive
from snapcompact.history.session import open_session
session, out = open_session({str(SESSION)!r}), Path({str(tmp_path / "a")!r})
write_archive(session, out, ArchiveOptions(shape={shape!r}, effort={effort!r}))
"""
    called = _called(archive)
    assert called
    assert called <= ready[0] | ready[1]
    both = ready[0] & ready[1]
    assert not {line for line in both if "deflate" in line or "readback" in line}


@pytest.mark.parametrize("kept", ["draw", "deflate"])
def test_nothing_is_compiled_ahead_where_some_is_kept(
    kept: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_process(*arguments: object, **named: object) -> None:
        raise AssertionError

    monkeypatch.setattr(subprocess, "Popen", no_process)
    monkeypatch.setattr(warmup, "cache_is_warm", lambda module: module == kept)
    warmup.compile_ahead("default", "fast")


def test_a_second_process_that_fails_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    done = []
    monkeypatch.setattr(warmup, "cache_is_warm", lambda module: False)
    monkeypatch.setattr(warmup, "cache_folder", lambda: Path("/nowhere"))
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {0, 1})
    monkeypatch.setattr(warmup, "paginate_and_read", lambda shape: done.append(True))
    monkeypatch.setattr(sys, "executable", "/bin/false")
    warmup.compile_ahead("default", "fast")
    assert done


def test_an_interrupt_ends_the_second_process(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(KeyboardInterrupt), warmup._second_process("default", "fast") as process:
        raise KeyboardInterrupt
    assert process.poll() is not None


def test_the_second_process_runs_nothing_from_the_working_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "snapcompact.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')")
    monkeypatch.chdir(tmp_path)
    with warmup._second_process("default", "nonsense") as process:
        pass
    assert process.returncode == 1
    assert not (tmp_path / "ran").exists()
