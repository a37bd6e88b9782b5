"""One compaction end to end: real files, real servers on 127.0.0.1, failures that touch nothing."""

from __future__ import annotations

import asyncio
import json
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from snapcompact.archive.read import open_archive
from snapcompact.compaction.compact import acompact, compact
from snapcompact.compaction.deciding import Options, Prepared, prepared, with_mode
from snapcompact.compaction.entries import is_summary
from snapcompact.compaction.hook import HandedIn
from snapcompact.compaction.orchestrator import Orchestrator
from snapcompact.compaction.outcome import Outcome, Reason, Status
from snapcompact.compaction.prepare import CutRequest
from snapcompact.compaction.rpc import FileHost
from snapcompact.compaction.run import Result, apply, make
from snapcompact.compaction.session import archive_name, context_of, load_stored
from snapcompact.compaction.settings import Settings, Source, resolve_settings
from snapcompact.compaction.undo import fingerprint
from snapcompact.errors import (
    FocusRefusedError,
    InputError,
    ModelError,
    OutputExistsError,
    SnapcompactError,
    UsageError,
)
from snapcompact.history.session import open_session
from snapcompact.llm.client import Client, Retry, run
from snapcompact.llm.contract import Endpoint
from tests.compaction.sessions import BUILDERS, Turn, long_turns, pi
from tests.servers.script import OVERFLOW, Fail, HangUp, Raw, Say, Silence, Step
from tests.servers.server import Server, serve

if TYPE_CHECKING:
    from snapcompact.compaction.host import Event

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


# --- soft


@pytest.mark.parametrize("protocol", ["anthropic", "gemini", "openai", "openai-responses"])
def test_a_summary_by_a_model(protocol: str, tmp_path: Path) -> None:
    path, out = session_at(tmp_path), tmp_path / "out.jsonl"
    with asked(protocol, Say(SUMMARY)) as (model, server):
        given = options(path, model=model, focus="the odd values")
        _, result = compacted(path, given, out=out)
    assert SUMMARY in result.made.summary
    assert not result.made.extract
    said = json.dumps(server.asked[0].body)
    assert "the odd values" in said
    assert "Question 0" in said
    assert b"Find the values." in out.read_bytes()


def test_a_previous_summary_reaches_the_next_call(tmp_path: Path) -> None:
    path, first, second = session_at(tmp_path), tmp_path / "1.jsonl", tmp_path / "2.jsonl"
    with asked("openai", Say("FIRST SUMMARY, in some words.")) as (model, _):
        compacted(path, options(path, model=model, cut=CutRequest(keep_tokens=900)), out=first)
    grow(first)
    with asked("openai", Say("SECOND")) as (model, server):
        compacted(first, options(first, model=model), out=second)
    said = json.dumps(server.asked[0].body)
    assert "FIRST SUMMARY, in some words." in said


def test_a_long_past_is_summarised_in_windows(tmp_path: Path) -> None:
    path = session_at(tmp_path, 40)
    small = resolve_settings((Source("t", "[summary]\nwindow = 2500\nreserve_tokens = 500"),))
    steps = [Say(f"Summary number {n}.") for n in range(20)]
    with asked("openai", *steps) as (model, server):
        _, result = compacted(path, options(path, model=model), small)
    assert len(server.asked) > 2
    for number in range(1, len(server.asked)):
        assert f"Summary number {number - 1}." in json.dumps(server.asked[number].body)
    assert any("windows" in note for note in result.made.notes)


def test_the_task_is_asked_for_first(tmp_path: Path) -> None:
    path = session_at(tmp_path)
    with asked("openai", Say("ORIGINAL_REQUEST: values"), Say(SUMMARY)) as (model, server):
        compacted(path, options(path, model=model, task_aware=True))
    assert "ORIGINAL_REQUEST: values" in json.dumps(server.asked[1].body)


def test_without_a_model_the_same_past_gives_the_same_extract(tmp_path: Path) -> None:
    path = session_at(tmp_path)
    texts = {compacted(path, options(path))[1].made.summary for _ in range(2)}
    assert len(texts) == 1
    assert "without a model" in texts.pop()


@pytest.mark.parametrize("protocol", ["anthropic", "openai"])
@pytest.mark.parametrize(
    "step",
    [
        Fail(401, "no"),
        Fail(500, "broken"),
        OVERFLOW["openai"],
        HangUp(),
        HangUp(2),
        Raw(b"<html>", "text/html"),
        Say(""),
        Say("   \n "),
        Say('<tool_call>{"name": "read"}</tool_call>'),
        Say("I will not.", stop="refusal"),
        Say("x", stop="tool"),
        Say("word " * 20_000),
    ],
    ids=str,
)
def test_every_failure_leaves_all_as_it_was(protocol: str, step: Step, tmp_path: Path) -> None:
    path = session_at(tmp_path)
    before = files_of(tmp_path)
    with asked(protocol, step) as (model, _), pytest.raises((ModelError, InputError)):
        compacted(path, options(path, model=model), out=tmp_path / "out.jsonl")
    assert files_of(tmp_path) == before


def test_silence_ends_and_leaves_all_as_it_was(tmp_path: Path) -> None:
    path = session_at(tmp_path)
    before = files_of(tmp_path)
    with asked("openai", Silence(), total_s=0.2) as (model, _), pytest.raises(ModelError):
        compacted(path, options(path, model=model), out=tmp_path / "out.jsonl")
    assert files_of(tmp_path) == before


# --- snapcompact


def test_pages_in_place_of_the_past(tmp_path: Path) -> None:
    path, out = session_at(tmp_path, 60), tmp_path / "out.jsonl"
    given = options(path, mode="snapcompact", archive=tmp_path / "out.archive")
    ready, result = compacted(path, given, out=out)
    assert result.made.mode == "snapcompact"
    assert result.made.pages >= 1
    assert result.tokens_after < result.change.tokens_before
    with open_archive(tmp_path / "out.archive") as archive:
        texts = [message.text for message in archive.messages()]
        assert b"".join(archive.source()) == path.read_bytes()
    summarised = [item.message.text for item in ready.plan.partition.summarised]
    assert texts == summarised
    assert sorted(os.listdir(tmp_path)) == ["out.archive", "out.jsonl", "s.jsonl"]


def test_a_second_pass_prints_the_first_again(tmp_path: Path) -> None:
    path, first, second = session_at(tmp_path, 60), tmp_path / "1.jsonl", tmp_path / "2.jsonl"
    cut = CutRequest(keep_tokens=6000, force=True)
    given = options(path, mode="snapcompact", archive=tmp_path / "1.archive", cut=cut)
    compacted(path, given, out=first)
    given = options(first, mode="snapcompact", archive=tmp_path / "2.archive")
    _, result = compacted(first, given, out=second)
    assert result.made.mode == "snapcompact"
    with open_session(path) as session:
        whole = [m.text for m in session.messages()]
    with open_archive(tmp_path / "2.archive") as archive:
        texts = [message.text for message in archive.messages()]
    with open_session(second) as session:
        items = context_of(load_stored(session), SETTINGS.policy.context).items
    kept = [item.message.text for item in items if not is_summary(item.message)]
    assert texts + kept[1:] == whole


def test_a_missing_archive_is_told_and_its_pages_stay(tmp_path: Path) -> None:
    path, first = session_at(tmp_path, 60), tmp_path / "1.jsonl"
    cut = CutRequest(keep_tokens=6000, force=True)
    compacted(path, options(path, mode="snapcompact", archive=tmp_path / "1.archive", cut=cut),
              out=first)  # fmt: skip
    os.rename(tmp_path / "1.archive", tmp_path / "gone")
    told: list[str] = []
    given = options(first, mode="snapcompact", archive=tmp_path / "2.archive", say=told.append)
    compacted(first, given, out=tmp_path / "2.jsonl")
    assert any("1.archive" in text for text in told)


@pytest.mark.parametrize("kind", sorted(BUILDERS))
def test_pages_in_every_format(kind: str, tmp_path: Path) -> None:
    path, out = session_at(tmp_path, 40, kind), tmp_path / "out.jsonl"
    given = options(path, mode="snapcompact", archive=tmp_path / "a.archive", strict=True)
    with open_session(path, format=kind.split(maxsplit=1)[0]) as session:
        stored = load_stored(session)
    with with_mode(prepared(stored, given, SETTINGS)) as (ready, draw):
        result = run(make(ready, draw))
        apply(ready, result, out)
    assert result.made.mode == "snapcompact"
    assert b"iVBORw0KGgo" in out.read_bytes()


def test_a_reference_shows_no_page(tmp_path: Path) -> None:
    path, out = session_at(tmp_path, 60), tmp_path / "out.jsonl"
    given = options(path, mode="snapcompact", reference=True, archive=tmp_path / "out.archive")
    _, result = compacted(path, given, out=out)
    assert result.made.pages == 0
    assert b"iVBORw0KGgo" not in out.read_bytes()
    assert b"out.archive" in out.read_bytes()
    assert (tmp_path / "out.archive").is_dir()


def test_no_socket_is_opened_for_pages_extracts_and_offline(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a socket was opened")

    real = socket.socket

    class Local(real):  # type: ignore[misc,valid-type]
        def __init__(self, family: int = -1, *args: Any, **more: Any) -> None:
            if family != socket.AF_UNIX:  # the event loop's own pair
                refuse()
            super().__init__(family, *args, **more)

    path = session_at(tmp_path, 60)
    monkeypatch.setattr(socket, "socket", Local)
    monkeypatch.setattr(socket, "create_connection", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    for mode in ("snapcompact", "soft", "remote"):
        told: list[str] = []
        given = options(path, mode=mode, offline=True, say=told.append)
        _, result = compacted(path, given)
        assert result.made.mode == ("soft" if mode == "remote" else mode)
        assert any("--offline" in text for text in told) == (mode == "remote")


def test_focus_with_snapcompact_is_refused_before_all_else(tmp_path: Path) -> None:
    path = session_at(tmp_path)
    before = files_of(tmp_path)
    with pytest.raises(FocusRefusedError):
        compacted(path, options(path, mode="snapcompact", focus="x"), out=tmp_path / "o")
    assert files_of(tmp_path) == before


def test_focus_alone_passes_over_pages_without_a_warning(tmp_path: Path) -> None:
    path = session_at(tmp_path)
    first = resolve_settings((Source("t", 'methodOrder = ["snapcompact", "soft"]'),))
    told: list[str] = []
    ready, result = compacted(path, options(path, focus="x", say=told.append), first)
    assert result.made.mode == "soft"
    assert told == []
    assert ready.plan.mode is not None
    assert [skip.mode for skip in ready.plan.mode.skipped] == ["snapcompact"]


@pytest.mark.parametrize(
    ("turns", "given", "why"),
    [
        (60, {"reader": "gpt-4"}, "reads text only"),
        (4, {}, "pages would cost"),
        (60, {"byte_limited": True}, "size in bytes"),
    ],
)
def test_pages_that_do_not_suit_give_way_with_a_reason(
    turns: int, given: dict[str, Any], why: str, tmp_path: Path
) -> None:
    path = session_at(tmp_path, turns)
    told: list[str] = []
    _, result = compacted(path, options(path, mode="snapcompact", say=told.append, **given))
    assert result.made.mode == "soft"
    assert any(why in text for text in told)
    with pytest.raises(UsageError, match="cannot run"):
        compacted(path, options(path, mode="snapcompact", strict=True, **given))


def test_text_of_unknown_characters_is_not_printed(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(pi([Turn("\U0001f600" * 3000, "yes " * 300, None)] * 9))
    told: list[str] = []
    compacted(path, options(path, mode="snapcompact", say=told.append))
    assert any("would be escapes" in text for text in told)


# --- remote


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


# --- nothing to do


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


# --- orchestrator


class Seen:
    """Keeps what it is told."""

    def __init__(self) -> None:
        self.events: list[Event] = []

    def __call__(self, event: Event) -> None:
        self.events.append(event)

    def kinds(self) -> list[str]:
        return [event.kind for event in self.events if event.kind in ("start", "stage", "end")]


def seat_for(
    path: Path, seen: Seen, *, settings: Settings = SETTINGS, **given: Any
) -> Orchestrator:
    hooks = {name: given.pop(name) for name in ("before", "after", "deliver") if name in given}
    return Orchestrator(
        FileHost(path, None), settings, options(path, **given), on_event=seen, **hooks
    )


@pytest.mark.parametrize(
    ("step", "status"), [(Say(SUMMARY), Status.DONE), (Fail(401, "no"), Status.FAILED)]
)
@pytest.mark.parametrize("auto", [False, True])
def test_each_start_has_one_end(step: Step, status: Status, auto: bool, tmp_path: Path) -> None:
    path = session_at(tmp_path)
    seen = Seen()
    with asked("openai", step) as (model, _):
        seat = seat_for(path, seen, model=model)
        outcome = asyncio.run(seat.compact(auto=auto, reason="threshold"))
    assert outcome.status is status
    kinds = seen.kinds()
    assert kinds[0] == "start"
    assert kinds.count("start") == kinds.count("end") == 1
    assert kinds[-1] == "end"
    assert all(event.auto is auto for event in seen.events)
    assert seen.events[-1].data["status"] == status.value


def test_a_failing_callback_loses_nothing(tmp_path: Path) -> None:
    path = session_at(tmp_path)

    async def bad(_: object) -> None:
        raise ValueError("mine")

    def loud(event: Event) -> None:
        raise ValueError(event.kind)

    seat = Orchestrator(
        FileHost(path, None), SETTINGS, options(path), on_event=loud, before=bad, after=bad
    )
    outcome = asyncio.run(seat.compact())
    assert outcome.status is Status.DONE
    assert b'"type":"compaction"' in path.read_bytes()
    assert {failure.split(":")[0] for failure in seat.failures} >= {
        "before",
        "after",
        "start",
        "end",
    }


def test_a_callback_may_forbid_or_give_the_summary(tmp_path: Path) -> None:
    path = session_at(tmp_path)
    before = fingerprint(path)

    def giving(given: HandedIn) -> Any:
        async def answer(_: Prepared) -> HandedIn:
            return given

        return answer

    refused = {
        "not now": HandedIn(cancel=True, reason="not now"),
        "refused": HandedIn(" ", "00000004"),
        "not there": HandedIn("Fine.", "elsewhere"),
        "parts a call": HandedIn("Fine.", "00000004"),
    }
    for why, given in refused.items():
        outcome = asyncio.run(seat_for(path, Seen(), before=giving(given)).compact())
        assert why in outcome.detail
        assert fingerprint(path) == before
    given = HandedIn("GIVEN SUMMARY", "00000006")
    outcome = asyncio.run(seat_for(path, Seen(), before=giving(given)).compact())
    assert outcome.status is Status.DONE
    with open_session(path) as session:
        items = context_of(load_stored(session), SETTINGS.policy.context).items
    assert items[0].message.text == "GIVEN SUMMARY"
    assert items[1].id == "00000006"


@pytest.mark.parametrize(
    ("policy", "step", "found"),
    [
        ("", Say(SUMMARY), b"output pruned"),
        ("[prune]\nenabled = false", Say(SUMMARY), SUMMARY[:20].encode()),
        (
            "[prune]\nenabled = false\n[recovery]\ntruncate = true\n[breaker]\nmax_failures = 9",
            Fail(401, "no"),
            b"oldest messages were cut off",
        ),
    ],
)
def test_recovery_climbs_its_ladder(policy: str, step: Step, found: bytes, tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    turns = [Turn(f"Do {n}.", f"Did {n}.", "some output here\n" * 300) for n in range(20)]
    path.write_bytes(pi(turns))
    protect = "[levels]\nlevel_protect_tokens = 3000\n"
    settings = resolve_settings((Source("t", protect + policy),))
    with asked("openai", step) as (model, _):
        seat = seat_for(path, Seen(), settings=settings, model=model, window=30_000)
        outcome = asyncio.run(seat.recover())
    assert outcome.status is Status.DONE, outcome.detail
    lines = path.read_bytes().splitlines()
    at = next(i for i, line in enumerate(lines) if b'"type":"compaction"' in line)
    assert found in json.loads(lines[at])["summary"].encode() or any(
        found in line for line in lines[at:]
    )


@pytest.mark.parametrize("step", [Say(SUMMARY), Fail(401, "no")])
def test_queued_input_is_delivered_steering_first(step: Step, tmp_path: Path) -> None:
    path = session_at(tmp_path)
    sent: list[str] = []

    async def deliver(queued: Any) -> None:
        sent.append(queued.text)

    with asked("openai", step) as (model, _):
        seat = seat_for(path, Seen(), model=model, deliver=deliver)
        seat.inbox.add("one")
        seat.inbox.add("two", steer=True)
        seat.inbox.add("three")
        asyncio.run(seat.compact())
    assert sent == ["two", "one", "three"]


def test_input_that_cannot_be_sent_is_put_back(tmp_path: Path) -> None:
    path = session_at(tmp_path)

    async def deliver(queued: Any) -> None:
        if queued.text == "one":
            raise OSError("closed")

    seat = seat_for(path, Seen(), deliver=deliver)
    seat.inbox.add("one")
    seat.inbox.add("two", steer=True)
    asyncio.run(seat.compact())
    assert [queued.text for queued in seat.inbox.waiting] == ["one"]


def test_failures_open_the_breaker_for_automatic_runs_only(tmp_path: Path) -> None:
    path = session_at(tmp_path)
    with asked("openai", *[Fail(401, "no")] * 9, Say(SUMMARY)) as (model, server):
        seat = seat_for(path, Seen(), model=model)
        for _ in range(3):
            assert asyncio.run(seat.compact(auto=True)).status is Status.FAILED
        assert asyncio.run(seat.compact(auto=True)).reason is Reason.OPEN
        assert len(server.asked) == 3
        assert asyncio.run(seat.compact()).reason is Reason.ERROR
        assert len(server.asked) == 4


def test_the_off_switch_holds_for_every_automatic_path(tmp_path: Path) -> None:
    path = session_at(tmp_path)
    before = fingerprint(path)
    seat = seat_for(path, Seen())
    seat.autocompact = False

    async def scene() -> None:
        assert (await seat.compact(auto=True)).reason is Reason.DISABLED
        assert await seat.check(399_999) is None
        assert (await seat.recover()).reason is Reason.DISABLED
        assert not seat.speculative

    asyncio.run(scene())
    assert fingerprint(path) == before


def test_a_speculative_result_waits_and_is_used(tmp_path: Path) -> None:
    path = session_at(tmp_path)

    async def scene(seat: Orchestrator) -> Outcome | None:
        assert await seat.check(330_000) is None
        while not seat.speculative:
            await asyncio.sleep(0.001)
        grow(path)
        return await seat.check(399_000)

    with asked("openai", Say(SUMMARY)) as (model, server):
        outcome = asyncio.run(scene(seat_for(path, Seen(), model=model)))
        assert len(server.asked) == 1
    assert outcome is not None
    assert outcome.status is Status.DONE
    with open_session(path) as session:
        items = context_of(load_stored(session), SETTINGS.policy.context).items
    assert items[0].message.text.startswith("## Goal")
    assert items[-1].message.text == "One thing more."


def test_a_stale_speculative_result_is_dropped(tmp_path: Path) -> None:
    path = session_at(tmp_path)

    async def scene(seat: Orchestrator) -> Outcome | None:
        await seat.check(330_000)
        while not seat.speculative:
            await asyncio.sleep(0.001)
        path.write_bytes(pi([Turn("Other", "words", None), *long_turns(12)]))
        return await seat.check(399_000)

    with asked("openai", Say("OLD"), Say(SUMMARY)) as (model, server):
        outcome = asyncio.run(scene(seat_for(path, Seen(), model=model)))
        assert len(server.asked) == 2
    assert outcome is not None
    assert outcome.status is Status.DONE
    assert b"OLD" not in path.read_bytes()


@pytest.mark.parametrize(
    ("mode", "mark"),
    [("handoff", SUMMARY[:10]), ("shake", "set aside:"), ("window", "messages were cut off")],
)
def test_modes_that_only_run_by_themselves(mode: str, mark: str, tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    code = "```\n" + "some code here\n" * 300 + "```\n"
    turns = [Turn(f"Do {n}.", f"Did {n}:\n{code}", "some output\n" * 300) for n in range(20)]
    path.write_bytes(pi(turns))
    settings = resolve_settings((Source("t", f'methodOrder = ["{mode}"]'),))
    seen = Seen()
    with asked("openai", Say(SUMMARY)) as (model, server):
        seat = seat_for(path, seen, settings=settings, model=model, window=60_000)
        outcome = asyncio.run(seat.compact(auto=True, reason="threshold"))
        assert bool(server.asked) == (mode == "handoff")
    assert outcome.status is Status.DONE, outcome.detail
    assert seen.events[-1].data["result"]["mode"] == mode
    assert mark.encode() in path.read_bytes().replace(b"\\n", b"\n")
    with open_session(path) as session:
        items = context_of(load_stored(session), SETTINGS.policy.context).items
    assert items[-1].message.text.startswith("Did 19:")


def test_the_cap_of_a_turn(tmp_path: Path) -> None:
    path = session_at(tmp_path)
    capped = resolve_settings((Source("t", "[breaker]\nper_turn = 1"),))
    seat = seat_for(path, Seen(), settings=capped)
    assert asyncio.run(seat.compact(auto=True)).status is Status.DONE
    assert asyncio.run(seat.compact(auto=True)).reason is Reason.CAPPED
    seat.new_turn()
    assert asyncio.run(seat.compact(auto=True)).reason is not Reason.CAPPED


def test_options_are_not_changed_by_a_run(tmp_path: Path) -> None:
    path = session_at(tmp_path)
    given = options(path)
    compacted(path, given)
    assert given == replace(given)


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
