"""The README's numbers, written from bench/results: ``python bench/readme_numbers.py``.

``--check`` only says (exit code 1) whether they are out of date. Each table names the command that
measures it again; a result that is not there leaves its table out.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "bench" / "results"
BEGIN = "<!-- numbers: written by bench/readme_numbers.py -->\n"
END = "<!-- end of numbers -->"
Found = dict[str, Any]


def table(head: list[str], rows: list[list[str]]) -> str:
    """A Markdown table, numbers to the right."""
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def speed(found: Found) -> str:
    """Text to pages and back, beside the peer."""
    names = [shape["shape"].partition("@")[2] or shape["shape"] for shape in found["shapes"]]
    sessions = found["sessions"]

    def row(name: str, value: Callable[[Found], str]) -> list[str]:
        return [name, *map(value, found["shapes"])]

    rows = [
        row("text → PNG files", lambda s: f"{s['write']:.1f}"),
        row("PNG files → text", lambda s: f"{s['read']:.1f}"),
        row("text → PNG files, `--smaller`", lambda s: f"{s['write_smaller']:.1f}"),
        ["session file → verified archive", *(f"{s['archive']:.1f}" for s in sessions)],
        row("oh-my-pi, text → PNG files", lambda s: _or_dash(s["peer"])),
        row("ours beside it, times", lambda s: _ratio(s["write"], s["peer"])),
        ["archive beside it, times", *(_ratio(s["archive"], s["peer"]) for s in sessions)],
        row(
            "`--smaller` beside it, times",
            lambda s: _ratio(s["write_smaller"], s["peer"]),
        ),
        row("all cores beside one, by the clock", lambda s: f"{_scaling(s):.2f}"),
        row("PNG bytes a cell", lambda s: f"{s['png_bytes_per_cell']:.2f}"),
        row("the same, `--smaller`", lambda s: f"{s['smaller_bytes_per_cell']:.2f}"),
        row("oh-my-pi, PNG bytes a cell", lambda s: _or_dash(s["peer_bytes_per_cell"])),
    ]
    parts = [table(["MB of text a user CPU second", *names], rows)]
    one = ", ".join(
        f"{s['shape']}: {s['wall_one_mb_s']:.2f} s"
        + (f" (oh-my-pi {peer:.2f})" if (peer := s["peer_wall_one_mb_s"]) else "")
        for s in sessions
    )
    parts.append(
        f"Measured on {found['text_mb']:.0f} MB of text, {found['machine']['cores']} cores. "
        f"A new process that archives 1 MB, by the clock: {one}. "
        "The last shape, `default`, is what `archive` prints in unless told otherwise."
    )
    parts.append(profile(found))
    if found["sizes"]:
        parts.append(sizes(found["sizes"]))
    return "\n\n".join(parts)


def profile(found: Found) -> str:
    """Where the time of archiving goes, by stage; the rest is what no stage was measured for."""
    pairs = list(zip(found["sessions"], found["shapes"], strict=True))
    stages: dict[str, Callable[[Found, Found], float]] = {
        "read, twice: the tree, then the messages": lambda a, _: a["read"],
        "transcript, rows and their hashes": lambda a, _: (
            1 / (1 / a["read_and_write_transcript"] - 1 / a["read"])
        ),
        "cells and text hash": lambda _, s: s["stages"]["cells and text hash"],
        "raster": lambda _, s: s["stages"]["raster"],
        "deflate": lambda _, s: s["stages"]["deflate"],
        "inflate and compare, the check": lambda _, s: s["stages"]["check, as archiving does"],
        "hash of the files": lambda _, s: s["stages"]["hash of the file"],
    }
    times = [[1000 / speed(*pair) for speed in stages.values()] for pair in pairs]
    every = [1000 / session["archive"] for session, _ in pairs]
    rows = [[name, *(f"{column[i]:.1f}" for column in times)] for i, name in enumerate(stages)]
    rest = [whole - sum(column) for whole, column in zip(every, times, strict=True)]
    rows.append(["source, files, page rows", *(f"{left:.1f}" for left in rest)])
    rows.append(["**all**", *(f"{whole:.1f}" for whole in every)])
    return table(["`archive`, user ns a byte of transcript", *(s["shape"] for s, _ in pairs)], rows)


def sizes(found: list[Found]) -> str:
    """What does and what does not grow with a session."""
    rows = [
        [
            f"{s['session_mb']:,.0f}",
            f"{s['peak_mb']:.0f}",
            f"{s['user_s']:.0f}",
            *(f"{s[key]:.2f}" if key in s else "–" for key in ("append_s", "one_message_s")),
        ]
        for s in found
    ]
    head = [
        "`archive` of MB",
        "peak MB",
        "CPU s",
        "`--append` of 1 MB, CPU s",
        "one message, CPU s",
    ]
    return table(head, rows)


def tokens(found: Found) -> str:
    """Errors of the estimate by family of tokenizers."""
    rows = [
        [e["family"], f"{e['total']:+.2f}", f"{e['p95_4k']:.2f}", f"{e['p95_64k']:.2f}"]
        for e in found["errors"]
        if e["by"] == "accurate"
    ]
    return table(["token estimate, error in %", "total", "p95 of 4 KB", "p95 of 64 KB"], rows)


def read(found: Found) -> str:
    """Reading session files."""
    rows = [
        [
            f"{r['format']}, lines of {r['lines']}",
            f"{r['mb']:,}",
            f"{r['mb_per_cpu_s']:.0f}",
            f"{r['peak_mb']:.0f}",
        ]
        for r in found["rows"]
    ]
    return table(["reading a session file", "MB", "MB a CPU second", "peak MB"], rows)


def estimate(found: Found) -> str:
    """Large sessions, beside ``wc -w``."""
    rows = [
        [
            f"{r['mb']:,}",
            f"{r['wall_s']:.1f}",
            f"{r['wc_wall_s']:.1f}",
            f"{r['cpu_s']:.1f}",
            f"{r['wc_cpu_s']:.1f}",
            f"{r['peak_mb']:,}",
        ]
        for r in found["rows"]
    ]
    head = ["`estimate` of MB", "wall s", "`wc -w` wall s", "CPU s", "`wc -w` CPU s", "peak MB"]
    return table(head, rows)


TABLES: dict[str, tuple[str, Callable[[Found], str]]] = {
    "speed": ("python bench/speed.py", speed),
    "read": ("python bench/read.py", read),
    "tokens": ("python bench/tokens.py", tokens),
    "estimate": ("python bench/estimate.py --mb 10,100,1000", estimate),
}
"""Result, command that measures it, what is told of it."""


def numbers() -> str:
    """The text between the marks."""
    parts = []
    for name, (command, tell) in TABLES.items():
        path = RESULTS / f"{name}.json"
        if path.is_file():
            found = json.loads(path.read_text())
            machine = found["machine"]
            on = machine if isinstance(machine, str) else machine["processor"]
            parts.append(f"{tell(found)}\n\nMeasured by `{command}` on {found['date']}, {on}.\n")
    return "\n".join(parts)


def _or_dash(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


def _ratio(value: float, other: float | None) -> str:
    return "–" if not other else f"{value / other:.{0 if value / other >= 10 else 1}f}"


def _scaling(shape: Found) -> float:
    return float(shape["wall_all_jobs"] / shape["wall_one_job"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    readme = ROOT / "README.md"
    text = readme.read_text()
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        sys.exit(f"{readme.name} has no line {BEGIN.strip()!r} with {END!r} behind it")
    new = before + BEGIN + "\n" + numbers() + "\n" + END + after
    if options.check:
        sys.exit(int(new != text))
    readme.write_text(new)


if __name__ == "__main__":
    main()
