"""The provider's own compaction and summary servers; without one, soft."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from snapcompact.compaction.orchestrator import Orchestrator
from snapcompact.compaction.outcome import Outcome, Reason, Status
from snapcompact.compaction.prepare import CutRequest
from snapcompact.compaction.rpc import FileHost
from snapcompact.compaction.settings import Settings, Source, resolve_settings
from snapcompact.errors import (
    InputError,
    SnapcompactError,
)
from snapcompact.llm.client import Client
from tests.compaction.running import (
    SUMMARY,
    asked,
    compacted,
    files_of,
    options,
    session_at,
)
from tests.servers.script import Fail, HangUp, Raw, Say, Silence, Step
from tests.servers.server import Server, serve


def test_anthropics_own_compaction(tmp_path: Path) -> None:
    path, out = session_at(tmp_path), tmp_path / "out.jsonl"
    with asked("anthropic", Say(compaction=SUMMARY)) as (model, server):
        given = options(path, mode="remote", endpoint=model.endpoint, focus="the values")
        _, result = compacted(path, given, out=out)
    assert result.made.mode == "remote"
    assert SUMMARY in result.made.summary
    body = server.asked[0].body
    assert body["context_management"]["edits"][0]["type"] == "compact_20260112"
    assert [message["role"] for message in body["messages"]][:2] == ["user", "assistant"]
    assert {tool["name"] for tool in body["tools"]} == {"read"}
    assert len(server.asked) == 1


def _sealed(text: str = "gAAAAsealed") -> Raw:
    words = [{"type": "input_text", "text": "Question 0, in short."}]
    output = [
        {"type": "message", "id": "m", "role": "user", "status": "completed", "content": words},
        {"type": "compaction", "id": "c", "encrypted_content": text},
    ]
    usage = {"input_tokens": 9, "output_tokens": 1, "total_tokens": 10}
    made = {"id": "r", "object": "response.compaction", "created_at": 1, "output": output,
            "usage": usage}  # fmt: skip
    return Raw(json.dumps(made).encode())


def test_openais_own_compaction_is_kept_sealed_and_goes_on(tmp_path: Path) -> None:
    path, first, second = (
        session_at(tmp_path, 12, "openai_responses"),
        tmp_path / "1",
        tmp_path / "2",
    )
    with asked("openai-responses", _sealed()) as (model, server):
        given = options(path, mode="remote", endpoint=model.endpoint, strict=True)
        _, result = compacted(path, given, out=first)
    assert server.asked[0].path.endswith("/responses/compact")
    assert result.made.mode == "remote"
    items = json.loads(first.read_bytes())["input"]
    assert items[1]["encrypted_content"] == "gAAAAsealed"
    assert len(items) > 2
    with pytest.raises(InputError, match="sealed"):
        compacted(first, options(first, cut=CutRequest(keep_tokens=100, force=True)))
    with asked("openai-responses", _sealed("gAAAAagain")) as (model, server):
        given = options(first, mode="remote", endpoint=model.endpoint,
                        cut=CutRequest(keep_tokens=100, force=True))  # fmt: skip
        compacted(first, given, out=second)
    assert any(
        item.get("encrypted_content") == "gAAAAsealed" for item in server.asked[0].body["input"]
    )
    assert "gAAAAagain" in second.read_text()


def _server_settings(url: str) -> Settings:
    return resolve_settings((Source("t", f'remoteEndpoint = "{url}"'),))


def test_a_server_that_summarises(tmp_path: Path) -> None:
    path = session_at(tmp_path)
    with serve(Raw(json.dumps({"summary": SUMMARY}).encode())) as server:
        settings = _server_settings(server.url + "/summary")
        _, result = compacted(path, options(path, mode="remote"), settings)
    assert SUMMARY in result.made.summary
    assert set(server.asked[0].body) == {"systemPrompt", "prompt"}


def test_a_chat_server_that_summarises(tmp_path: Path) -> None:
    path = session_at(tmp_path)
    with serve(Say(SUMMARY)) as server:
        settings = _server_settings(server.url + "/v1/chat/completions")
        _, result = compacted(path, options(path, mode="remote"), settings)
    assert result.made.mode == "remote"
    assert server.asked[0].body["stream"] is False


@pytest.mark.parametrize(
    "step",
    [
        Fail(500, "down"), HangUp(), Raw(b"no json"), Raw(b"[]"), Raw(b'{"summary": 5}'),
        Raw(b'{"summary": ""}'), Raw(json.dumps({"summary": "w " * 50_000}).encode()),
    ],
    ids=str,
)  # fmt: skip
def test_a_remote_that_fails_gives_way_to_soft(step: Step, tmp_path: Path) -> None:
    path = session_at(tmp_path)
    told: list[str] = []
    with serve(step) as server:
        settings = _server_settings(server.url + "/summary")
        _, result = compacted(path, options(path, mode="remote", say=told.append), settings)
        assert result.made.mode == "soft"
        assert any("using soft instead" in text for text in told)
        with pytest.raises(SnapcompactError):
            compacted(path, options(path, mode="remote", strict=True), settings)


def test_without_an_endpoint_remote_is_soft_with_a_warning(tmp_path: Path) -> None:
    path = session_at(tmp_path)
    told: list[str] = []
    _, result = compacted(path, options(path, mode="remote", say=told.append))
    assert result.made.mode == "soft"
    assert any("no endpoint" in text for text in told)


@pytest.mark.parametrize("mode", ["remote", "soft"])
def test_a_cancelled_remote_is_a_cancel_and_no_fallback(mode: str, tmp_path: Path) -> None:
    path = session_at(tmp_path)
    before = files_of(tmp_path)

    async def scene(server: Server, model: Client) -> Outcome:
        settings = _server_settings(server.url + "/summary")
        host = FileHost(path, None)
        seat = Orchestrator(host, settings, options(path, model=model))
        task = asyncio.create_task(seat.compact(mode))
        while not server.asked:
            await asyncio.sleep(0.001)
        assert seat.busy
        assert (await seat.compact()).status is Status.BUSY
        seat.cancel()
        return await task

    with asked("openai", Silence()) as (model, server):
        outcome = asyncio.run(scene(server, model))
    assert outcome.reason is Reason.CANCELLED
    assert len(server.asked) == 1
    assert files_of(tmp_path) == before
