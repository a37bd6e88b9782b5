"""What the tests of whole compactions share: a session, a model on 127.0.0.1, one run."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from snapcompact.compaction.deciding import Options, Prepared, prepared, with_mode
from snapcompact.compaction.prepare import CutRequest
from snapcompact.compaction.run import Result, apply, make
from snapcompact.compaction.session import archive_name, load_stored
from snapcompact.compaction.settings import Settings, resolve_settings
from snapcompact.compaction.undo import fingerprint
from snapcompact.history.session import open_session
from snapcompact.llm.client import Client, Retry, run
from snapcompact.llm.contract import Endpoint
from tests.compaction.sessions import BUILDERS, long_turns
from tests.servers.script import Step
from tests.servers.server import Server, serve

SETTINGS = resolve_settings(())
WHEN = datetime(2026, 1, 2, tzinfo=UTC)
SUMMARY = "## Goal\nFind the values.\n\n## Progress\nSome were found."


async def _no_wait(seconds: float) -> None:
    """Stands for the wait between attempts."""


@contextmanager
def asked(protocol: str, *steps: Step, **times: float) -> Iterator[tuple[Client, Server]]:
    with serve(*steps) as server:
        endpoint = Endpoint(protocol, "scripted", "key", server.base_url(protocol), **times)
        yield Client(endpoint, Retry(), _no_wait), server


def options(path: Path, **given: Any) -> Options:
    made: dict[str, Any] = {
        "reader": "gpt-5", "window": 400_000, "cut": CutRequest(keep_tokens=300, force=True),
        "now": WHEN, "archive": archive_name(path), **given,
    }  # fmt: skip
    return Options(**made)


def session_at(folder: Path, turns: int = 12, kind: str = "pi") -> Path:
    path = folder / "s.jsonl"
    path.write_bytes(BUILDERS[kind](long_turns(turns)))
    return path


def compacted(
    path: Path, asked_for: Options, settings: Settings = SETTINGS, *, out: Path | None = None
) -> tuple[Prepared, Result]:
    """What a compaction of the file at `path` made; it is written where `out` is given."""
    with open_session(path) as session:
        stored = load_stored(session)
    with with_mode(prepared(stored, asked_for, settings)) as (ready, draw):
        result = run(make(ready, draw))
        if out is not None:
            apply(ready, result, out)
        return ready, result


def grow(path: Path, text: str = "One thing more.") -> None:
    """The user says `text` in a pi session."""
    last = json.loads(path.read_bytes().splitlines()[-1])
    said = {"role": "user", "content": text, "timestamp": 5}
    record = {"type": "message", "id": "00000fff", "parentId": last["id"], "message": said}
    with open(path, "ab") as file:
        file.write(json.dumps(record).encode() + b"\n")


def files_of(folder: Path) -> dict[str, str]:
    return {name: fingerprint(folder / name) for name in os.listdir(folder)}
