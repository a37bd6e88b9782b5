"""No file, however damaged, ends a reading with anything but an error of ours, or in silence."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from snapcompact.errors import SnapcompactError
from snapcompact.history.formats import table
from snapcompact.history.model import Message, Role, ToolResult
from snapcompact.history.report import DAMAGE
from snapcompact.history.session import open_session
from tests.history.mutate import mutate
from tests.history.seen import SAMPLES

RUNS = int(os.environ.get("SNAPCOMPACT_FUZZ_RUNS", "600"))
"""Mutations a run of the tests makes; each takes about 3 ms."""

SEED = int(os.environ.get("SNAPCOMPACT_FUZZ_SEED", "1"))
EXAMPLES = max(20, RUNS // 30)
LARGEST_BYTES = 130_000
CASES = Path(__file__).parents[1] / "cases"
NAMES = [row.name for row in table()]


def _files() -> list[Path]:
    found = [path for folder in (SAMPLES, CASES) for path in sorted(folder.rglob("*"))]
    return [path for path in found if path.is_file() and path.stat().st_size <= LARGEST_BYTES]


def _read(data: bytes, **options: Any) -> list[Message]:
    """The messages of `data`, and that they are as the model promises; none where refused."""
    try:
        with open_session(data, **options) as session:
            found = list(session.messages())
    except SnapcompactError:
        return []
    for message in found:
        _check(message)
    assert set(session.report.damage.counts) <= set(DAMAGE)
    return found


def _check(message: Message) -> None:
    results = [isinstance(block, ToolResult) for block in message.blocks]
    assert results == [True] if message.role is Role.TOOL else results and not any(results)
    hash(message)
    for text in (message.label, message.meta.id, message.meta.time, message.meta.model):
        assert isinstance(text, str)


def _mutants() -> Iterator[tuple[int, Path, bytes, dict[str, Any]]]:
    files = _files()
    for seed in range(SEED, SEED + RUNS):
        random = Random(seed)
        path = random.choice(files)
        data = mutate(path.read_bytes(), random)
        if random.random() < 0.2:
            data += random.choice(files).read_bytes()
        name = random.choice([None, None, random.choice(NAMES)])
        branch = random.choice(["active", "all"])
        yield seed, path, data, {"format": name, "branch": branch}


def test_mutated_files_are_survived() -> None:
    for seed, path, data, options in _mutants():
        try:
            _read(data, **options)
        except Exception as error:
            error.add_note(f"seed {seed}: {path.name} with {options}")
            raise


KEYS = sorted(
    [
        "type",
        "subtype",
        "role",
        "content",
        "text",
        "message",
        "messages",
        "parts",
        "id",
        "uuid",
        "parentUuid",
        "parentId",
        "parent_id",
        "sessionId",
        "session_id",
        "timestamp",
        "payload",
        "item",
        "call_id",
        "name",
        "arguments",
        "input",
        "output",
        "tool_calls",
        "function",
        "tool_call_id",
        "tool_use_id",
        "is_error",
        "thinking",
        "signature",
        "summary",
        "data",
        "source",
        "media_type",
        "usage",
        "model",
        "snapshot",
        "attachment",
        "prompt",
        "isSidechain",
        "isMeta",
        "toolCalls",
        "result",
        "thoughts",
        "tokens",
        "functionResponse",
        "functionCall",
        "response",
        "$set",
        "$rewindTo",
        "info",
        "steps",
        "mapping",
        "conversations",
        "projectHash",
        "replacement_history",
        "num_turns",
        "encrypted_content",
        "image_url",
        "url",
        "toolCallId",
        "chat_messages",
        "contents",
        "current_node",
        "details",
        "events",
        "value",
        "from",
    ]
)
WORDS = [
    "user", "assistant", "system", "tool", "text", "tool_use", "tool_result", "thinking", "image",
    "message", "response_item", "event_msg", "session_meta", "session", "title", "header", "gemini",
    "snapshot", "compaction", "compacted", "reasoning", "function_call", "function_call_output",
    "thread.started", "item.completed", "thread_rolled_back", "compact_boundary", "toolResult",
    "toolCall", "progress", "summary", "init", "result", "base64", "blob:sha256:00", "\ud83d",
    "data:image/png;base64,AA==", "a", "b", "",
]  # fmt: skip
scalars = st.one_of(
    st.none(), st.booleans(), st.integers(-1, 3), st.just(10**30), st.floats(0, 2),
    st.sampled_from(WORDS), st.text(max_size=4),
)  # fmt: skip
values = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(KEYS), inner, max_size=5)
    ),
    max_leaves=20,
)
records = st.lists(st.dictionaries(st.sampled_from(KEYS), values, max_size=8), max_size=6)


@pytest.mark.parametrize("name", [*NAMES, None])
@settings(max_examples=EXAMPLES, deadline=None)
@given(records, st.booleans())
def test_random_records_are_survived(name: str | None, found: list[Any], lines: bool) -> None:
    if lines:
        data = b"\n".join(json.dumps(record).encode() for record in found)
    else:
        data = json.dumps(found[0] if len(found) == 1 else found).encode()
    _read(data, format=name)


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=400))
def test_random_bytes_are_survived(data: bytes) -> None:
    _read(data)
