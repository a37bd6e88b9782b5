"""The JSON-lines server as a program sees it: commands in, answers and events out."""

from __future__ import annotations

import asyncio
import io
import json
import os
from pathlib import Path
from typing import Any

import pytest

from snapcompact.compaction.deciding import Options
from snapcompact.compaction.models import Summariser
from snapcompact.compaction.prepare import CutRequest
from snapcompact.compaction.rpc import FileHost, Server, serve
from snapcompact.compaction.settings import resolve_settings
from snapcompact.llm.client import Client, Retry
from snapcompact.llm.contract import Endpoint
from tests.compaction.sessions import long_turns, pi
from tests.servers.script import Fail, Say, Silence
from tests.servers.server import serve as model_server

SETTINGS = resolve_settings(())
Json = dict[str, Any]


@pytest.fixture
def session(tmp_path: Path) -> Path:
    path = tmp_path / "s.jsonl"
    path.write_bytes(pi(long_turns(12)))
    return path


def spoken(session: Path, *commands: Json | str, found: Summariser | None = None) -> list[Json]:
    """What the server says to `commands`."""
    lines = [c if isinstance(c, str) else json.dumps(c) for c in commands]
    out = io.BytesIO()
    asyncio.run(
        serve(
            session, SETTINGS, found or Summariser(), reader="gpt-5", offline=False,
            format_name=None, lines=io.BytesIO("\n".join(lines).encode() + b"\n"), out=out,
        )
    )  # fmt: skip
    return [json.loads(line) for line in out.getvalue().splitlines()]


def answers(said: list[Json]) -> list[Json]:
    return [one for one in said if one["type"] == "response"]


def test_compact_and_undo(session: Path) -> None:
    before = session.read_bytes()
    said = spoken(session, {"type": "compact", "id": 7, "customInstructions": "the odd values"})
    (answer,) = answers(said)
    assert answer["success"]
    assert answer["id"] == 7
    assert answer["data"]["status"] == "done"
    kinds = [one["type"] for one in said]
    assert kinds[0] == "compaction_start"
    assert kinds.count("compaction_end") == 1
    end = next(one for one in said if one["type"] == "compaction_end")
    assert not end["aborted"]
    assert end["result"]["tokensAfter"] < end["result"]["tokensBefore"]
    assert "the odd values" in end["result"]["summary"]
    assert session.read_bytes() != before
    (answer,) = answers(spoken(session, {"type": "undo"}))
    assert answer["success"]
    assert session.read_bytes() == before


@pytest.mark.parametrize(
    ("command", "error"),
    [
        ({"type": "compact", "customInstructions": "snapcompact and a focus"}, "takes no focus"),
        ({"type": "compact", "mode": "snapcompact", "customInstructions": "x"}, "takes no focus"),
        ({"type": "compact", "customInstructions": 5}, "takes text"),
        ({"type": "nonsense"}, "unknown command"),
        ({}, "unknown command"),
        ({"type": "set_auto_compaction", "enabled": 1}, "true or false"),
        ({"type": "check", "tokens": "many"}, "whole number"),
        ({"type": "queue"}, "a text"),
        ({"type": "undo"}, "nothing to undo"),
        ("not json", "not JSON"),
        ("[1]", "JSON object"),
    ],
)
def test_wrong_commands_are_answered_and_touch_nothing(
    session: Path, command: Json | str, error: str
) -> None:
    before = session.read_bytes()
    said = spoken(session, command, {"type": "get_state"})
    assert sorted(a["success"] for a in answers(said)) == [False, True]
    assert any(error in a.get("error", "") for a in answers(said))
    assert session.read_bytes() == before
    assert os.listdir(session.parent) == [session.name]


def test_state_and_switch(session: Path) -> None:
    said = spoken(
        session,
        {"type": "set_auto_compaction", "enabled": False},
        {"type": "check", "tokens": 10**9},
    )
    assert [a["success"] for a in answers(said)] == [True, True]
    assert answers(said)[1]["data"]["status"] == "not due"
    (state,) = answers(spoken(session, {"type": "get_state"}))
    assert state["data"] == {
        "isCompacting": False, "autoCompactionEnabled": True, "queued": [],
        "sessionFile": str(session),
    }  # fmt: skip


def test_an_automatic_run_has_the_auto_names(session: Path) -> None:
    said = spoken(session, {"type": "check", "tokens": 10**9})
    kinds = {one["type"] for one in said}
    assert {"auto_compaction_start", "auto_compaction_end"} <= kinds
    assert "compaction_start" not in kinds


def test_a_failure_is_an_answer_and_an_end(session: Path) -> None:
    before = session.read_bytes()
    with model_server(Fail(401, "no")) as server:
        endpoint = Endpoint("openai", "m", "k", server.base_url("openai"))
        said = spoken(session, {"type": "compact"}, found=Summariser(Client(endpoint), endpoint))
    assert [a["success"] for a in answers(said)] == [False]
    end = next(one for one in said if one["type"] == "compaction_end")
    assert "401" in end["errorMessage"]
    assert session.read_bytes() == before


def test_abort_and_queue_while_it_runs(session: Path) -> None:
    before = session.read_bytes()
    said: list[Json] = []

    async def scene(server: Server, model: Any) -> None:
        task = asyncio.create_task(server.handle({"type": "compact", "id": 1}))
        while not model.asked:
            await asyncio.sleep(0.001)
        await server.handle({"type": "queue", "message": "later"})
        await server.handle({"type": "get_state"})
        await server.handle({"type": "abort"})
        await task

    with model_server(Silence()) as model:
        endpoint = Endpoint("openai", "m", "k", model.base_url("openai"))
        client = Client(endpoint, Retry())
        options = Options(reader="gpt-5", model=client, cut=CutRequest(keep_tokens=300, force=True))
        asyncio.run(scene(Server(FileHost(session, None), SETTINGS, options, said.append), model))
    state = next(a["data"] for a in answers(said) if a["command"] == "get_state")
    assert state["isCompacting"]
    assert state["queued"] == ["later"]
    assert next(a for a in answers(said) if a["command"] == "compact")["success"] is False
    assert next(one for one in said if one["type"] == "compaction_end")["aborted"]
    assert session.read_bytes() == before


def test_a_streamed_summary_is_told(session: Path) -> None:
    with model_server(Say("A summary in a few words.")) as model:
        endpoint = Endpoint("openai", "m", "k", model.base_url("openai"))
        said = spoken(session, {"type": "compact"}, found=Summariser(Client(endpoint), endpoint))
    text = "".join(one["text"] for one in said if one["type"] == "compaction_text")
    assert "A summary in a few words." in text
