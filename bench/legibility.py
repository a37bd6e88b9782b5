"""How well machines read our fonts, beside public ones on the same text.

Run it from the repository: ``python bench/legibility.py`` (``--help`` for less than all of it).
Public fonts, Debian packages: ``apt install xfonts-base fonts-spleen xfonts-terminus xfonts-unifont
tesseract-ocr``; those missing are left out. RapidOCR: ``pip install 'snapcompact[ocr]'``.

Text: 24 KB of transcript as packed rows of 100 cells, and 200 identifiers (12 hex digits, UUIDs,
paths). ``SNAPCOMPACT_CORPUS`` is a folder with the text (default ``../shared/corpus``). CER is
Levenshtein distance over true length, blanks collapsed; an identifier counts if it stands in the
reading to the letter. *Template* is the share of cells that the exact reader gets wrong on a page
at the font's own pitch after Lanczos downscale, or as JPEG.
"""

from __future__ import annotations

import argparse
import datetime
import io
import json
import os
import platform
import random
import uuid
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from PIL import Image
from rapidfuzz.distance import Levenshtein

from snapcompact.errors import MachineError, PageError
from snapcompact.fonts.atlas import NO_GLYPH, Atlas, load_atlas
from snapcompact.fonts.check import closest_pairs
from snapcompact.fonts.load import font_names
from snapcompact.pages.cells import paginate
from snapcompact.pages.pipeline import render_page
from snapcompact.pages.shape import Shape
from snapcompact.readback.exact import see_cells
from snapcompact.readback.rapid import RapidReader, open_rapid
from snapcompact.readback.reader import OPTIONS, ReaderOptions
from snapcompact.readback.strips import COLUMN_GAP_PX, ROW_GAP_PX
from snapcompact.readback.tesseract import TesseractReader, open_tesseract

if TYPE_CHECKING:
    from numpy.typing import NDArray

Opened = TypeVar("Opened")
ROOT = Path(__file__).resolve().parent.parent
CORPUS = Path(os.environ.get("SNAPCOMPACT_CORPUS", ROOT.parent / "shared" / "corpus"))
X11 = Path("/usr/share/fonts/X11/misc")
PUBLIC = {
    "X.org 5x8": "5x8.pcf.gz",
    "Spleen 5x8": "spleen-5x8.pcf.gz",
    "X.org 6x12": "6x12.pcf.gz",
    "Spleen 6x12": "spleen-6x12.pcf.gz",
    "Terminus 6x12": "ter-u12n_unicode.pcf.gz",
    "X.org 6x13": "6x13.pcf.gz",
    "X.org 8x13": "8x13.pcf.gz",
    "X.org 9x15": "9x15.pcf.gz",
    "Spleen 8x16": "spleen-8x16.pcf.gz",
    "Terminus 8x16": "ter-u16n_unicode.pcf.gz",
    "Unifont 8x16": "unifont.pcf.gz",
}
WORDS = (
    "src", "lib", "core", "utils", "test", "pkg", "api", "handler", "config", "model", "index",
    "main", "server", "client", "parse", "build", "cache", "types", "hooks", "views",
)  # fmt: skip
ENDINGS = ("py", "ts", "go", "rs", "js", "tsx", "json", "yaml", "md")
NARROW = frozenset([*range(0x100, 0x530), *range(0x2000, 0x2900)])
"""Code points kept beyond Latin-1: what ours have; other scripts of Unifont are wide."""
COLUMNS = 100
SCALES = (0.75, 0.66, 0.5)
JPEG_QUALITY = 60
PAGE_ROWS = 40


@dataclass
class Row:
    """The figures of one font; rates in percent, None where not measured."""

    font: str
    smallest_distance: int
    pairs_up_to_3: int
    tesseract_cer: float | None = None
    tesseract_ids: float | None = None
    rapid_cer: float | None = None
    rapid_ids: float | None = None
    template_errors: dict[str, float | None] = field(default_factory=dict)
    confusions: dict[str, list[str]] = field(default_factory=dict)


def sample_rows(kilobytes: int) -> tuple[list[str], list[str]]:
    """Rows of text of up to COLUMNS characters, and the identifiers that stand in them."""
    source = (CORPUS / "transcripts-4mb.txt").read_text("utf-8", "replace")
    rng = random.Random(5)
    pieces = 8
    step, size = len(source) // pieces, kilobytes * 1000 // pieces
    texts = [source[start : start + size] for at in range(pieces)
             for start in [at * step + rng.randrange(100_000)]]  # fmt: skip
    text = " ".join("".join(c for c in " ".join(texts) if " " <= c <= "~" or c in "\n¶").split())
    prose = [text[at : at + COLUMNS].strip() for at in range(0, len(text), COLUMNS)]
    ids = identifiers(rng)
    packed = [""]
    for identifier in ids:
        if len(packed[-1]) + 1 + len(identifier) > COLUMNS:
            packed.append("")
        packed[-1] = f"{packed[-1]} {identifier}".strip()
    # Spread over the text, so that no page is all identifiers.
    every = max(1, len(prose) // len(packed))
    rows = []
    for at, row in enumerate(prose):
        rows.append(row)
        if at % every == 0 and packed:
            rows.append(packed.pop(0))
    return rows + packed, ids


def identifiers(rng: random.Random, count: int = 200) -> list[str]:
    """Identifiers of three kinds in turn."""

    def path() -> str:
        folders = "/".join(rng.choice(WORDS) for _ in range(3))
        name = f"{rng.choice(WORDS)}_{rng.choice(WORDS)}{rng.randrange(100)}"
        return f"{folders}/{name}.{rng.choice(ENDINGS)}"

    kinds = (
        lambda: f"{rng.getrandbits(48):012x}",
        lambda: str(uuid.UUID(int=rng.getrandbits(128), version=4)),
        path,
    )
    return [kinds[at % len(kinds)]() for at in range(count)]


def draw(rows: list[str], atlas: Atlas) -> NDArray[np.uint8]:
    """Rows as strips (rows, height, width), 255 is paper, glyphs set apart as the readers do."""
    ids = np.full((len(rows), COLUMNS), 32, np.intp)
    for at, row in enumerate(rows):
        found = atlas.glyph_of[[ord(c) for c in row]]
        ids[at, : len(row)] = np.where(found == NO_GLYPH, 32, found)
    cells = np.pad(atlas.bitmaps, ((0, 0), (0, ROW_GAP_PX), (0, COLUMN_GAP_PX)))[ids]
    strips = cells.transpose(0, 2, 1, 3).reshape(len(rows), atlas.height + ROW_GAP_PX, -1)
    return np.asarray(255 - 255 * strips, np.uint8)


def score(read: list[str], rows: list[str], ids: list[str]) -> tuple[float, float, list[str]]:
    """CER and identifiers found, in percent, and the commonest confusions."""
    truth, found = (" ".join(" ".join(part).split()) for part in (rows, read))
    edits = Counter(
        f"{truth[op.src_start : op.src_end]}→{found[op.dest_start : op.dest_end]} "
        for op in Levenshtein.opcodes(truth, found)
        if op.tag != "equal"
    )
    cer = 100 * Levenshtein.distance(truth, found) / len(truth)
    right = 100 * sum(identifier in found for identifier in ids) / len(ids)
    return round(cer, 2), round(right, 1), [f"{what}{n}" for what, n in edits.most_common(12)]


def template_errors(atlas: Atlas) -> dict[str, float | None]:
    """Cells misread in percent by each damage to a page of transcript; None: no page was seen."""
    text = (CORPUS / "transcripts-4mb.txt").read_bytes()[500_000:512_000]
    width = COLUMNS * atlas.width
    shape = Shape("font", atlas.width, atlas.height, width, PAGE_ROWS * atlas.height)
    page = next(iter(paginate([text], shape, atlas)))
    picture = Image.open(io.BytesIO(render_page(page, shape, atlas).png)).convert("L")
    damaged = {
        f"{scale}": _saved(
            picture.resize(
                (round(picture.width * scale), round(picture.height * scale)),
                Image.Resampling.LANCZOS,
            ),
            "PNG",
        )
        for scale in SCALES
    }
    damaged[f"JPEG {JPEG_QUALITY}"] = _saved(picture, "JPEG")
    return {what: _wrong_cells(data, shape, atlas, page.cells) for what, data in damaged.items()}


def _saved(picture: Image.Image, kind: str) -> bytes:
    stream = io.BytesIO()
    picture.save(stream, kind, quality=JPEG_QUALITY)
    return stream.getvalue()


def _wrong_cells(
    data: bytes, shape: Shape, atlas: Atlas, truth: NDArray[np.uint16]
) -> float | None:
    try:
        seen = see_cells(data, lambda _: atlas, shape=shape).cells
    except PageError:
        return None
    rows = min(len(seen), len(truth))
    wrong: int = int((seen[:rows] != truth[:rows]).sum()) + (len(truth) - rows) * truth.shape[1]
    return round(100.0 * wrong / int(truth.size), 2)


def measure(
    name: str,
    atlas: Atlas,
    text: tuple[list[str], list[str]],
    tesseract: TesseractReader | None,
    rapid: RapidReader | None,
) -> Row:
    """All figures of one font."""
    rows, ids = text
    pairs = closest_pairs(atlas)
    row = Row(name, pairs[0].distance, sum(pair.distance <= 3 for pair in pairs))
    strips = draw(rows, atlas)
    if tesseract:
        parts = [strips[at : at + 70] for at in range(0, len(strips), 70)]
        read = [line for part in parts for line in tesseract.read_strips(part)]
        row.tesseract_cer, row.tesseract_ids, row.confusions["tesseract"] = score(read, rows, ids)
    if rapid:
        read = list(rapid.read_strips(strips, COLUMNS))
        row.rapid_cer, row.rapid_ids, row.confusions["rapid"] = score(read, rows, ids)
    row.template_errors = template_errors(atlas)
    return row


def main() -> None:
    """Print the table, and keep it where ``--json`` says."""
    parser = argparse.ArgumentParser(description="How well machines read fonts.")
    parser.add_argument("fonts", nargs="*", help="names or paths; all, ours and public, if none")
    parser.add_argument("--kilobytes", type=int, default=24, help="of transcript (24)")
    parser.add_argument("--no-tesseract", action="store_true")
    parser.add_argument("--no-rapid", action="store_true")
    parser.add_argument("--json", type=Path, help="file to keep the figures in")
    parser.add_argument("--confusions", action="store_true", help="print what is taken for what")
    options = parser.parse_args()
    chosen = {font: font for font in options.fonts} or {
        **{name: name for name in font_names()},
        **{name: str(X11 / file) for name, file in PUBLIC.items() if (X11 / file).exists()},
    }
    tesseract = None if options.no_tesseract else _opened(open_tesseract)
    rapid = None if options.no_rapid else _opened(open_rapid)
    text = sample_rows(options.kilobytes)
    print("font distance pairs<=3 | tesseract CER ids | rapid CER ids | template errors, all in %")
    kept = []
    for name, font in chosen.items():
        row = measure(name, load_atlas(font, codes=NARROW), text, tesseract, rapid)
        kept.append(asdict(row))
        damage = " ".join(f"{what}: {wrong}" for what, wrong in row.template_errors.items())
        print(
            f"{name:14} {row.smallest_distance} {row.pairs_up_to_3} | {row.tesseract_cer} "
            f"{row.tesseract_ids} | {row.rapid_cer} {row.rapid_ids} | {damage}",
            flush=True,
        )
        if options.confusions:
            print(*(f"  {who}: {' '.join(what)}" for who, what in row.confusions.items()), sep="\n")
    if options.json:
        head = {"machine": platform.machine(), "date": f"{datetime.date.today()}"}
        options.json.write_text(
            json.dumps({**head, "fonts": kept}, indent=1, ensure_ascii=False) + "\n"
        )


def _opened(open_one: Callable[[ReaderOptions], Opened]) -> Opened | None:
    try:
        return open_one(OPTIONS)
    except MachineError as error:
        print(f"left out: {error}")
        return None


if __name__ == "__main__":
    main()
