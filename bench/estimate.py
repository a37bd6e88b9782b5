"""``snapcompact estimate`` on large sessions: wall time beside ``wc -w``, CPU time, peak memory.

    python bench/estimate.py --mb 100,1000 --json bench/results/estimate.json

Sessions are made as in bench/read.py: Claude Code records whose lengths are drawn from the corpus.
Each program runs once to warm the page cache, then its median of some is kept; both run in turn, so
that others' load on the machine tells on both. The memory is the largest resident set of a run.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from read import corpus_lines, make

FORMAT = "claude_code"


@dataclass(frozen=True, slots=True)
class Run:
    """One run of a program."""

    wall_s: float
    cpu_s: float
    peak_mb: float


def run(command: Sequence[str]) -> Run:
    """`command`, run in a process of its own; its output is thrown away."""
    start = time.perf_counter()
    with Path(os.devnull).open("wb") as nothing:
        process = subprocess.Popen(command, stdout=nothing)
        _, status, used = os.wait4(process.pid, 0)
    wall = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{command[0]} gave {process.returncode}")
    return Run(wall, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)


def measure(path: Path, mb: int, rounds: int) -> dict[str, float]:
    """The row of one session file."""
    ours = [sys.executable, "-m", "snapcompact", "estimate", str(path), "--json", "--quiet"]
    theirs = ["wc", "-w", str(path)]
    runs: dict[str, list[Run]] = {"estimate": [], "wc": []}
    run(theirs)
    for _ in range(rounds):
        runs["estimate"].append(run(ours))
        runs["wc"].append(run(theirs))

    def median(name: str, what: str) -> float:
        found: list[float] = [getattr(r, what) for r in runs[name]]
        return round(statistics.median(found), 2)

    return {
        "mb": mb,
        "wall_s": median("estimate", "wall_s"),
        "cpu_s": median("estimate", "cpu_s"),
        "mb_per_cpu_s": round(mb / median("estimate", "cpu_s"), 1),
        "peak_mb": max(round(r.peak_mb) for r in runs["estimate"]),
        "wc_wall_s": median("wc", "wall_s"),
        "wc_cpu_s": median("wc", "cpu_s"),
    }


def main() -> None:
    """Parse the command line and print a row per size."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mb", default="10,100", help="sizes of the sessions, in MB")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--json", type=Path, help="also write the rows here")
    args = parser.parse_args()
    found = corpus_lines()
    text = b" ".join(found)[:4_000_000].decode("utf-8", "replace")
    rows = []
    for mb in (int(part) for part in args.mb.split(",")):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "session.jsonl"
            make(path, FORMAT, [len(line) for line in found], text, mb * 1_000_000)
            rows.append(measure(path, mb, args.rounds))
        print(*(f"{name}={value}" for name, value in rows[-1].items()), flush=True)
    if args.json:
        about = {
            "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
            "python": platform.python_version(),
            "machine": platform.machine(),
        }
        args.json.write_text(json.dumps({**about, "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
