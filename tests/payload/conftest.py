from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from snapcompact.archive.read import Archive, open_archive
from snapcompact.archive.write import ArchiveOptions, write_archive
from snapcompact.history.session import open_session

Build = Callable[[list[dict[str, Any]]], Archive]

SHAPE = "8x16@11x16-352x160"
DENSE = "8x16@8x16-352x160"


def messages(turns: int, words: int = 12) -> list[dict[str, Any]]:
    """A made-up chat: in every turn the user asks, a tool answers, the assistant closes."""
    made: list[dict[str, Any]] = []
    for n in range(turns):
        call = {
            "name": "Bash",
            "arguments": json.dumps({"command": f"cat src/mod_{n}/file_{n}.py"}),
        }
        made += [
            {
                "role": "user",
                "content": f"Question {n}: what does commit {n * 0x9E3779B1:010x} do?",
            },
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": f"c{n}", "type": "function", "function": call}],
            },
            {"role": "tool", "tool_call_id": f"c{n}", "content": f"line of output {n}\n" * words},
            {"role": "assistant", "content": f"It changes step {n}. " + "So it goes on. " * words},
        ]
    return made


@pytest.fixture
def build(tmp_path: Path) -> Iterator[Build]:
    """Makes an archive of chat messages."""
    opened: list[Archive] = []

    def make(records: list[dict[str, Any]]) -> Archive:
        number = len(opened)
        session = tmp_path / f"session{number}.jsonl"
        session.write_text("".join(json.dumps(r) + "\n" for r in records))
        with open_session(session) as source:
            write_archive(source, tmp_path / f"archive{number}", ArchiveOptions(shape=SHAPE))
        opened.append(open_archive(tmp_path / f"archive{number}"))
        return opened[-1]

    yield make
    for archive in opened:
        archive.close()
