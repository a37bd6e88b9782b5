"""What ``snapcompact bench`` does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import orjson

from snapcompact.benchmark.compare import compare, load_result
from snapcompact.benchmark.report_html import html_report
from snapcompact.benchmark.report_text import headline, markdown, tables, to_csv
from snapcompact.benchmark.run import BenchOptions, BenchResult, run_bench
from snapcompact.cli.console import note, printable, say, say_json, table, warn
from snapcompact.cli.kernels import announce_compiling
from snapcompact.errors import DiskError, MissingExtraError, OutputExistsError, UsageError
from snapcompact.files import cache_dir, disk_errors, write_atomic
from snapcompact.pages.coverage import AUTO
from snapcompact.pages.shape import parse_shape
from snapcompact.readback.reader import VISION, Reader, open_reader

BRIEF_TABLES = ("Shapes", "Tokens", "Readers", "Probes and verdict")


@dataclass(frozen=True, slots=True)
class Request:
    """The command's arguments."""

    sessions: tuple[Path, ...]
    shapes: tuple[str, ...]
    readers: tuple[str, ...]
    models: tuple[str, ...]
    sample: int
    seed: int
    probes: int
    output: Path | None
    answers: Path | None
    base_url: str
    max_usd: float | None


def run_bench_command(request: Request, *, as_json: bool, quiet: bool) -> None:
    """Run the benchmark and write or print its reports."""
    if request.output is not None and request.output.exists():
        raise OutputExistsError(f"{request.output} already exists; give another name")
    for session in request.sessions:
        if not session.is_file():
            raise DiskError(f"cannot read {session}: no such file")
    for name in request.shapes:
        if name != AUTO:
            parse_shape(name)
    announce_compiling(quiet=quiet)
    readers = [_reader(name, request, quiet=quiet) for name in request.readers]
    options = BenchOptions(
        request.shapes, request.models, request.sample, request.seed, request.probes
    )
    result = run_bench(
        request.sessions, options, readers, tell=lambda line: None if quiet else note(line)
    )
    if request.output is not None:
        _write(result, request.output, quiet=quiet)
    if as_json:
        say_json(result.data)
    else:
        _print(result)


def _reader(name: str, request: Request, *, quiet: bool) -> Reader:
    if not name.startswith(VISION):
        return open_reader(name)
    from snapcompact.llm.client import Client, find_endpoint
    from snapcompact.readback.answers import Answers
    from snapcompact.readback.vision import open_vision

    model = name.removeprefix(VISION)
    return open_vision(
        model,
        Answers(request.answers or cache_dir() / "answers"),
        Client(find_endpoint(model, base_url=request.base_url)),
        max_usd=request.max_usd,
        tell=lambda line: warn(printable(line), quiet=quiet),
    )


def _write(result: BenchResult, folder: Path, *, quiet: bool) -> None:
    from snapcompact.benchmark.plots import plots

    try:
        drawn = plots(result.data)
    except MissingExtraError as error:
        warn(f"the report has no plots: {error}", quiet=quiet)
        drawn = []
    with disk_errors("make", folder):
        folder.mkdir(parents=True)
    files = {
        "bench.json": orjson.dumps(result.data, option=orjson.OPT_INDENT_2),
        "bench.md": markdown(result.data).encode(),
        "bench.csv": to_csv(result.data).encode(),
        "bench.html": html_report(result.data, result.pages, drawn).encode(),
    }
    for name, data in files.items():
        write_atomic(folder / name, data)


def _print(result: BenchResult) -> None:
    say(printable(headline(result.data)))
    for title, head, rows in tables(result.data):
        if title in BRIEF_TABLES:
            say()
            for line in table(head, rows):
                say(line)


def run_compare(paths: Sequence[Path], *, as_json: bool) -> None:
    """Print how the second of two results differs from the first."""
    if len(paths) != 2:
        raise UsageError("compare takes two results: bench compare A.json B.json")
    rows = compare(load_result(paths[0]), load_result(paths[1]))
    if as_json:
        say_json(rows)
        return
    marks = {True: "changed", False: "within its interval", None: ""}
    body = [
        [r["shape"], r["reader"], r["figure"], f"{r['old']:.5g}", f"{r['new']:.5g}",
         marks[r["changed"]]]
        for r in rows
    ]  # fmt: skip
    for line in table(["shape", "reader", "figure", "old", "new", ""], body):
        say(line)
