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
from snapcompact.errors import ArchiveError, OutputExistsError, UsageError
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


def test_a_folder_of_the_users_that_ends_in_partial_is_not_touched(tmp_path: Path) -> None:
    notes = tmp_path / "a.partial"
    notes.mkdir()
    (notes / "thesis.txt").write_text("years of work")
    with pytest.raises(UsageError, match="not ours"):
        write_archive(open_session(SOURCE), tmp_path / "a", OPTIONS)
    assert contents(notes) == {"thesis.txt": b"years of work"}
    link = tmp_path / "b.partial"
    link.symlink_to(notes)
    with pytest.raises(UsageError, match="not ours"):
        write_archive(open_session(SOURCE), tmp_path / "b", OPTIONS)
    assert contents(notes) == {"thesis.txt": b"years of work"}


@pytest.mark.parametrize("name", ["manifest.json", "x.zip"])
def test_force_replaces_no_folder_or_zip_of_another_program(name: str, tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    if name.endswith(".zip"):
        precious = tmp_path / name
        precious.write_bytes(b"PK\x03\x04 a document")
    else:
        precious.mkdir()
        (precious / name).write_text("{}")
    before = contents(precious)
    with pytest.raises(OutputExistsError, match="no archive"):
        write_archive(open_session(SOURCE), precious, ArchiveOptions(force=True))
    assert contents(precious) == before


def test_force_replaces_a_zip_by_a_folder_and_a_folder_by_a_zip(tmp_path: Path) -> None:
    out = tmp_path / "a"
    for as_zip in (False, True, False):
        options = ArchiveOptions("8x16@11x16-480x160", as_zip=as_zip, force=True)
        write_archive(open_session(SOURCE), out, options)
        assert out.is_file() == as_zip
        with open_archive(out) as archive:
            assert verify_archive(archive).sound
    assert [p.name for p in tmp_path.iterdir()] == ["a"]


@pytest.mark.parametrize("name", ["messages.jsonl", "pages.jsonl", "source.zst", "pages", "blobs"])
def test_append_writes_through_no_link(name: str, tmp_path: Path) -> None:
    source, out = tmp_path / "s.jsonl", tmp_path / "a"
    lines = SOURCE.read_bytes().splitlines(keepends=True)
    source.write_bytes(lines[0])
    write_archive(open_session(source), out, OPTIONS)
    outside = tmp_path / "outside"
    if (out / name).is_dir() or name == "blobs":
        outside.mkdir()
        (outside / "000001.png").write_bytes(b"mine")
        if (out / name).exists():
            (out / name).rename(tmp_path / "old")
    else:
        outside.write_bytes(b"mine")
        (out / name).unlink(missing_ok=True)
    (out / name).symlink_to(outside)
    source.write_bytes(b"".join(lines))
    before = contents(outside) if outside.is_dir() else outside.read_bytes()
    with pytest.raises(ArchiveError, match="link"):
        append_archive(open_session(source), out)
    assert (contents(outside) if outside.is_dir() else outside.read_bytes()) == before


def test_a_half_written_blob_of_a_broken_append_is_written_again(tmp_path: Path) -> None:
    lines = (CASES / "32_base64_image_tool_result.jsonl").read_bytes().splitlines(keepends=True)
    source, out = tmp_path / "s.jsonl", tmp_path / "a"
    source.write_bytes(lines[0])
    write_archive(open_session(source), out, OPTIONS)
    once = tmp_path / "once"
    source.write_bytes(b"".join(lines))
    write_archive(open_session(source), once, OPTIONS)
    (out / "blobs").mkdir(exist_ok=True)
    for blob in (once / "blobs").iterdir():
        (out / "blobs" / blob.name).write_bytes(blob.read_bytes()[:10])
    append_archive(open_session(source), out)
    with open_archive(out) as archive, open_archive(once) as other:
        assert verify_archive(archive).problems == ()
        assert archive.manifest.totals == other.manifest.totals
