"""Interrupted, out of disk, run twice: the old archive or none, never half; pages are reused."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from snapcompact.archive.append import append_archive
from snapcompact.archive.read import open_archive
from snapcompact.archive.staging import locked
from snapcompact.archive.verify import verify_archive
from snapcompact.archive.write import ArchiveOptions, write_archive
from snapcompact.errors import OutputExistsError, UsageError
from snapcompact.history.session import open_session
from tests.archive.test_roundtrip import contents
from tests.corpus import CASES

SOURCE = CASES / "11_one_long_agentic_turn.jsonl"
OPTIONS = ArchiveOptions("8x16@11x16-480x160", jobs=1)


def interrupt_after(pages: int) -> Callable[[int], None]:
    """As Ctrl-C does it: KeyboardInterrupt in the main thread, here at a known place."""
    seen = 0

    def advance(count: int) -> None:
        nonlocal seen
        seen += count
        if seen >= pages:
            raise KeyboardInterrupt

    return advance


def interrupted(out: Path, pages: int = 10, options: ArchiveOptions = OPTIONS) -> None:
    with pytest.raises(KeyboardInterrupt):
        write_archive(open_session(SOURCE), out, options, advance=interrupt_after(pages))


def whole(out: Path) -> dict[str, bytes]:
    write_archive(open_session(SOURCE), out, OPTIONS)
    return contents(out)


def test_an_interrupted_run_leaves_no_archive_and_the_next_takes_over_its_pages(
    tmp_path: Path,
) -> None:
    expected = whole(tmp_path / "expected")
    out = tmp_path / "a"
    interrupted(out)
    assert not out.exists()
    first = tmp_path / "a.partial" / "pages" / "000001.png"
    before = first.stat().st_ino, first.stat().st_mtime_ns
    assert whole(out) == expected
    after = (out / "pages" / "000001.png").stat()
    assert (after.st_ino, after.st_mtime_ns) == before
    assert not (tmp_path / "a.partial").exists()


def test_a_second_interruption_keeps_what_both_runs_made(tmp_path: Path) -> None:
    expected = whole(tmp_path / "expected")
    out = tmp_path / "a"
    interrupted(out, 20)
    interrupted(out, 5)
    assert whole(out) == expected


def test_a_partial_run_of_another_shape_is_not_mixed_in(tmp_path: Path) -> None:
    out = tmp_path / "a"
    interrupted(out, options=ArchiveOptions("8x16@8x16-480x160", jobs=1))
    assert whole(out) == whole(tmp_path / "expected")


def test_torn_pages_of_a_broken_run_are_printed_again(tmp_path: Path) -> None:
    expected = whole(tmp_path / "expected")
    out = tmp_path / "a"
    interrupted(out)
    for page in (tmp_path / "a.partial" / "pages").iterdir():
        page.write_bytes(page.read_bytes()[:100])
    assert whole(out) == expected


def test_an_existing_output_is_refused_and_force_replaces_only_archives(tmp_path: Path) -> None:
    out = tmp_path / "a"
    whole(out)
    before = contents(out)
    with pytest.raises(OutputExistsError, match="--force"):
        write_archive(open_session(SOURCE), out, OPTIONS)
    forced = ArchiveOptions("8x16@8x16-480x160", force=True)
    with pytest.raises(KeyboardInterrupt):
        write_archive(open_session(SOURCE), out, forced, advance=interrupt_after(3))
    assert contents(out) == before
    write_archive(open_session(SOURCE), out, forced)
    assert contents(out) != before
    assert verify_archive(open_archive(out)).sound
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "thesis.txt").write_text("years of work")
    with pytest.raises(OutputExistsError, match="no archive"):
        write_archive(open_session(SOURCE), precious, forced)
    assert contents(precious) == {"thesis.txt": b"years of work"}


def test_an_interrupted_append_leaves_the_old_archive(tmp_path: Path) -> None:
    lines = SOURCE.read_bytes().splitlines(keepends=True)
    source, out = tmp_path / "s.jsonl", tmp_path / "a"
    source.write_bytes(b"".join(lines[:40]))
    write_archive(open_session(source), out, OPTIONS)
    before = contents(out)
    source.write_bytes(b"".join(lines))
    with pytest.raises(KeyboardInterrupt):
        append_archive(open_session(source), out, jobs=1, advance=interrupt_after(4))
    assert contents(out) == before
    append_archive(open_session(source), out, jobs=1)
    with open_archive(out) as archive:
        assert verify_archive(archive).sound
        assert b"".join(archive.source()) == source.read_bytes()


def test_leftovers_of_a_killed_append_are_no_part_of_the_archive(tmp_path: Path) -> None:
    lines = SOURCE.read_bytes().splitlines(keepends=True)
    source, out = tmp_path / "s.jsonl", tmp_path / "a"
    source.write_bytes(b"".join(lines[:40]))
    write_archive(open_session(source), out, OPTIONS)
    for name in ("pages.jsonl", "messages.jsonl", "source.zst"):
        with open(out / name, "ab") as file:
            file.write(b'{"page": 1} torn')
    with open_archive(out) as archive:
        last = archive.manifest.pages
        assert verify_archive(archive).sound
    for name in (f"{last:06d}.2.png", f"{last + 1:06d}.png"):
        (out / "pages" / name).write_bytes(b"half a page")
    (out / "glyphs.2.bdf").write_bytes(b"half a font")
    source.write_bytes(b"".join(lines))
    append_archive(open_session(source), out)
    with open_archive(out) as archive:
        assert verify_archive(archive).sound
        assert b"".join(archive.source()) == source.read_bytes()


def test_two_runs_at_once_do_not_mix(tmp_path: Path) -> None:
    out = tmp_path / "a"
    (tmp_path / "a.partial").mkdir()
    with locked(tmp_path / "a.partial"), pytest.raises(UsageError, match="in use"):
        write_archive(open_session(SOURCE), out, OPTIONS)
    assert not out.exists()


@pytest.mark.parametrize("limit", [2_000, 20_000, 60_000])
def test_a_full_disk_ends_with_a_message_and_no_archive(limit: int, tmp_path: Path) -> None:
    """The system refuses to let a file grow, as it does where no room is left."""
    run = subprocess.run(
        [sys.executable, "-m", "snapcompact", "archive", str(SOURCE), "-o", str(tmp_path / "a")],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 3, run.stderr
    assert "Traceback" not in run.stderr
    assert "cannot write" in run.stderr
    assert not (tmp_path / "a").exists()
