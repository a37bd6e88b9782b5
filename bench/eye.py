"""The model's eye: fitted to published readings, and what it predicts of fonts and shapes.

    python bench/eye.py fit                                # the rows of legibility/eyes.toml
    python bench/eye.py fonts --json bench/results/eye.json

Public fonts, Debian packages: ``apt install xfonts-base fonts-spleen xfonts-terminus
xfonts-unifont``. ``SNAPCOMPACT_CORPUS`` is a folder with transcripts-4mb.txt (default
``../shared/corpus``).

*fit*: pxpipe had models read 20 random identifiers at each of several cell sizes, and 12 hex digits
at 5x8. Which fonts is not said for all; public ones of about the cell's size stand in. Blur and
noise are those under which the published counts are likeliest (binomial).
*fonts*: predicted CER of each font on the corpus, seen whole and scaled down, by the default eye.
"""

from __future__ import annotations

import argparse
import datetime
import json
import math
import os
import platform
import random
from dataclasses import asdict, dataclass
from pathlib import Path

from snapcompact.errors import SnapcompactError
from snapcompact.fonts.atlas import Atlas, build_atlas, load_atlas
from snapcompact.fonts.load import font_names, load_font
from snapcompact.legibility.eye import DEFAULT, Eye, eye_of
from snapcompact.legibility.score import Sight, misread_chances, score
from snapcompact.pages.shape import Shape
from snapcompact.transcript.sample import BLOCK_BYTES, Sampler

X11 = Path("/usr/share/fonts/X11/misc")
CORPUS = Path(os.environ.get("SNAPCOMPACT_CORPUS", "../shared/corpus"))
HEX_DIGITS = 12
BEYOND_CJK = 0x2E80
"""Code points from here on are left out: whole CJK fonts have more glyphs than an atlas takes."""
BLURS_PX = (0.4, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.9)
NOISES = tuple(round(0.03 * 1.15**step, 3) for step in range(22))
SCALES = (1.0, 0.75, 0.66, 0.5)
PUBLIC = {
    "X.org 5x8": "5x8.pcf.gz",
    "X.org 6x12": "6x12.pcf.gz",
    "X.org 6x13": "6x13.pcf.gz",
    "X.org 8x13": "8x13.pcf.gz",
    "X.org 9x15": "9x15.pcf.gz",
    "Spleen 5x8": "spleen-5x8.pcf.gz",
    "Spleen 6x12": "spleen-6x12.pcf.gz",
    "Spleen 8x16": "spleen-8x16.pcf.gz",
    "Terminus 6x12": "ter-u12n_unicode.pcf.gz",
    "Terminus 8x16": "ter-u16n_unicode.pcf.gz",
    "Unifont 8x16": "unifont.pcf.gz",
}


@dataclass(frozen=True)
class Published:
    """``right`` of ``all`` identifiers came back exactly, printed in `font` on a pitch."""

    font: str
    pitch: tuple[int, int]
    right: int
    all: int


LADDER = (
    Published("spleen-5x8.pcf.gz", (5, 8), 2, 20),
    Published("6x10.pcf.gz", (7, 10), 7, 20),
    Published("spleen-8x16.pcf.gz", (10, 16), 19, 20),
    Published("10x20.pcf.gz", (14, 22), 19, 20),
)
"""Opus 4.8. A chance of 1 in 20 that an identifier is lost for other reasons is allowed for."""
OTHERS = {
    "gemini-3": (Published("spleen-5x8.pcf.gz", (5, 8), 14, 15),),
    "claude-fable": (Published("spleen-5x8.pcf.gz", (5, 8), 13, 15),),
}
MISHAP = 0.03


def expected(case: Published, blur_px: float, noise: float, words: list[str]) -> float:
    """The share of `words` that this eye is expected to read exactly."""
    width, height = case.pitch
    shape = Shape("any", width, height, width * 98, height * 45)
    sight = Sight((shape.page_width, shape.grid_rows * height), Eye("", blur_px, noise, "", ""))
    text = "".join(word + "\n" for word in words).encode()
    rates = score([text], shape, load_atlas(str(X11 / case.font)), sight).ascii_rates
    wrong = misread_chances([word.encode() for word in words], rates)
    return (1 - MISHAP) * float(1 - wrong.mean())


def likelihood(cases: tuple[Published, ...], shares: list[float]) -> float:
    """Log likelihood of what was published if these shares are read."""
    total = 0.0
    for case, share in zip(cases, shares, strict=True):
        kept = min(max(share, 1e-6), 1 - 1e-6)
        total += case.right * math.log(kept) + (case.all - case.right) * math.log(1 - kept)
    return total


def fit() -> None:
    source = random.Random(0)
    words = ["".join(source.choices("0123456789abcdef", k=HEX_DIGITS)) for _ in range(200)]

    def tried(cases: tuple[Published, ...], blur_px: float, noise: float) -> list[float]:
        return [expected(case, blur_px, noise, words) for case in cases]

    def best(cases: tuple[Published, ...], blurs: tuple[float, ...]) -> tuple[float, float]:
        pairs = [(blur, noise) for blur in blurs for noise in NOISES]
        return max(pairs, key=lambda pair: likelihood(cases, tried(cases, *pair)))

    blur, noise = best(LADDER, BLURS_PX)
    report("default (Opus 4.8)", LADDER, blur, noise, tried(LADDER, blur, noise))
    for name, cases in OTHERS.items():
        _, own = best(cases, (blur,))
        report(name, cases, blur, own, tried(cases, blur, own))


def report(
    name: str, cases: tuple[Published, ...], blur: float, noise: float, shares: list[float]
) -> None:
    print(f"{name}: blur_px = {blur}, noise = {noise}")
    for case, share in zip(cases, shares, strict=True):
        width, height = case.pitch
        print(f"  {width}x{height}: published {case.right}/{case.all}, predicted {share:.0%}")


@dataclass(frozen=True)
class Row:
    """Predicted character error rates in percent, by scale."""

    font: str
    pitch: str
    cer_percent: dict[str, float]


def fonts(json_path: Path | None) -> None:
    sampler = Sampler(blocks=8)
    text = (CORPUS / "transcripts-4mb.txt").read_bytes()
    for at in range(0, len(text), BLOCK_BYTES):
        sampler.feed(text[at : at + BLOCK_BYTES])
    sample = sampler.result()
    rows = []
    for name, path in ({f"ours {n}": n for n in font_names()} | PUBLIC).items():
        try:
            font = load_font(path if path in font_names() else str(X11 / path))
            atlas = build_atlas(font, codes=range(BEYOND_CJK))
        except SnapcompactError as error:
            print(f"{name}: left out: {error}")
            continue
        rows += [predicted(name, atlas, atlas.width + gap, sample) for gap in (0, 1)]
    rows.sort(key=lambda row: (row.pitch, row.cer_percent["1.0"]))
    print(f"{'font':<16} pitch  " + " ".join(f"{scale:>9}" for scale in SCALES))
    for row in rows:
        figures = " ".join(f"{value:>9.3f}" for value in row.cer_percent.values())
        print(f"{row.font:<16} {row.pitch:<6} {figures}")
    if json_path:
        about = {
            "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
            "machine": platform.processor() or platform.machine(),
            "eye": asdict(eye_of(DEFAULT)),
        }
        json_path.write_text(json.dumps(about | {"rows": list(map(asdict, rows))}, indent=1) + "\n")


def predicted(name: str, atlas: Atlas, pitch_width: int, sample: tuple[bytes, ...]) -> Row:
    columns = 840 // pitch_width
    shape = Shape("any", pitch_width, atlas.height, columns * pitch_width, 60 * atlas.height)
    rates = {}
    for scale in SCALES:
        seen = round(shape.page_width * scale), round(shape.page_height * scale)
        found = score(sample, shape, atlas, Sight(seen, eye_of(DEFAULT)))
        rates[str(scale)] = round(100 * found.cer.value, 4)
    return Row(name, f"{pitch_width}x{atlas.height}", rates)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("fit", "fonts"))
    parser.add_argument("--json", type=Path, help="write the figures here too")
    arguments = parser.parse_args()
    if arguments.what == "fit":
        fit()
    else:
        fonts(arguments.json)


if __name__ == "__main__":
    main()
