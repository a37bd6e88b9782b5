"""Compaction of real sessions: tokens before and after, exact identifiers still there, seconds.

Of each session of the corpus, as much as fills 85 % of a window of 16,000 to 64,000 tokens is
compacted, of joined ones 128,000 and 200,000, by every mode that needs no server; then a session
that grows is compacted three times, and the archive and the tail must hold all of it. No model is
asked.

    python bench/compaction.py --json bench/results/compaction.json

Identifiers are those of transcript/identifiers.py in what was replaced. *words*: share that stands
as text in the result; *shown*: as text or on a page that is shown. All of them are in the archive,
or in the session that was left as it was.
"""

from __future__ import annotations

import argparse
import asyncio
import datetime
import json
import os
import platform
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from snapcompact.archive.read import open_archive
from snapcompact.compaction.deciding import Options, prepared, with_mode
from snapcompact.compaction.entries import calls_of, words_of
from snapcompact.compaction.estimator import LearnedEstimator
from snapcompact.compaction.prepare import CutRequest
from snapcompact.compaction.run import apply, make
from snapcompact.compaction.session import context_of, load_stored
from snapcompact.compaction.settings import resolve_settings
from snapcompact.compaction.writers.messages import chat_messages
from snapcompact.errors import SnapcompactError
from snapcompact.history.model import Message, wtf8
from snapcompact.history.session import open_session
from snapcompact.transcript.identifiers import find_identifiers, line_blocks

CORPUS = Path(__file__).parents[1] / ".." / "shared" / "corpus"
READER = "claude-4.7"
WINDOWS = (16_000, 32_000, 64_000)
JOINED_WINDOWS = (128_000, 200_000)
KEEP_SHARE = 0.2
FILLED = 0.85
MODES = ("soft", "snapcompact")
SETTINGS = resolve_settings(())


@dataclass(frozen=True)
class Row:
    """One run. `mode` is what was made, which may not be what was asked for."""

    session: str
    window: int
    asked: str
    mode: str
    before: int
    after: int
    pages: int
    words: float
    shown: float
    seconds: float
    why: str = ""


def chat_file(messages: Sequence[Message], path: Path) -> Path:
    """`messages` as lines of OpenAI chat messages."""
    lines = [json.dumps(item).encode() + b"\n" for item in chat_messages(messages)]
    path.write_bytes(b"".join(lines))
    return path


def messages_of(path: Path) -> list[Message]:
    """The messages of a session file."""
    with open_session(path) as session:
        return list(session.messages())


def identifiers(messages: Sequence[Message]) -> set[bytes]:
    """Different exact identifiers in the words of `messages`, calls and results included."""
    text = "\n".join(f"{words_of(m)}\n{_calls(m)}" for m in messages)
    return {found.text for found in find_identifiers(line_blocks(wtf8(text)))}


def _calls(message: Message) -> str:
    return "\n".join(call.args.decode("utf-8", "replace") for call in calls_of(message))


def share(wanted: set[bytes], text: bytes) -> float:
    """Part of `wanted` that stands in `text`."""
    return sum(word in text for word in wanted) / len(wanted) if wanted else 1.0


def compact(path: Path, out: Path, mode: str, window: int, keep: int) -> Row:
    """Compact the session at `path` to `out`, its archive beside it."""
    told: list[str] = []
    options = Options(
        mode=mode, reader=READER, window=window, offline=True,
        cut=CutRequest(keep_tokens=keep, force=True),
        archive=out.with_suffix(".archive"), say=told.append,
    )  # fmt: skip
    start = time.perf_counter()
    with open_session(path) as session:
        stored = load_stored(session)
    with with_mode(prepared(stored, options, SETTINGS)) as (ready, draw):
        result = asyncio.run(make(ready, draw))
        apply(ready, result, out)
        seconds = time.perf_counter() - start
        gone = [item.message for item in ready.plan.partition.summarised]
        kept = [item.message for item in ready.plan.partition.kept]
    pieces = [piece for piece in result.made.pieces if isinstance(piece, str)]
    text = wtf8("\n".join([result.made.summary, *pieces, *map(words_of, kept)]))
    wanted = identifiers(gone)
    words = share(wanted, text)
    pages = b""
    if result.made.pages:  # all of them are shown, else the mode gives way
        with open_archive(out.with_suffix(".archive")) as archive:
            pages = b"".join(archive.transcript())
    return Row(
        path.stem, window, mode, result.made.mode, result.change.tokens_before,
        result.tokens_after, result.made.pages, round(words, 4),
        round(share(wanted, text + pages), 4), round(seconds, 2), "; ".join(told)[:200],
    )  # fmt: skip


def filling(messages: Sequence[Message], window: int) -> list[Message]:
    """The first messages, as many as fill the window's share."""
    count = LearnedEstimator("o200k", SETTINGS.policy.tokens)
    count.prime(messages)
    left, taken = window * FILLED, []
    for message in messages:
        left -= count(message)
        if left < 0:
            break
        taken.append(message)
    return taken


def table(folder: Path) -> Iterator[Row]:
    """A row for each session, window and mode."""
    sessions = {path.stem: messages_of(path) for path in sorted(CORPUS.glob("*.jsonl"))}
    whole = [message for messages in sessions.values() for message in messages]
    work: list[tuple[str, list[Message], tuple[int, ...]]]
    work = [(name, messages, WINDOWS) for name, messages in sessions.items()]
    work.append(("joined", whole, JOINED_WINDOWS))
    for name, messages, windows in work:
        for window in windows:
            path = chat_file(filling(messages, window), folder / f"{name}.jsonl")
            for mode in MODES:
                out = folder / f"{name}-{window}-{mode}.jsonl"
                try:
                    yield compact(path, out, mode, window, int(window * KEEP_SHARE))
                except SnapcompactError as error:
                    yield Row(name, window, mode, "none", 0, 0, 0, 0, 0, 0, str(error)[-200:])


def growing(folder: Path, mode: str) -> dict[str, Any]:
    """A session compacted at 50 %, 75 % and all of its length; what became of its words."""
    source = sorted(CORPUS.glob("*.jsonl"))[0]
    messages = chat_messages(messages_of(source))
    borders = [len(messages) // 2, len(messages) * 3 // 4, len(messages)]
    path, start, rows = folder / f"grow-{mode}-0.jsonl", 0, []
    path.write_bytes(b"")
    for number, border in enumerate(borders, 1):
        with open(path, "ab") as file:
            file.writelines(json.dumps(m).encode() + b"\n" for m in messages[start:border])
        out, start = folder / f"grow-{mode}-{number}.jsonl", border
        rows.append(asdict(compact(path, out, mode, 200_000, 8_000)))
        path = out
    found: dict[str, Any] = {"mode": mode, "passes": rows}
    if mode == "snapcompact":
        found["lost"] = _lost(messages, path)
    return found


def _lost(messages: list[dict[str, Any]], path: Path) -> int:
    """Texts of the whole session that are neither in the last archive nor in the tail."""
    with open_archive(path.with_suffix(".archive")) as archive:
        text = b"".join(archive.transcript())
        held = {words_of(message) for message in archive.messages()}
    with open_session(path) as session:
        items = context_of(load_stored(session), SETTINGS.policy.context).items
    held |= {words_of(item.message) for item in items}
    said = [m["content"] for m in messages if isinstance(m.get("content"), str) and m["content"]]
    return sum(one not in held and wtf8(one) not in text for one in said)


def main() -> None:
    """Run, print, and write the figures where asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as held:
        rows = []
        for row in table(Path(held)):
            rows.append(asdict(row))
            print(f"{row.session:20} {row.window:7,} {row.asked:11} -> {row.mode:11} "
                  f"{row.before:8,} {row.after:8,} {row.pages:3} pages  words {row.words:.3f} "
                  f"shown {row.shown:.3f} {row.seconds:6.2f} s  {row.why}")  # fmt: skip
        grown = [growing(Path(held), mode) for mode in MODES]
    for one in grown:
        steps = [f"{p['before']:,} to {p['after']:,} ({p['mode']})" for p in one["passes"]]
        print(f"growing, {one['mode']}: {', '.join(steps)}; lost {one.get('lost', 'not counted')}")
    if asked.json:
        facts = {"date": datetime.date.today().isoformat(), "machine": platform.machine(),
                 "cpus": os.cpu_count(), "reader": READER}  # fmt: skip
        value = {**facts, "rows": rows, "growing": grown}
        asked.json.write_text(json.dumps(value, indent=1) + "\n")


if __name__ == "__main__":
    main()
