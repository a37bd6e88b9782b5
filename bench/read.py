"""Reading speed and memory: MB of JSON a CPU second, session files made here.

Line lengths are drawn from the corpus, and beside that one file has lines of 200 bytes. Each figure
stands beside ``orjson.loads`` line by line over the same file in the same run. One process per
measurement, so that the peak memory is its own.

    python bench/read.py --bytes 2e9 --json bench/results/read.json
"""

from __future__ import annotations

import argparse
import datetime
import json
import platform
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import orjson

CORPUS = Path(__file__).parents[1] / ".." / "shared" / "corpus"
SAMPLES = Path(__file__).parents[1] / "samples"
FORMATS = ("claude_code", "claude_stream")
TINY_BYTES = 200


def corpus_lines() -> list[bytes]:
    """Lines of the real stream-json sessions; of the made-up sample where they are not here."""
    found = sorted(CORPUS.glob("claude-stream-*.jsonl")) or [SAMPLES / "claude-stream.jsonl"]
    return [line for path in found for line in path.read_bytes().splitlines() if len(line) > 40]


def lines(form: str, lengths: list[int], text: str, size: int) -> Iterator[bytes]:
    """Records of about `lengths` bytes in turn: calls and results, each result with its call."""
    draw = random.Random(20240229)
    written, number = 0, 0
    while written < size:
        number += 1
        want = draw.choice(lengths)
        record = _record(form, number)
        bare = len(orjson.dumps(record))
        room = min(max(0, want - bare), len(text))
        start = draw.randrange(len(text) - room + 1)
        _fill(record, text[start : start + room])
        line = orjson.dumps(record) + b"\n"
        written += len(line)
        yield line


def _record(form: str, number: int) -> dict[str, object]:
    call = f"toolu_{number // 2:012d}"
    uuid, parent = f"{number:08x}-0000-4000", f"{number - 1:08x}-0000-4000" if number > 1 else None
    if number % 2:
        block: dict[str, object] = {"tool_use_id": call, "type": "tool_result", "content": ""}
        said: dict[str, object] = {"role": "user", "content": [block]}
    else:
        block = {"type": "tool_use", "id": call, "name": "Bash", "input": {"command": ""}}
        usage = {"input_tokens": 2, "output_tokens": 90, "cache_read_input_tokens": 8000}
        said = {"id": f"msg_{number}", "role": "assistant", "content": [block], "usage": usage}
    kind = said["role"]
    if form == "claude_code":
        link = {"parentUuid": parent, "isSidechain": False, "sessionId": "s", "cwd": "/w"}
        return {
            **link,
            "type": kind,
            "message": said,
            "uuid": uuid,
            "timestamp": "2026-01-02T03:04",
        }
    session = {"parent_tool_use_id": None, "session_id": "s", "uuid": uuid}
    return {"type": kind, "message": said, **session, "timestamp": "2026-01-02T03:04:05Z"}


def _fill(record: dict[str, object], words: str) -> None:
    message = record["message"]
    assert isinstance(message, dict)
    block = message["content"][0]
    if block["type"] == "tool_result":
        block["content"] = words
    else:
        block["input"]["command"] = words


def make(path: Path, form: str, lengths: list[int], text: str, size: int) -> None:
    """Write a session of about `size` bytes."""
    with open(path, "wb") as file:
        file.writelines(lines(form, lengths, text, size))


def measure(what: str, path: Path) -> dict[str, float]:
    """One reading of `path` in this process: ``orjson`` or the name of a format."""
    start = time.process_time()
    if what == "orjson":
        with open(path, "rb") as file:
            count = sum(1 for line in file if orjson.loads(line) is not None)
    else:
        from snapcompact.history.session import open_session

        count = sum(1 for _ in open_session(path, format=what).messages())
    seconds = time.process_time() - start
    peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    size_mb = path.stat().st_size / 1e6
    return {"count": count, "mb_per_cpu_s": size_mb / seconds, "peak_mb": peak_mb}


def in_a_process(what: str, path: Path) -> dict[str, float]:
    """``measure`` in a process of its own."""
    command = [sys.executable, __file__, "--measure", what, str(path)]
    done = subprocess.run(command, check=True, capture_output=True)
    found: dict[str, float] = json.loads(done.stdout)
    return found


def run(size: int) -> list[dict[str, object]]:
    """All measurements on files of `size` bytes, one file at a time."""
    found = corpus_lines()
    text = b" ".join(found)[:4_000_000].decode("utf-8", "replace")
    rows: list[dict[str, object]] = []
    for kind, lengths in (("corpus", [len(line) for line in found]), ("200 B", [TINY_BYTES])):
        for form in FORMATS:
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / "session.jsonl"
                make(path, form, lengths, text, size)
                bar = in_a_process("orjson", path)
                ours = in_a_process(form, path)
            row = {
                "lines": kind,
                "format": form,
                "mb": round(size / 1e6),
                "messages": int(ours["count"]),
                "mb_per_cpu_s": round(ours["mb_per_cpu_s"], 1),
                "orjson_mb_per_cpu_s": round(bar["mb_per_cpu_s"], 1),
                "peak_mb": round(ours["peak_mb"]),
            }
            rows.append(row)
            print(*(f"{name}={value}" for name, value in row.items()), flush=True)
    return rows


def main() -> None:
    """Parse the command line and print a row per measurement."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bytes", type=float, default=5e7, help="size of each session file")
    parser.add_argument("--json", type=Path, help="also write the rows here, with machine and date")
    parser.add_argument("--measure", nargs=2, metavar=("WHAT", "FILE"), help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.measure:
        print(json.dumps(measure(args.measure[0], Path(args.measure[1]))))
        return
    rows = run(int(args.bytes))
    if args.json:
        about = {
            "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
            "python": platform.python_version(),
            "machine": platform.machine(),
            "system": platform.system(),
        }
        args.json.write_text(json.dumps({**about, "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
