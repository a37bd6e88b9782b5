"""What goes into an archive comes out: bytes from the source, the transcript from the pixels."""

from __future__ import annotations

import random
import re
import shutil
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from snapcompact.archive.append import append_archive
from snapcompact.archive.read import open_archive
from snapcompact.archive.restore import restored
from snapcompact.archive.verify import verify_archive
from snapcompact.archive.write import ArchiveOptions, write_archive
from snapcompact.errors import SnapcompactError, UsageError
from snapcompact.history.model import Message
from snapcompact.history.session import open_session
from snapcompact.history.unpack import GZIP_MAGIC, ZSTD_MAGIC
from snapcompact.readback.lone import read_lone_pages
from snapcompact.transcript.parse import parse_transcript, with_ordinal_ids
from snapcompact.transcript.write import write_transcript
from tests.archive import stranger
from tests.corpus import CASES, CORPUS, SAMPLES, corpus_files, needs_corpus

EVERY_CODE_POINT = "".join(
    chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000
).encode()

HOSTILE = {
    "every code point": EVERY_CODE_POINT,
    "random bytes": random.Random(1).randbytes(50_000),
    "blanks and line ends": b" \n\t\n   \r\n\n\n \t " * 500,
    "one byte": b"x",
    "one line of 8 MB": b"word " * (8 * 2**20 // 5),
    "no LF at the end": b"a\nb",
}


def transcript_of(source: bytes | Path) -> bytes:
    return b"".join(write_transcript(open_session(source).messages()))


def archived(source: bytes | Path, out: Path, **options: object) -> Path:
    made = write_archive(open_session(source), out, ArchiveOptions(**options))  # type: ignore[arg-type]
    assert made is not None
    return out


def check_everything_comes_back(source: bytes | Path, out: Path, **options: object) -> None:
    original = source if isinstance(source, bytes) else source.read_bytes()
    transcript = transcript_of(source)
    archived(source, out, **options)
    with open_archive(out) as archive:
        assert verify_archive(archive).problems == ()
        assert b"".join(restored(archive, form="original")) == original
        assert b"".join(restored(archive, form="transcript", origin="pixels")) == transcript
        assert b"".join(restored(archive, form="transcript", origin="source")) == transcript


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_text_comes_back(name: str, tmp_path: Path) -> None:
    source = tmp_path / "text.txt"
    source.write_bytes(HOSTILE[name])
    check_everything_comes_back(source, tmp_path / "a")


@pytest.mark.parametrize("path", corpus_files(), ids=lambda path: path.name)
def test_corpus_comes_back_from_the_archive_and_from_its_pages_alone(
    path: Path, tmp_path: Path
) -> None:
    out = tmp_path / "a"
    check_everything_comes_back(path, out)
    pages = tmp_path / "elsewhere"
    shutil.move(out / "pages", pages)
    shutil.rmtree(out)
    read = list(read_lone_pages([pages]))
    assert b"".join(page.text for page in read) == transcript_of(path)
    assert not any(page.unsure for page in read)


@needs_corpus
def test_a_large_plain_text_comes_back(tmp_path: Path) -> None:
    check_everything_comes_back(CORPUS / "transcripts-4mb.txt", tmp_path / "a", shape="8x16")


@pytest.mark.parametrize("path", sorted(p for p in SAMPLES.iterdir() if p.suffix != ".md"))
def test_samples_come_back(path: Path, tmp_path: Path) -> None:
    check_everything_comes_back(path, tmp_path / "a")


CASE_FILES = sorted(p for p in CASES.iterdir() if re.match(r"\d\d_.*\.jsonl(\.gz)?$", p.name))


@pytest.mark.parametrize("path", CASE_FILES, ids=lambda path: path.name)
def test_every_case_comes_back_or_has_nothing_to_archive(path: Path, tmp_path: Path) -> None:
    session = open_session(path)
    if next(session.messages(), None) is None:
        assert path.name.startswith(("01_", "02_"))
        assert write_archive(session, tmp_path / "a") is None
        assert list(tmp_path.iterdir()) == []
        return
    check_everything_comes_back(path, tmp_path / "a")
    with open_archive(tmp_path / "a") as archive:
        assert list(with_ordinal_ids(archive.messages())) == list(
            with_ordinal_ids(session.messages())
        )


@pytest.mark.parametrize(
    "shape", ["8x16", "11x16", "8x22", "8x16@8x16-640x320-cols2", "8x16@8x16-640x320-lines-header"]
)
def test_every_kind_of_shape_comes_back(shape: str, tmp_path: Path) -> None:
    check_everything_comes_back(CASES / "27_unicode_mix.jsonl", tmp_path / "a", shape=shape)
    check_everything_comes_back(
        CASES / "29_whitespace_sensitive.jsonl", tmp_path / "b", shape=shape
    )


def test_lean_pages_print_what_the_lean_transcript_says(tmp_path: Path) -> None:
    out = archived(CASES / "25_ansi_flood.jsonl", tmp_path / "a", fidelity="lean")
    with open_archive(out) as archive:
        from_pixels = b"".join(restored(archive, form="transcript", origin="pixels"))
        from_source = b"".join(restored(archive, form="transcript", origin="source"))
        assert archive.manifest.losses["redraws"] == 405
    assert from_pixels == from_source
    assert b"\x1b" not in from_pixels


def test_a_stranger_reads_it_after_the_format_page_alone(tmp_path: Path) -> None:
    text = "plain, naïve, 日本 🚀\ttab\r\n".encode() + bytes(range(256)) + b"\xed\xa0\x80"
    source = tmp_path / "text.txt"
    source.write_bytes(text * 20)
    out = archived(source, tmp_path / "a", shape="8x16@11x16-480x160")
    assert stranger.read_transcript(out) == transcript_of(source)


def test_two_runs_give_the_same_bytes(tmp_path: Path) -> None:
    source = CASES / "27_unicode_mix.jsonl"
    for as_zip in (False, True):
        first = archived(source, tmp_path / f"1{as_zip}", as_zip=as_zip, jobs=1)
        second = archived(source, tmp_path / f"2{as_zip}", as_zip=as_zip, jobs=2)
        assert contents(first) == contents(second)


def contents(path: Path) -> dict[str, bytes]:
    if path.is_file():
        return {"": path.read_bytes()}
    return {
        str(file.relative_to(path)): file.read_bytes() for file in path.rglob("*") if file.is_file()
    }


def test_a_zip_reads_as_its_folder_does(tmp_path: Path) -> None:
    source = CASES / "32_base64_image_tool_result.jsonl"
    check_everything_comes_back(source, tmp_path / "a.zip", as_zip=True)
    with open_archive(tmp_path / "a.zip") as archive:
        blobs = [b for m in archive.messages(blobs=True) for b in m.blocks if hasattr(b, "data")]
        assert blobs


def test_the_sidecar_names_page_and_row_and_grows(tmp_path: Path) -> None:
    shape = "8x16@8x16-640x160"
    source, out = grown(tmp_path, [300], shape=shape, sidecar=True)
    value = "9c4e0b8d1a2f3e4d5c6b7a8091a2b3c4d5e6f708"
    with source.open("ab") as file:
        file.write(b'{"role": "user", "content": "look at ' + value.encode() + b'"}\n')
    append_archive(open_session(source), out)
    with open_archive(out) as archive:
        assert verify_archive(archive).problems == ()
        path = archive.manifest.small_file("sidecar.txt")
        assert path is not None
        lines = (out / path).read_text().splitlines()
        page = int(lines[-2].removeprefix("page "))
        row = int(lines[-1].split()[0])
        assert value in lines[-1]
        text = archive.page_text(next(archive.pages(page)))
        at = text.index(value.encode())
        cells = text[:at].count(b"\xc2") * -1 + at  # a pilcrow is two bytes and one cell
        assert row == cells // 80 + 1


def test_files_are_private(tmp_path: Path) -> None:
    out = archived(CASES / "32_base64_image_tool_result.jsonl", tmp_path / "a")
    assert all(p.stat().st_mode & 0o077 == 0 for p in [out, *out.rglob("*")])
    assert (
        archived(CASES / "03_one_message.jsonl", tmp_path / "z", as_zip=True).stat().st_mode & 0o077
        == 0
    )


def test_any_message_is_read_from_its_own_pages(tmp_path: Path) -> None:
    source = CASES / "38_many_tiny_messages.jsonl"
    out = archived(source, tmp_path / "a", shape="8x16@8x16-640x160")
    everything = list(open_session(source).messages())
    with open_archive(out) as archive:
        assert archive.manifest.messages == len(everything) == 5400  # 600 are empty
        for at in (0, 1, 2999, 5398, 5399):
            assert [m.text for m in archive.messages(at, at + 1)] == [everything[at].text]
        span = b"".join(restored(archive, form="transcript", span="100:103"))
        assert span == b"".join(write_transcript(everything))[slice(*_bounds(everything, 100, 103))]


def _bounds(messages: list[Message], start: int, stop: int) -> tuple[int, int]:
    lengths = [len(piece) for piece in write_transcript(messages)]
    return sum(lengths[:start]), sum(lengths[:stop])


def test_what_cannot_be_restored_is_refused(tmp_path: Path) -> None:
    out = archived(CASES / "03_one_message.jsonl", tmp_path / "a", keep_source=False)
    with open_archive(out) as archive:
        for wrong in (
            {"form": "original"},
            {"form": "original", "origin": "pixels"},
            {"form": "page"},
            {"form": "transcript", "origin": "memory"},
            {"form": "transcript", "span": "5:2"},
            {"form": "transcript", "span": "x"},
        ):
            with pytest.raises(UsageError):
                b"".join(restored(archive, **wrong))


@settings(max_examples=20, deadline=None)
@given(
    # What begins as a gzip or zstd stream and is none is damage, not text.
    st.binary(max_size=3000).filter(lambda d: not d.startswith((GZIP_MAGIC, ZSTD_MAGIC))),
    st.integers(1, 400),
)
def test_any_text_on_small_pages(data: bytes, seed: int) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "a"
        session = open_session(data, format="text")
        if write_archive(session, out, ArchiveOptions(shape="8x16@8x16-320x64")) is None:
            assert data == b""
            return
        with open_archive(out) as archive:
            transcript = b"".join(restored(archive, form="transcript"))
            said = [m.blocks for m in parse_transcript([transcript])]
            assert said == [m.blocks for m in session.messages()]
            assert b"".join(archive.source()) == data


def grown(tmp_path: Path, cuts: list[int], **options: object) -> tuple[Path, Path]:
    """An archive made of the first lines of a session, then appended to at each cut."""
    lines = (CASES / "38_many_tiny_messages.jsonl").read_bytes().splitlines(keepends=True)
    source, out = tmp_path / "s.jsonl", tmp_path / "grown"
    for cut in cuts:
        source.write_bytes(b"".join(lines[:cut]))
        if out.exists():
            append_archive(open_session(source), out, check=True)
        else:
            archived(source, out, **options)
    return source, out


def test_appending_to_one_message_on_one_page(tmp_path: Path) -> None:
    source, out = grown(tmp_path, [1, 2, 3])
    with open_archive(out) as archive:
        assert verify_archive(archive, source=iter([source.read_bytes()])).problems == ()
        assert archive.manifest.messages == 3


@pytest.mark.parametrize("header", ["", "-header"])
def test_appending_gives_the_pages_of_one_run(header: str, tmp_path: Path) -> None:
    shape = f"8x16@8x16-640x160{header}"
    source, out = grown(tmp_path, [100, 101, 900, 900, 2000], shape=shape)
    once = archived(source, tmp_path / "once", shape=shape)
    with open_archive(out) as archive, open_archive(once) as other:
        assert verify_archive(archive, source=iter([source.read_bytes()])).problems == ()
        assert [r.sha256 for r in archive.pages()] == [r.sha256 for r in other.pages()]
        assert archive.manifest.totals == other.manifest.totals
        assert archive.manifest.chains["messages.jsonl"] == other.manifest.chains["messages.jsonl"]
        assert b"".join(archive.source()) == source.read_bytes()
        assert len(archive.manifest.source) == 4
    names = {p.name for p in out.iterdir()}
    assert len([n for n in names if n.startswith("glyphs")]) == 1


def test_appending_what_does_not_continue_the_archive_changes_nothing(tmp_path: Path) -> None:
    source, out = grown(tmp_path, [500], shape="8x16@8x16-640x160")
    before = contents(out)
    original = source.read_bytes()
    more = b'{"role": "user", "content": "more"}\n' * 40
    lines = original.splitlines(keepends=True)
    for changed in (
        original[:-1000],
        lines[1] + b"".join(lines[1:]) + more,
        b"".join(lines[:-3]) + more * 50,
    ):
        source.write_bytes(changed)
        with pytest.raises(UsageError):
            append_archive(open_session(source, format="openai_chat"), out, check=True)
        assert contents(out) == before


def test_an_edit_in_the_middle_is_named_by_its_message(tmp_path: Path) -> None:
    _, out = grown(tmp_path, [500], shape="8x16@8x16-640x160", keep_source=False)
    source = tmp_path / "s.jsonl"
    lines = source.read_bytes().splitlines(keepends=True)
    lines[250] = b'{"role": "user", "content": "edited"}\n'
    source.write_bytes(b"".join(lines))
    with pytest.raises(UsageError, match=r"message \d+ \(line 251 of the session\)"):
        append_archive(open_session(source), out)


def test_an_unknown_shape_or_fidelity_writes_nothing(tmp_path: Path) -> None:
    for options in ({"shape": "nonsense"}, {"fidelity": "nonsense"}):
        with pytest.raises(SnapcompactError):
            archived(CASES / "03_one_message.jsonl", tmp_path / "a", **options)
        assert list(tmp_path.iterdir()) == []
