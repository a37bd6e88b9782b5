"""The orchestrator: one end a start, callbacks, recovery, queues, speculation, limits."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from snapcompact.compaction.deciding import Prepared
from snapcompact.compaction.hook import HandedIn
from snapcompact.compaction.orchestrator import Orchestrator
from snapcompact.compaction.outcome import Outcome, Reason, Status
from snapcompact.compaction.rpc import FileHost
from snapcompact.compaction.session import context_of, load_stored
from snapcompact.compaction.settings import Settings, Source, resolve_settings
from snapcompact.compaction.undo import fingerprint
from snapcompact.history.session import open_session
from tests.compaction.sessions import Turn, long_turns, pi
from tests.servers.script import Fail, Say, Step

if TYPE_CHECKING:
    from snapcompact.compaction.host import Event
from tests.compaction.running import (
    SETTINGS,
    SUMMARY,
    asked,
    grow,
    options,
    session_at,
)


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
