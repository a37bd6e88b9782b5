"""How fast text becomes PNG files and comes back, beside a peer on the same text.

Run it from the repository: ``python bench/speed.py``. Megabytes (10^6) of text a second of CPU, one
thread, steady state; start-up apart. End to end it is user time, as the peer counts its own.
``SNAPCOMPACT_CORPUS`` is a folder with the text (default ``../shared/corpus``),
``SNAPCOMPACT_PEER`` the peer's script, called as FILE OUT API MODEL VARIANT (default
``../shared/peers/omp/run.sh``; none is run where there is none). The figures are kept in
``bench/results/speed.json``, or where ``--json FILE`` says; ``bench/readme_numbers.py`` puts them
into the README.
"""

from __future__ import annotations

import argparse
import datetime
import io
import json
import os
import platform
import subprocess
import tempfile
import time
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from statistics import median

from session import TURNS, measure_session, sizes, user_seconds, user_time

from snapcompact.fonts.atlas import Atlas, load_atlas
from snapcompact.pages import compress, decode, png
from snapcompact.pages.cells import PageCells, paginate
from snapcompact.pages.glyphs import rows_filtered
from snapcompact.pages.parallel import in_order
from snapcompact.pages.pipeline import draw_page, render_page, render_pages
from snapcompact.pages.render import raster, thread_buffer
from snapcompact.pages.shape import Shape, parse_shape
from snapcompact_kernels.raster import filter_up

ROOT = Path(__file__).resolve().parent.parent
CORPUS = Path(os.environ.get("SNAPCOMPACT_CORPUS", ROOT.parent / "shared" / "corpus"))
PEER = Path(os.environ.get("SNAPCOMPACT_PEER", ROOT.parent / "shared/peers/omp/run.sh"))
MEMORY = Path("/dev/shm")
"""Where the pages of both are written: a disk shared with others is not what is measured."""
VARIANTS = {"8x16": "8on16-bw", "11x16": "11on16-bw", "8x22": "8on22-bw"}
"""The peer's shape of the same pitch, by the short name of ours; others have no peer."""
MB = 1e6


@dataclass
class Report:
    """The figures of one shape; speeds in MB of text a second of CPU, unless they say wall."""

    shape: str
    pages: int = 0
    png_bytes_per_cell: float = 0.0
    stages: dict[str, float] = field(default_factory=dict)
    write: float = 0.0
    write_smaller: float = 0.0
    smaller_bytes_per_cell: float = 0.0
    read: float = 0.0
    wall_one_job: float = 0.0
    wall_all_jobs: float = 0.0
    peer: float | None = None
    peer_bytes_per_cell: float | None = None
    png_bytes: int = 0


def corpus(size: int) -> bytes:
    """`size` bytes of agent transcripts, each once as long as there are enough."""
    archive = CORPUS / "training-transcripts.zip"
    if archive.is_file():
        with zipfile.ZipFile(archive) as folder:
            parts = [folder.read(name) for name in sorted(folder.namelist())]
    else:
        parts = [(CORPUS / "transcripts-4mb.txt").read_bytes()]
    text = b"".join(parts)
    return (text * (size // len(text) + 1))[:size]


@contextmanager
def timed(stages: dict[str, float], stage: str) -> Iterator[None]:
    """Add the thread's CPU time to a stage."""
    start = time.thread_time()
    yield
    stages[stage] = stages.get(stage, 0.0) + time.thread_time() - start


def stage_speeds(text: bytes, shape: Shape, atlas: Atlas) -> dict[str, float]:
    """MB of text a CPU second of each step, page after page as in a real run."""
    stages: dict[str, float] = {}
    pages = paginate([text], shape, atlas)
    up = rows_filtered(shape, atlas)
    for first in paginate([text[:1000]], shape, atlas):  # compile
        drawn, printed = draw_page(first, shape, atlas)
        decode.reads_back(drawn.png, printed, first, shape)
    while True:
        with timed(stages, "cells and text hash"):
            page = next(pages, None)
        if page is None:
            break
        with timed(stages, "raster"):
            lines = raster(page.cells, shape, atlas, thread_buffer(shape, "page"))
        with timed(stages, "filter (within deflate)"):
            out = thread_buffer(shape, "bench")[: lines.size]
            filter_up(lines.reshape(-1), shape.row_bytes, up, out)
        with timed(stages, "deflate"):
            compress.compress(compress.Drawn(page.cells, lines, shape, atlas), "fast")
        with timed(stages, "whole page"):
            drawn, printed = draw_page(page, shape, atlas)
        with timed(stages, "check, as archiving does"):
            assert decode.reads_back(drawn.png, printed, page, shape)
        with timed(stages, "hash of the file"):
            _ = drawn.png_sha256
        with timed(stages, "read: inflate"):
            image = png.decode(drawn.png)
        with timed(stages, "read: match and compare"):
            read = decode.read_cells(image.scanlines, shape, atlas)
        with timed(stages, "read: text"):
            decode.cells_to_text(read.cells, shape, atlas)
    return {stage: len(text) / MB / seconds for stage, seconds in stages.items()}


def write_pages(text: bytes, shape: Shape, atlas: Atlas, folder: Path, jobs: int) -> int:
    """Write the pages of `text` as files, on `jobs` threads as archiving does; their bytes."""

    def write(page: PageCells) -> int:
        with open(f"{folder}/{page.number:06}.png", "wb", buffering=0) as file:
            return file.write(render_page(page, shape, atlas).png)

    return sum(in_order(write, paginate([text], shape, atlas), jobs=jobs))


def read_pages(folder: Path, shape: Shape, atlas: Atlas, jobs: int) -> Iterator[bytes]:
    """The text of each page in `folder`."""

    def read(path: Path) -> bytes:
        return decode.read_text(png.decode(path.read_bytes()), shape, atlas)

    return in_order(read, sorted(folder.glob("*.png")), jobs=jobs)


def smaller(text: bytes, shape: Shape, atlas: Atlas) -> tuple[float, float]:
    """Speed and bytes a cell of the effort ``smaller``."""

    def draw(part: bytes) -> list[tuple[int, int]]:
        pages = paginate([part], shape, atlas)
        drawn = render_pages(pages, shape, atlas, effort="smaller", jobs=1)
        return [(page.page.printed, len(page.png)) for page in drawn]

    draw(text[: len(text) // 10])  # compile
    start = user_time()
    drawn = draw(text)
    speed = len(text) / MB / (user_time() - start)
    return speed, sum(size for _, size in drawn) / sum(cells for cells, _ in drawn)


def wall_speeds(text: bytes, shape: Shape, atlas: Atlas, folder: Path) -> tuple[float, float]:
    """MB of text a second by the clock on one thread and on all, the best of five in turns.

    Others' load only adds to the time.
    """
    times: dict[int, list[float]] = {1: [], 0: []}
    for _ in range(5):
        for jobs, found in times.items():
            start = time.perf_counter()
            write_pages(text, shape, atlas, folder, jobs)
            found.append(time.perf_counter() - start)
    return len(text) / MB / min(times[1]), len(text) / MB / min(times[0])


def peer_command(variant: str) -> list[str]:
    """The peer's program, and what follows FILE and OUT."""
    return [str(PEER), "anthropic-messages", "claude-sonnet-4-5", variant]


def peer_run(text: bytes, variant: str, folder: Path) -> tuple[float, int, int]:
    """MB of text a user CPU second, PNG bytes and pages of the peer's renderer."""
    source = folder / "peer.txt"
    source.write_bytes(text)
    out = folder / "peer"
    program, *model = peer_command(variant)
    command = [program, str(source), str(out), *model]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    said = json.loads(done.stdout)
    return len(text) / MB / said["cpu_s"], said["png_bytes"], said["frames"]


def peer_speed(text: bytes, variant: str) -> float:
    """MB of text a user CPU second of the peer's renderer."""
    with tempfile.TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else None) as held:
        return peer_run(text, variant, Path(held))[0]


def measure(name: str, text: bytes, repeats: int, *, with_peer: bool) -> Report:
    """All figures of the shape called `name`."""
    shape = parse_shape(name)
    atlas = load_atlas(shape.font)
    with tempfile.TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else None) as held:
        folder = Path(held)
        report = Report(shape.name)
        report.png_bytes = write_pages(text[: len(text) // 10], shape, atlas, folder, 1)  # compile
        report.png_bytes = write_pages(text, shape, atlas, folder, 1)
        back = b"".join(read_pages(folder, shape, atlas, 1))
        if back != text:
            raise SystemExit(f"{name}: the pages do not give the text back")
        cells = [page.printed for page in paginate([text], shape, atlas)]
        report.pages = len(cells)
        report.png_bytes_per_cell = report.png_bytes / sum(cells)
        size = len(text) / MB
        stages, ours, packed, peers = [], [], [], []
        for _ in range(TURNS):
            stages.append(stage_speeds(text, shape, atlas))
            ours.append(user_seconds(lambda: write_pages(text, shape, atlas, folder, 1), repeats))
            packed.append(smaller(text, shape, atlas))
            if with_peer:
                peers.append(peer_run(text, VARIANTS[name], folder))
        report.stages = {name: median(one[name] for one in stages) for name in stages[0]}
        report.write = size / median(ours)
        report.write_smaller = median(speed for speed, _ in packed)
        report.smaller_bytes_per_cell = packed[0][1]
        report.read = size / user_seconds(
            lambda: sum(map(len, read_pages(folder, shape, atlas, 1))), repeats
        )
        report.wall_one_job, report.wall_all_jobs = wall_speeds(text, shape, atlas, folder)
        if peers:
            report.peer = median(speed for speed, _, _ in peers)
            _, png_bytes, frames = peers[0]  # its pages are full but for the last
            report.peer_bytes_per_cell = png_bytes / (frames * shape.page_cells)
    return report


def table(reports: list[Report]) -> str:
    """The figures as text."""
    out = io.StringIO()
    for r in reports:
        print(
            f"\n{r.shape}: {r.pages} pages, {r.png_bytes_per_cell:.3f} PNG bytes a cell", file=out
        )
        for stage, speed in r.stages.items():
            print(f"  {stage:<28}{speed:9.1f} MB a CPU second", file=out)
        print(f"  {'text to PNG files':<28}{r.write:9.1f}", file=out)
        print(f"  {'PNG files to text':<28}{r.read:9.1f}", file=out)
        print(
            f"  {'--smaller':<28}{r.write_smaller:9.1f}, "
            f"{r.smaller_bytes_per_cell:.3f} bytes a cell",
            file=out,
        )
        print(
            f"  wall: {r.wall_one_job:.1f} MB/s on one thread, {r.wall_all_jobs:.1f} on all "
            f"({r.wall_all_jobs / r.wall_one_job:.2f} x)",
            file=out,
        )
        if r.peer and r.peer_bytes_per_cell:
            print(
                f"  peer {r.peer:.2f} MB a CPU second: {r.write / r.peer:.0f} x; "
                f"bytes a cell {r.png_bytes_per_cell / r.peer_bytes_per_cell:.3f} x its, "
                f"--smaller {r.smaller_bytes_per_cell / r.peer_bytes_per_cell:.3f} x",
                file=out,
            )
    return out.getvalue()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mb", type=float, default=10, help="text, in MB")
    parser.add_argument("--shapes", default="8x16,11x16,8x22,default")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--no-peer", action="store_true")
    parser.add_argument("--no-sessions", dest="sessions", action="store_false")
    parser.add_argument("--memory", default="", help="sizes in MB of sessions, such as 100,1000")
    parser.add_argument("--json", type=Path, default=ROOT / "bench" / "results" / "speed.json")
    options = parser.parse_args()
    names = options.shapes.split(",")
    text = corpus(int(options.mb * MB))
    with_peer = PEER.is_file() and not options.no_peer
    peers = {name for name in names if with_peer and name in VARIANTS}
    reports = [measure(name, text, options.repeats, with_peer=name in peers) for name in names]
    grown = sizes(options.memory, names[0], corpus(4_000_000))
    print(table(reports))
    sessions = [
        measure_session(
            text,
            name,
            options.repeats,
            peer_command(VARIANTS[name]) if name in peers else None,
            partial(peer_speed, text, VARIANTS[name]) if name in peers else None,
        )
        for name in names
        if options.sessions
    ]
    for session in sessions:
        print(json.dumps(asdict(session), indent=1))
    for size in grown:
        print({key: round(value, 3) for key, value in size.items()})
    found = {
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "machine": {
            "processor": platform.processor() or platform.machine(),
            "cores": os.cpu_count(),
            "python": platform.python_version(),
        },
        "text_mb": len(text) / MB,
        "shapes": [asdict(report) for report in reports],
        "sessions": [asdict(session) for session in sessions],
        "sizes": grown,
    }
    options.json.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
