"""The exact reader on damaged pages of real sessions: errors, and how well its doubts tell them.

``python bench/readback.py [--pages N] [--shapes A,B] [--damages A;B] [--json FILE]
[SESSION...]``; by default the shared corpus. Seconds are those of the process on all cores.
"""

from __future__ import annotations

import argparse
import datetime
import io
import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from snapcompact.benchmark.run import machine
from snapcompact.benchmark.sample import print_sessions
from snapcompact.errors import PageError
from snapcompact.fonts.atlas import load_atlas
from snapcompact.pages.decode import read_cells
from snapcompact.pages.png import decode
from snapcompact.pages.shape import parse_shape
from snapcompact.readback.exact import see_cells

Grey = NDArray[np.float32]
CORPUS = Path(__file__).parents[2] / "shared" / "corpus"
SHAPES = "8x16,11x16,6x12@6x12-1568x1568,5x8@5x8-1568x1568"


def as_file(grey: Grey, kind: str = "PNG", **options: int) -> bytes:
    buffer = io.BytesIO()
    image = Image.fromarray(grey.clip(0, 255).round().astype(np.uint8))
    image.save(buffer, kind, **options)
    return buffer.getvalue()


def resized(grey: Grey, width: int, height: int) -> Grey:
    image = Image.fromarray(grey.astype(np.uint8))
    return np.asarray(image.resize((width, height), Image.Resampling.LANCZOS), np.float32)


def scaled(grey: Grey, by: float) -> Grey:
    return resized(grey, round(grey.shape[1] * by), round(grey.shape[0] * by))


def there_and_back(grey: Grey, by: float) -> Grey:
    return resized(scaled(grey, by), grey.shape[1], grey.shape[0])


def shifted(grey: Grey, by: int) -> Grey:
    """Moved right and down on its canvas: what leaves it is lost."""
    return np.pad(grey, ((by, 0), (by, 0)), constant_values=255)[: grey.shape[0], : grey.shape[1]]


def turned(grey: Grey, degrees: float) -> Grey:
    image = Image.fromarray(grey.astype(np.uint8))
    return np.asarray(
        image.rotate(degrees, Image.Resampling.BICUBIC, expand=True, fillcolor=255), np.float32
    )


def salted(grey: Grey, share: float) -> Grey:
    chance = np.random.default_rng(0).random(grey.shape)
    flecks = np.where(chance < share / 2, 0, 255)
    return np.where(chance < share, flecks, grey).astype(np.float32)


DAMAGE: Mapping[str, Callable[[Grey], bytes]] = {
    "JPEG 60": lambda grey: as_file(grey, "JPEG", quality=60),
    "0.75 and back": lambda grey: as_file(there_and_back(grey, 0.75)),
    "shift 3 px": lambda grey: as_file(shifted(grey, 3)),
    "1 % salt": lambda grey: as_file(salted(grey, 0.01)),
    "JPEG 10": lambda grey: as_file(grey, "JPEG", quality=10),
    "half size": lambda grey: as_file(scaled(grey, 0.5)),
    "5 % salt": lambda grey: as_file(salted(grey, 0.05)),
    "half size, JPEG 30": lambda grey: as_file(scaled(grey, 0.5), "JPEG", quality=30),
    "half size, JPEG 25": lambda grey: as_file(scaled(grey, 0.5), "JPEG", quality=25),
    "0.4 of the size": lambda grey: as_file(scaled(grey, 0.4)),
    "5 % salt, JPEG 10": lambda grey: as_file(salted(grey, 0.05), "JPEG", quality=10),
    "turned by 1°": lambda grey: as_file(turned(grey, 1.0), "JPEG", quality=80),
    "15 % salt": lambda grey: as_file(salted(grey, 0.15)),
}


def measure(
    name: str, sessions: list[Path], pages: int, damages: Sequence[str]
) -> Iterator[dict[str, object]]:
    shape = parse_shape(name)
    sample = print_sessions(sessions, shape, pages, 0).sample
    for damage in damages:
        harm = DAMAGE[damage]
        wrong = total = flagged_wrong = flagged_right = unread = 0
        begun = time.process_time()
        for page in sample:
            image = decode(page.picture.data)
            cells = read_cells(image.scanlines, shape, page.picture.atlas).cells
            grey = 255.0 * (1 - image.pixels.astype(np.float32))
            try:
                seen = see_cells(harm(grey), load_atlas, shape=shape)
            except PageError:
                unread += 1
                continue
            rows_seen = min(len(seen.cells), len(cells))
            bad = seen.cells[:rows_seen] != cells[:rows_seen]
            doubt = seen.unsure[:rows_seen]
            wrong += int(bad.sum()) + cells[rows_seen:].size
            total += cells.size
            flagged_wrong += int((bad & doubt).sum())
            flagged_right += int((doubt & ~bad).sum())
        yield {
            "shape": shape.name, "damage": damage, "pages": len(sample), "cells": total,
            "wrong": wrong, "error_rate": wrong / max(total, 1), "flagged_wrong": flagged_wrong,
            "flagged_right_rate": flagged_right / max(total - wrong, 1), "unread_pages": unread,
            "seconds_per_page": (time.process_time() - begun) / max(len(sample), 1),
        }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sessions", nargs="*", type=Path)
    parser.add_argument("--pages", type=int, default=4)
    parser.add_argument("--shapes", default=SHAPES)
    parser.add_argument("--damages", default=";".join(DAMAGE), help="with semicolons between")
    parser.add_argument("--json", type=Path, help="file to keep the figures in")
    arguments = parser.parse_args()
    sessions = arguments.sessions or sorted(CORPUS.glob("*.jsonl"))
    rows: list[dict[str, object]] = []
    for name in arguments.shapes.split(","):
        for row in measure(name, sessions, arguments.pages, arguments.damages.split(";")):
            rows.append(row)
            print(
                f"{row['shape']:24} {row['damage']:20} {row['wrong']:6} wrong of {row['cells']:7} "
                f"({100 * float(str(row['error_rate'])):.4f} %), {row['flagged_wrong']} of them "
                f"flagged, {100 * float(str(row['flagged_right_rate'])):.3f} % of the right ones; "
                f"{float(str(row['seconds_per_page'])):.1f} s a page",
                flush=True,
            )
    if arguments.json:
        found = {"machine": machine(), "date": f"{datetime.date.today()}", "rows": rows}
        arguments.json.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
