"""How fast a session file becomes a verified archive, and grows: a part of bench/speed.py."""

from __future__ import annotations

import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from snapcompact.archive.append import append_archive
from snapcompact.archive.read import open_archive
from snapcompact.archive.transcribe import Transcriber
from snapcompact.archive.write import ArchiveOptions, write_archive
from snapcompact.history.session import open_session

MB = 1e6
TURNS = 3
"""Of ours and the peer: others' load then meets both alike."""
SIZES = (300, 900, 3000, 1200, 2200)
"""Characters of messages in turn: 1.5 KB on average, as in the corpus."""


@dataclass
class SessionReport:
    """Figures of one made-up Claude Code session; speeds in MB of transcript a user CPU second."""

    shape: str
    source_mb: float = 0.0
    transcript_mb: float = 0.0
    messages: int = 0
    archive: float = 0.0
    peer: float | None = None
    """The peer's bare rendering of the text, run in turns with archiving."""
    read: float = 0.0
    """Parsing alone, and with it the transcript."""
    read_and_write_transcript: float = 0.0
    append_s: float = 0.0
    append_mb: float = 0.0
    append_s_to_empty: float = 0.0
    """User seconds to add as much to a history of as much."""
    append_s_per_old_mb: float = 0.0
    wall_one_mb_s: float = 0.0
    """A new process that archives 1 MB of text, kernels cached."""
    peer_wall_one_mb_s: float | None = None
    start_s: dict[str, float] = field(default_factory=dict)


def write_session(text: str, path: Path, first: int = 0) -> int:
    """Add messages with `text` to a session file; the number of the next message."""
    number, at = first, 0
    with path.open("a") as file:
        while at < len(text):
            piece = text[at : at + SIZES[number % len(SIZES)]]
            at += len(piece)
            file.write(json.dumps(record(number, piece), ensure_ascii=False) + "\n")
            number += 1
    return number


def record(number: int, text: str) -> dict[str, object]:
    """One line of a session: answers with a call, the calls' results, now and then a question."""
    call = {"type": "tool_use", "id": f"toolu_{number}", "name": "Bash", "input": {"command": "ls"}}
    answer = {
        "id": f"msg_{number}",
        "role": "assistant",
        "model": "claude-made-up-1",
        "content": [{"type": "text", "text": text}, call],
        "usage": {"input_tokens": 10, "output_tokens": 200},
    }
    result = {"type": "tool_result", "tool_use_id": f"toolu_{number - 1}", "content": text}
    asks = number % 10 == 0
    message = answer if number % 2 else {"role": "user", "content": text if asks else [result]}
    return {
        "type": message["role"],
        "uuid": _uuid(number),
        "parentUuid": _uuid(number - 1) if number else None,
        "sessionId": _uuid(0),
        "timestamp": "2026-11-02T10:00:00.000Z",
        "message": message,
    }


def _uuid(number: int) -> str:
    return f"00000000-0000-4000-8000-{number:012}"


def user_time() -> float:
    """User CPU seconds of this process, all threads together, as the peer counts its own."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_utime


def user_seconds(work: Callable[[], object], repeats: int = 1) -> float:
    """Median user CPU seconds of calling `work`."""
    times = []
    for _ in range(repeats):
        start = user_time()
        work()
        times.append(user_time() - start)
    return statistics.median(times)


def measure_session(
    text: bytes,
    shape: str,
    repeats: int,
    peer: list[str] | None,
    peer_speed: Callable[[], float] | None,
) -> SessionReport:
    """All figures for `text` told as a session.

    `peer` is its command, FILE and OUT to follow; `peer_speed` runs it on `text` and gives MB a
    user CPU second.
    """
    report = SessionReport(shape)
    with tempfile.TemporaryDirectory() as held:
        folder = Path(held)
        path, out = folder / "session.jsonl", folder / "out"
        decoded = text.decode("utf-8", "replace")
        following = write_session(decoded, path)
        options = ArchiveOptions(shape=shape, jobs=1)

        def archive() -> None:
            manifest = write_archive(open_session(path), out, options)
            assert manifest is not None
            report.messages = manifest.messages
            report.transcript_mb = manifest.transcript_bytes / MB

        archive()
        report.source_mb = path.stat().st_size / MB
        seconds, reading, writing, peers = [], [], [], []
        for _ in range(TURNS):
            for _ in range(repeats):
                shutil.rmtree(out)
                seconds.append(user_seconds(archive))
            reading.append(user_seconds(lambda: _read(path), repeats))
            writing.append(user_seconds(lambda: _transcribe(path), repeats))
            if peer_speed:
                peers.append(peer_speed())
        report.archive = report.transcript_mb / statistics.median(seconds)
        report.peer = statistics.median(peers) if peers else None
        report.read = report.transcript_mb / statistics.median(reading)
        report.read_and_write_transcript = report.transcript_mb / statistics.median(writing)
        _measure_append(report, decoded[:1_000_000], path, out, following, options)
        _measure_wall(report, decoded[:1_000_000], folder, peer)
    return report


def _read(path: Path) -> None:
    for _ in open_session(path).messages():
        pass


def _transcribe(path: Path) -> None:
    with tempfile.TemporaryFile() as rows:
        for _ in Transcriber(rows, lambda _: None).pieces(open_session(path).messages()):
            pass


def _measure_append(
    report: SessionReport, more: str, path: Path, out: Path, following: int, options: ArchiveOptions
) -> None:
    """What it costs to add `more` to the archive of all, and to one of no more than `more`."""
    small, small_out = path.with_name("small.jsonl"), path.with_name("small")
    next_small = write_session(more, small)
    write_archive(open_session(small), small_out, options)
    write_session(more, small, next_small)
    write_session(more, path, following)
    report.append_mb = len(more.encode()) / MB
    report.append_s_to_empty = user_seconds(
        lambda: append_archive(open_session(small), small_out, jobs=1)
    )
    report.append_s = user_seconds(lambda: append_archive(open_session(path), out, jobs=1))
    older = report.transcript_mb - report.append_mb
    report.append_s_per_old_mb = (report.append_s - report.append_s_to_empty) / older


def _measure_wall(report: SessionReport, text: str, folder: Path, peer: list[str] | None) -> None:
    """Wall seconds of whole processes, medians of five."""
    session, plain = folder / "one.jsonl", folder / "one.txt"
    write_session(text, session)
    plain.write_text(text)
    ours = [sys.executable, "-m", "snapcompact"]
    report.wall_one_mb_s = _wall(
        [*ours, "archive", str(session), "--quiet", "--shape", report.shape, "-o"], folder
    )
    if peer:
        program, *model = peer
        report.peer_wall_one_mb_s = _wall([program, str(plain)], folder, model)
    empty = "import typer; a = typer.Typer(); a.command()(lambda: None); a(['--help'])"
    report.start_s = {
        "an empty Typer program's --help": _wall([sys.executable, "-c", empty]),
        "snapcompact --help": _wall([*ours, "--help"]),
    }


def _wall(command: list[str], folder: Path | None = None, behind: list[str] | None = None) -> float:
    """Wall seconds of `command`, given a new name in `folder` each time; the median of five.

    With bytecode, as an installed program has it, which a first run writes.
    """
    times = []
    with tempfile.TemporaryDirectory() as bytecode:
        environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
        environment["PYTHONPYCACHEPREFIX"] = bytecode
        for number in range(6):
            name = [] if folder is None else [str(folder / f"{len(command)}-{number}")]
            start = time.perf_counter()
            subprocess.run(
                [*command, *name, *(behind or [])],
                check=True,
                capture_output=True,
                env=environment,
            )
            times.append(time.perf_counter() - start)
    return statistics.median(times[1:])


def sizes(wanted: str, shape: str, text: bytes) -> list[dict[str, float]]:
    """What archiving sessions of the `wanted` megabytes takes, smallest first.

    All but the largest are measured before it and behind it, and the mean taken: others' load
    changes in the minutes between.
    """
    names = list(filter(None, wanted.split(",")))
    runs = [(name, _measure_size(float(name), shape, text)) for name in names + names[-2::-1]]
    return [_mean([said for name, said in runs if name == size]) for size in names]


def _mean(said: list[dict[str, float]]) -> dict[str, float]:
    return {key: statistics.mean(one[key] for one in said) for key in said[0]}


def _measure_size(size: float, shape: str, text: bytes) -> dict[str, float]:
    """Archiving, appending and restoring of `size` megabytes, each in a process of its own.

    `text` is told again and again; threads are as many as there are cores.
    """
    said: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as held:
        path = Path(held) / "session.jsonl"
        number = 0
        while number == 0 or path.stat().st_size < size * MB:
            number = write_session(text.decode("utf-8", "replace"), path, number)
        for work in ("archive", "append", "restore"):
            done = subprocess.run(
                [sys.executable, __file__, work, str(path), shape],
                check=True,
                capture_output=True,
            )
            said |= json.loads(done.stdout)
            if work == "archive":
                write_session(text.decode("utf-8", "replace")[:1_000_000], path, number)
    return said


def archive_alone(path: Path, shape: str) -> dict[str, float]:
    """Archive `path` beside it: its size, and what this process took so far."""
    start = time.perf_counter()
    write_archive(open_session(path), path.with_name("out"), ArchiveOptions(shape=shape))
    return {
        "session_mb": path.stat().st_size / MB,
        "peak_mb": peak_bytes() / MB,
        "wall_s": time.perf_counter() - start,
        "user_s": user_time(),
    }


def peak_bytes() -> int:
    """Most memory that this program has held; ``getrusage`` counts what its parent held too."""
    status = Path("/proc/self/status").read_text("ascii")
    return next(
        int(line.split()[1]) * 1024 for line in status.splitlines() if line.startswith("VmHWM:")
    )


def append_alone(path: Path, shape: str) -> dict[str, float]:
    """Append what `path` has gained; user seconds, loading the program apart, as all seconds."""
    warm_up = path.with_name("warm.jsonl")
    write_session("warm up " * 9999, warm_up)
    write_archive(open_session(warm_up), path.with_name("warm"), ArchiveOptions(shape=shape))
    out = path.with_name("out")
    return {"append_s": user_seconds(lambda: append_archive(open_session(path), out, jobs=1))}


def restore_alone(path: Path, shape: str) -> dict[str, float]:
    """Read one message out of the middle of the archive, three times; the median."""

    def read() -> None:
        with open_archive(path.with_name("out")) as archive:
            middle = archive.manifest.messages // 2
            (_,) = archive.messages(middle, middle + 1)

    read()
    return {"one_message_s": user_seconds(read, 3)}


if __name__ == "__main__":
    work = {"archive": archive_alone, "append": append_alone, "restore": restore_alone}
    print(json.dumps(work[sys.argv[1]](Path(sys.argv[2]), sys.argv[3])))
