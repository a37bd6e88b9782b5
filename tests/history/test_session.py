"""A session opened for reading."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from snapcompact.errors import DiskError, UnknownNameError
from snapcompact.history.session import open_session
from tests.history.seen import SAMPLES
from tests.history.sessions import jsonl

CHAT = jsonl([{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}])
GROWING = (
    "claude_code_stream_json/pxpipe-ytt-jsonpath.jsonl",
    "codex_rollout/localpush-rollout-2026-02-23T20-34-25-019c8bfe-ec25-79e0-97d7-bda6a9c575ff.jsonl",
    "pi_session/pimono-before-compaction-excerpt.jsonl",
    "ohmypi_session/gen-omp-18.2.3-titleslot-blobref.jsonl",
    "plugsuits_headless/multi-file-refactor-80000-trajectory.jsonl",
    "gemini_cli/agentsessions-jsonl-v040.jsonl",
    "codex_exec_json/agentcmd-stream-output-5.jsonl",
)


def test_messages_are_fresh_at_every_call() -> None:
    session = open_session(CHAT)
    assert list(session.messages()) == list(session.messages())
    first = session.messages()
    next(first)
    assert len(list(session.messages())) == 2
    assert len(list(first)) == 1


def test_a_path_as_text_and_a_named_format(tmp_path: Path) -> None:
    path = tmp_path / "chat.log"
    path.write_bytes(CHAT)
    assert open_session(str(path)).format.name == "openai_chat"
    with open_session(path, format="text") as session:
        assert [message.label for message in session.messages()] == ["document"]
    with pytest.raises(UnknownNameError):
        open_session(path, format="nonsense")
    with pytest.raises(DiskError):
        open_session(tmp_path / "missing")


def test_a_file_of_one_conversation_lists_none() -> None:
    assert open_session(CHAT).conversations == ()


@pytest.mark.parametrize("name", GROWING, ids=lambda name: name.split("/")[0])
def test_a_prefix_of_the_file_gives_a_prefix_of_the_messages(name: str) -> None:
    """But for the last message, which may still grow."""
    path = SAMPLES / name
    if not path.exists():
        pytest.skip("the shared samples are not here")
    form = open_session(path).format.name
    lines = path.read_bytes().splitlines(keepends=True)
    whole = list(open_session(b"".join(lines), format=form).messages())
    for count in range(1, len(lines), max(1, len(lines) // 25)):
        part = list(open_session(b"".join(lines[:count]), format=form).messages())
        assert part[:-1] == whole[: max(0, len(part) - 1)]


def test_reading_loads_no_heavy_library() -> None:
    code = (
        "import sys, snapcompact.history.session, snapcompact.history.formats.claude_stream\n"
        "print(sorted({'numba', 'PIL', 'zstandard', 'numpy'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
