"""One compaction end to end: nothing to do, one call from Python, what is kept beside it."""

from __future__ import annotations

import asyncio
import copy
import os
from pathlib import Path

import pytest

from snapcompact.archive.read import open_archive
from snapcompact.compaction.compact import acompact, compact
from snapcompact.compaction.deciding import prepared, with_mode
from snapcompact.compaction.outcome import Status
from snapcompact.compaction.prepare import CutRequest
from snapcompact.compaction.session import load_stored
from snapcompact.compaction.settings import Source, resolve_settings
from snapcompact.errors import (
    OutputExistsError,
    SnapcompactError,
)
from snapcompact.history.session import open_session
from snapcompact.llm.client import Client
from tests.compaction.running import (
    SETTINGS,
    asked,
    compacted,
    files_of,
    options,
    session_at,
)
from tests.compaction.sessions import Turn, pi
from tests.servers.script import Silence
from tests.servers.server import Server


@pytest.mark.parametrize("turns", [[], [Turn("Hi", "Hello", None)]])
def test_nothing_to_compact(turns: list[Turn], tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(pi(turns))
    with open_session(path, format="pi") as session:
        stored = load_stored(session)
    given = options(path, cut=CutRequest(keep_tokens=5000))
    with with_mode(prepared(stored, given, SETTINGS)) as (ready, _):
        assert ready.plan.outcome is not None
        assert ready.plan.outcome.detail.startswith("Nothing to compact")


def test_options_are_not_changed_by_a_run(tmp_path: Path) -> None:
    path = session_at(tmp_path)
    given = options(path)
    before = copy.deepcopy(given)
    compacted(path, given)
    assert given == before


def test_the_history_from_before_is_archived_where_asked(tmp_path: Path) -> None:
    path, out = session_at(tmp_path), tmp_path / "out.jsonl"
    saving = resolve_settings((Source("t", "handoffSaveToDisk = true"),))
    compacted(path, options(path, archive=tmp_path / "a.archive"), saving, out=out)
    with open_archive(tmp_path / "a.archive") as archive:
        assert b"".join(archive.source()) == path.read_bytes()
        assert archive.manifest.messages == 36
    os.unlink(out)
    out.mkdir()
    given = options(path, archive=tmp_path / "b.archive")
    with pytest.raises(SnapcompactError):
        compacted(path, given, saving, out=out)
    assert not (tmp_path / "b.archive").exists()


def test_one_call_from_python(tmp_path: Path) -> None:
    path = session_at(tmp_path)
    done = compact(path, options=options(path, archive=None), settings=SETTINGS)
    assert done.written is not None
    assert done.written.path == tmp_path / "s.compacted.jsonl"
    before = path.read_bytes()
    done = asyncio.run(acompact(path, None, options(path), SETTINGS, in_place=True))
    assert done.written is not None
    assert path.read_bytes().startswith(before)
    assert len(path.read_bytes()) > len(before)
    again = compact(path, options=options(path), settings=SETTINGS, in_place=True)
    assert again.plan.outcome is not None
    assert again.plan.outcome.status is Status.NOTHING
    with pytest.raises(OutputExistsError):
        compact(path, options=options(path), settings=SETTINGS)


def test_a_cancelled_call_leaves_nothing(tmp_path: Path) -> None:
    path = session_at(tmp_path)
    before = files_of(tmp_path)

    async def scene(model: Client, server: Server) -> None:
        task = asyncio.create_task(acompact(path, None, options(path, model=model), SETTINGS))
        while not server.asked:
            await asyncio.sleep(0.001)
        task.cancel()
        await task

    with asked("openai", Silence()) as (model, server), pytest.raises(asyncio.CancelledError):
        asyncio.run(scene(model, server))
    assert files_of(tmp_path) == before
