"""Damage of every kind is named by `verify`, with its page, and crashes nothing."""

from __future__ import annotations

import json
import os
import random
import shutil
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
from PIL import Image

from snapcompact.archive.manifest import load_manifest
from snapcompact.archive.names import blob_path, page_path, page_revision, small_file
from snapcompact.archive.read import open_archive
from snapcompact.archive.verify import Verification, verify_archive
from snapcompact.archive.write import ArchiveOptions, write_archive
from snapcompact.errors import ArchiveError, DiskError, SnapcompactError, VersionError
from snapcompact.history.session import open_session
from tests.corpus import CASES

SHAPE = "8x16@11x16-480x160"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("made") / "a"
    write_archive(
        open_session(CASES / "11_one_long_agentic_turn.jsonl"), out, ArchiveOptions(SHAPE)
    )
    return out


@pytest.fixture
def archive(made: Path, tmp_path: Path) -> Path:
    shutil.copytree(made, tmp_path / "a")
    return tmp_path / "a"


def verified(path: Path) -> Verification:
    with open_archive(path) as opened:
        return verify_archive(opened, jobs=1)


def page(archive: Path, number: int) -> Path:
    return archive / page_path(number)


def flip_a_pixel(path: Path, x: int, y: int) -> None:
    picture = Image.open(path)
    pixels = picture.load()
    assert pixels is not None
    pixels[x, y] = 1 - pixels[x, y]
    picture.save(path, bits=1)


def test_an_untouched_archive_is_sound(archive: Path) -> None:
    result = verified(archive)
    assert result.sound
    assert result.pages > 20


def test_one_pixel_is_named_by_page_row_and_column(archive: Path) -> None:
    flip_a_pixel(page(archive, 7), 11 * 5 + 3, 16 * 4 + 9)
    (problem,) = verified(archive).problems
    assert (problem.page, problem.row, problem.column) == (7, 5, 6)


def test_every_pixel_of_a_page_counts(archive: Path) -> None:
    original = page(archive, 3).read_bytes()
    for seed in range(40):
        place = random.Random(seed)
        flip_a_pixel(page(archive, 3), place.randrange(480), place.randrange(160))
        assert [p.page for p in verified(archive).problems] == [3]
        page(archive, 3).write_bytes(original)


def truncate(archive: Path) -> None:
    data = page(archive, 4).read_bytes()
    page(archive, 4).write_bytes(data[: len(data) // 2])


def remove(archive: Path) -> None:
    page(archive, 4).unlink()


def empty(archive: Path) -> None:
    page(archive, 4).write_bytes(b"")


def no_picture(archive: Path) -> None:
    page(archive, 4).write_bytes(b"MZ" * 3000)


def another_size(archive: Path) -> None:
    Image.new("1", (100, 100)).save(page(archive, 4))


def a_bomb(archive: Path) -> None:
    def chunk(kind: bytes, data: bytes) -> bytes:
        crc = zlib.crc32(kind + data).to_bytes(4, "big")
        return len(data).to_bytes(4, "big") + kind + data + crc

    head = (60_000).to_bytes(4, "big") * 2 + bytes([1, 3, 0, 0, 0])
    body = zlib.compress(bytes(100_000_000))
    page(archive, 4).write_bytes(
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", head)
        + chunk(b"PLTE", bytes(6))
        + chunk(b"IDAT", body)
        + chunk(b"IEND", b"")
    )


def a_folder(archive: Path) -> None:
    page(archive, 4).unlink()
    page(archive, 4).mkdir()


def a_link_to_outside(archive: Path) -> None:
    outside = archive.parent / "outside.png"
    shutil.copy(page(archive, 4), outside)
    page(archive, 4).unlink()
    page(archive, 4).symlink_to(outside)


@pytest.mark.parametrize(
    "damage",
    [truncate, remove, empty, no_picture, another_size, a_bomb, a_folder, a_link_to_outside],
)
def test_a_damaged_page_is_named(damage: Callable[[Path], None], archive: Path) -> None:
    damage(archive)
    problems = verified(archive).problems
    assert {p.page for p in problems} == {4}


def test_swapped_pages_are_both_named(archive: Path) -> None:
    first, second = page(archive, 5).read_bytes(), page(archive, 9).read_bytes()
    page(archive, 5).write_bytes(second)
    page(archive, 9).write_bytes(first)
    problems = verified(archive).problems
    assert [(p.page, p.row) for p in problems] == [(5, 1), (9, 1)]
    assert "page 9" in problems[0].what
    assert "page 5" in problems[1].what


def test_a_page_saved_anew_by_another_program_reads_right_and_is_said(archive: Path) -> None:
    Image.open(page(archive, 2)).save(page(archive, 2), bits=1)
    (problem,) = verified(archive).problems
    assert problem.page == 2
    assert "file has changed" in problem.what


def test_a_manifest_of_another_archive_is_not_believed(archive: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    write_archive(open_session(CASES / "05_only_tool_results.jsonl"), other, ArchiveOptions(SHAPE))
    shutil.copy(other / "manifest.json", archive / "manifest.json")
    assert not verified(archive).sound


@pytest.mark.parametrize("name", ["pages.jsonl", "messages.jsonl", "glyphs.bdf", "source.zst"])
def test_a_changed_byte_in_any_file_is_found(name: str, archive: Path) -> None:
    data = bytearray((archive / name).read_bytes())
    for at in (10, len(data) // 2, len(data) - 10):
        changed = data.copy()
        changed[at] ^= 1
        (archive / name).write_bytes(changed)
        try:
            assert not verified(archive).sound
        except SnapcompactError as error:
            assert name in str(error)  # noqa: PT017 - glyphs that cannot be parsed stop the rest
    (archive / name).write_bytes(data)
    assert verified(archive).sound


def test_any_changed_byte_of_the_manifest_is_found(archive: Path) -> None:
    data = (archive / "manifest.json").read_bytes()
    for at in range(0, len(data), 37):
        changed = bytearray(data)
        changed[at] ^= 1
        (archive / "manifest.json").write_bytes(changed)
        try:
            with open_archive(archive) as opened:
                assert not opened.manifest.intact
        except ArchiveError:
            continue  # refused outright
    (archive / "manifest.json").write_bytes(data)
    changed_name = data.replace(b"agentic", b"AGENTIC", 1)
    (archive / "manifest.json").write_bytes(changed_name)
    (problem,) = verified(archive).problems
    assert "seal" in problem.what


def test_a_missing_or_changed_blob_is_found(tmp_path: Path) -> None:
    out = tmp_path / "a"
    write_archive(open_session(CASES / "32_base64_image_tool_result.jsonl"), out)
    blobs = sorted((out / "blobs").iterdir())
    assert len(blobs) > 2
    blobs[0].unlink()
    blobs[1].write_bytes(b"x")
    whats = " ".join(p.what for p in verified(out).problems)
    assert blobs[0].name in whats
    assert blobs[1].name[:16] in whats


def test_verify_compares_the_source_file(archive: Path) -> None:
    original = (CASES / "11_one_long_agentic_turn.jsonl").read_bytes()
    with open_archive(archive) as opened:
        for given, sound in (
            ([original], True),
            ([original[:100], original[100:]], True),
            ([original[:-1]], False),
            ([original, b"x"], False),
            ([b"x" + original[1:]], False),
        ):
            assert verify_archive(opened, source=iter(given)).sound is sound


BAD_PATHS = [
    entry["file"]
    for entry in json.loads((CASES / "35_manifest_bad_paths.json").read_text("utf-8"))["pages"]
    if isinstance(entry.get("file"), str)
]


@pytest.mark.parametrize("path", BAD_PATHS)
def test_case_35_no_bad_path_is_opened(path: str, archive: Path) -> None:
    lines = (archive / "pages.jsonl").read_text("utf-8").splitlines()
    row = json.loads(lines[0])
    row["file"] = path
    lines[0] = json.dumps(row)
    (archive / "pages.jsonl").write_text("\n".join(lines) + "\n", "utf-8")
    with pytest.raises(ArchiveError):
        page_revision(path, 1)
    result = verified(archive)
    assert not result.sound
    manifest = json.loads((archive / "manifest.json").read_text("utf-8"))
    manifest["last_page"]["file"] = path
    (archive / "manifest.json").write_text(json.dumps(manifest), "utf-8")
    with pytest.raises(ArchiveError, match="path"):
        open_archive(archive)


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"snapcompact": 999}, VersionError),
        ({"snapcompact": "1"}, ArchiveError),
        ({"snapcompact": None}, ArchiveError),
        ({"totals": {"messages": -1, "pages": 1, "transcript_bytes": 1}}, ArchiveError),
        ({"totals": {"messages": 1, "pages": 10**30, "transcript_bytes": 1}}, ArchiveError),
        ({"totals": {}}, ArchiveError),
        ({"last_page": None}, ArchiveError),
        ({"last_page": {"page": 0}}, ArchiveError),
        ({"last_page": {"page": 1, "size": 10**12, "file": "pages/000001.png"}}, ArchiveError),
        ({"lengths": {"pages.jsonl": "many"}}, ArchiveError),
        ({"source": [{"bytes": -5}]}, ArchiveError),
        ({"options": []}, ArchiveError),
    ],
)
def test_case_35_a_hostile_manifest_is_refused(
    change: dict[str, object], error: type[SnapcompactError], archive: Path
) -> None:
    manifest = json.loads((archive / "manifest.json").read_text("utf-8"))
    (archive / "manifest.json").write_text(json.dumps(manifest | change), "utf-8")
    with pytest.raises(error):
        open_archive(archive)


def test_case_35_itself_is_no_manifest() -> None:
    with pytest.raises(ArchiveError, match="no format version"):
        load_manifest((CASES / "35_manifest_bad_paths.json").read_bytes(), "case 35")


def test_names_that_are_not_ours() -> None:
    for wrong in ("guide.md/..", "guide.txt", "../guide.md", "guide.0x2.md", "sidecar.bdf", ""):
        assert small_file(wrong) is None
    for wrong in ("", "..", "a" * 64 + "/", "A" * 64, "0" * 63):
        with pytest.raises(ArchiveError):
            blob_path(wrong)
    assert page_path(10_000) == "pages/01/010000.png"
    assert page_revision("pages/01/010000.3.png", 10_000) == 3


def test_what_is_no_archive_says_so(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("hello")
    os.makedirs(tmp_path / "folder")
    for wrong in ("text", "folder"):
        with pytest.raises(ArchiveError, match=wrong):
            open_archive(tmp_path / wrong)
    with pytest.raises(DiskError, match="missing: it does not exist"):
        open_archive(tmp_path / "missing")
