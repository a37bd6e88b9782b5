"""Archives in fonts of others: read where the font file is not, and grown with and without it."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from snapcompact import fonts as our_fonts
from snapcompact.archive.append import append_archive
from snapcompact.archive.fonts import Fonts
from snapcompact.archive.manifest import Manifest
from snapcompact.archive.read import open_archive
from snapcompact.archive.restore import restored
from snapcompact.archive.verify import verify_archive
from snapcompact.archive.write import ArchiveOptions, write_archive
from snapcompact.errors import UnknownNameError, UsageError
from snapcompact.fonts.atlas import atlas_to_bdf, load_atlas
from snapcompact.history.session import open_session
from snapcompact.pages.cells import paginate
from snapcompact.pages.pipeline import render_page
from snapcompact.pages.shape import parse_shape
from snapcompact.readback.lone import read_lone_pages
from snapcompact.transcript.write import write_transcript
from tests.archive import stranger
from tests.fonts.files import EMOJI, HAN, HANGUL, cjk_file
from tests.pages.test_carried import packed, with_chunk

SHAPE = "8x16@9x16-576x320"
SHIPPED = Path(our_fonts.__file__).parent


def line(number: int) -> str:
    wide = "".join(chr(HAN[(number + k) % 30]) for k in range(7))
    more = f"{chr(HANGUL[number % 16])}{chr(EMOJI[number % 4])} a\u0301 я ⨳ \udcff \t.\n"
    return f"{number}: {wide} and {more}"


TEXT = "".join(map(line, range(90))).encode("utf-8", "surrogatepass")


def archived(folder: Path, options: ArchiveOptions, text: bytes = TEXT) -> Path:
    source = folder / "text.txt"
    source.write_bytes(text)
    assert write_archive(open_session(source), folder / "a", options) is not None
    return folder / "a"


def transcript_of(source: Path) -> bytes:
    return b"".join(write_transcript(open_session(source).messages()))


def manifest_of(archive: Path) -> Manifest:
    with open_archive(archive) as opened:
        return opened.manifest


def font_file(folder: Path) -> str:
    """Our large font as anyone's file."""
    path = folder / "mine.bdf"
    path.write_text(atlas_to_bdf(load_atlas("8x16"), range(32, 256)), "ascii")
    return str(path)


@pytest.fixture(params=["behind ours", "in place of ours"])
def options(request: pytest.FixtureRequest, tmp_path: Path) -> ArchiveOptions:
    """With fonts of others."""
    font = font_file(tmp_path) if "place" in request.param else ""
    return ArchiveOptions(SHAPE, font=font, fallback=(cjk_file(tmp_path),))


def test_everything_comes_back_without_the_font_files(
    options: ArchiveOptions, tmp_path: Path
) -> None:
    out = archived(tmp_path, options)
    said = transcript_of(tmp_path / "text.txt")
    for file in tmp_path.glob("*.bdf"):
        file.unlink()
    with open_archive(out) as archive:
        assert verify_archive(archive, jobs=1).problems == ()
        assert b"".join(restored(archive, form="transcript", origin="pixels")) == said
        assert archive.manifest.pages > 3
        shape = archive.shape.name
    assert stranger.read_transcript(out) == said
    pages = tmp_path / "elsewhere"
    shutil.move(out / "pages", pages)
    shutil.rmtree(out)
    assert b"".join(page.text for page in read_lone_pages([pages])) == said
    lone = sorted(pages.glob("*.png"))
    assert b"".join(stranger.read_lone(page, shape, SHIPPED) for page in lone) == said


def test_an_archive_names_no_path_of_this_machine(options: ArchiveOptions, tmp_path: Path) -> None:
    out = archived(tmp_path, options)
    for file in (path for path in out.rglob("*") if path.is_file()):
        assert str(tmp_path).encode() not in file.read_bytes()


def test_it_grows_to_the_same_bytes(options: ArchiveOptions, tmp_path: Path) -> None:
    session = tmp_path / "s.jsonl"
    lines = [json.dumps({"role": "user", "content": line(n) * 4}) + "\n" for n in range(30)]
    session.write_text("".join(lines[:13]))
    write_archive(open_session(session), tmp_path / "grown", options)
    session.write_text("".join(lines))
    fonts = Fonts(options.font, options.fallback)
    append_archive(open_session(session), tmp_path / "grown", fonts=fonts)
    write_archive(open_session(session), tmp_path / "fresh", options)
    with open_archive(tmp_path / "grown") as grown, open_archive(tmp_path / "fresh") as fresh:
        assert [row.sha256 for row in grown.pages()] == [row.sha256 for row in fresh.pages()]
        assert grown.font == fresh.font
        assert grown.manifest.font == fresh.manifest.font
        assert verify_archive(grown, jobs=1).problems == ()


def test_it_grows_without_the_files_as_far_as_its_glyphs_go(tmp_path: Path) -> None:
    session = tmp_path / "s.jsonl"
    lines = [json.dumps({"role": "user", "content": line(n) * 3}) + "\n" for n in range(40)]
    session.write_text("".join(lines[:36]))
    cjk = cjk_file(tmp_path)
    out = tmp_path / "a"
    write_archive(open_session(session), out, ArchiveOptions(SHAPE, fallback=(cjk,)))
    session.write_text("".join(lines))
    append_archive(open_session(session), out)
    new = json.dumps({"role": "user", "content": chr(HAN[50])}) + "\n"
    session.write_text("".join(lines) + new)
    before = (out / "manifest.json").read_bytes()
    with pytest.raises(UsageError, match=r"U\+4E32.*some_cjk.*--fallback"):
        append_archive(open_session(session), out)
    assert (out / "manifest.json").read_bytes() == before
    grown = append_archive(open_session(session), out, fonts=Fonts(fallback=(cjk,)))
    assert grown.messages == 41
    with open_archive(out) as archive:
        assert verify_archive(archive, jobs=1).problems == ()
        assert b"".join(archive.transcript()) == transcript_of(session)


def test_other_fonts_than_it_was_made_with_are_refused(tmp_path: Path) -> None:
    mine, cjk = font_file(tmp_path), cjk_file(tmp_path)
    out = archived(tmp_path, ArchiveOptions(SHAPE, fallback=(cjk,)))
    session = open_session(tmp_path / "text.txt")
    with pytest.raises(UsageError, match=r"8x16\+some_cjk.*8x16\+mine"):
        append_archive(session, out, fonts=Fonts(fallback=(mine,)))
    (tmp_path / "b").mkdir()
    alone = archived(tmp_path / "b", ArchiveOptions(SHAPE, font=mine))
    with pytest.raises(UsageError, match="--font"):
        append_archive(open_session(tmp_path / "b" / "text.txt"), alone)


def test_the_share_of_escapes_shrinks(tmp_path: Path) -> None:
    (tmp_path / "plain").mkdir()
    plain = manifest_of(archived(tmp_path / "plain", ArchiveOptions(SHAPE)))
    with_cjk = manifest_of(
        archived(tmp_path, ArchiveOptions(SHAPE, fallback=(cjk_file(tmp_path),)))
    )
    assert plain.totals["escapes"] - with_cjk.totals["escapes"] == 90 * 9
    assert with_cjk.totals["cells"] < plain.totals["cells"]


def test_a_shape_spelled_with_a_path_is_called_by_the_fonts_name(tmp_path: Path) -> None:
    out = archived(tmp_path, ArchiveOptions(f"{font_file(tmp_path)}@9x16-576x320"))
    assert manifest_of(out).options["shape"] == "mine@9x16-576x320"
    assert b"".join(page.text for page in read_lone_pages([out / "pages"]))


def test_a_page_that_names_a_file_has_it_not_opened(tmp_path: Path) -> None:
    shape = replace(parse_shape(SHAPE), font=font_file(tmp_path))
    cells = next(paginate([b"text"], shape, load_atlas("8x16")))
    page = tmp_path / "page.png"
    page.write_bytes(render_page(cells, shape, load_atlas("8x16")).png)
    with pytest.raises(UnknownNameError, match=r"page\.png.*not shipped"):
        list(read_lone_pages([page]))
    assert [read.text for read in read_lone_pages([page], shape=shape.name)] == [b"text"]


def test_a_page_that_carries_other_glyphs_is_found(tmp_path: Path) -> None:
    out = archived(tmp_path, ArchiveOptions(SHAPE, fallback=(cjk_file(tmp_path),)))
    page = min((out / "pages").iterdir())
    page.write_bytes(with_chunk(page.read_bytes(), packed({0x4E00: list(range(16))})))
    with open_archive(out) as archive:
        problems = verify_archive(archive, jobs=1).problems
    assert ["carries glyphs that are not those" in str(found) for found in problems].count(
        True
    ) == 1
    assert all(found.page == 1 for found in problems)


def test_an_outline_font_in_place_of_ours(tmp_path: Path) -> None:
    plots = pytest.importorskip("matplotlib", reason="brings a TTF file with it")
    ttf = str(Path(plots.get_data_path()) / "fonts" / "ttf" / "DejaVuSansMono.ttf")
    session = tmp_path / "s.jsonl"
    lines = [json.dumps({"role": "user", "content": f"{n} Ünïcode, ям @W"}) for n in range(9)]
    for shape, cell in ((SHAPE, (8, 16)), (f"{ttf}@16x32-1568x320", (16, 32))):
        out = tmp_path / shape.rpartition("@")[2]
        session.write_text("\n".join(lines[:4]) + "\n")
        options = ArchiveOptions(shape, font="" if ttf in shape else ttf)
        write_archive(open_session(session), out, options)
        session.write_text("\n".join(lines) + "\n")
        append_archive(open_session(session), out, fonts=Fonts(ttf))
        with open_archive(out) as archive:
            assert verify_archive(archive, jobs=1).problems == ()
            assert (archive.font.width, archive.font.height) == cell
            assert archive.manifest.totals["escapes"] == 0
            assert b"".join(archive.transcript()) == transcript_of(session)
