"""The clients against real servers on 127.0.0.1, every protocol the same way."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from snapcompact.errors import MissingExtraError, ModelError, UnknownNameError, UsageError
from snapcompact.history.model import Usage
from snapcompact.llm import extras
from snapcompact.llm.client import PROTOCOLS, Client, Retry, find_endpoint, parse_model, run
from snapcompact.llm.contract import Endpoint, Failure, Picture, Request, Stop, Turn, user
from snapcompact.llm.seam import retry_after_s
from tests.servers.script import OVERFLOW, Fail, HangUp, Raw, Say, Silence, Step, StreamError
from tests.servers.server import Server, serve

KEY = "sk-made-up-1234"
PROTOCOL = pytest.mark.parametrize("protocol", sorted(PROTOCOLS))
STREAM = pytest.mark.parametrize("stream", [True, False])
STANDARD = str.maketrans("-_", "+/")
"""Google's SDK sends the URL-safe alphabet."""
RED_DOT = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de0000000c49444154"
    "789c63f8cfc0000003010100c9fe92ef0000000049454e44ae426082"
)


async def _no_wait(seconds: float) -> None:
    """Stands for the wait between attempts."""


@contextmanager
def client(protocol: str, *steps: Step, **times: float) -> Iterator[tuple[Client, Server]]:
    with serve(*steps) as server:
        endpoint = Endpoint(protocol, "scripted", KEY, server.base_url(protocol), **times)
        yield Client(endpoint, Retry(), _no_wait), server


def ask(stream: bool = True) -> Request:
    return Request((user("What is here?"),), system="Be brief.", max_tokens=64, stream=stream)


@PROTOCOL
@STREAM
def test_an_answer_with_its_usage(protocol: str, stream: bool) -> None:
    told: list[str] = []
    with client(protocol, Say("One two three.", cached_tokens=40)) as (model, server):
        answer = model.complete(ask(stream), on_text=told.append)
    assert answer.text == "One two three."
    assert "".join(told) == answer.text
    assert len(told) > 1 or not stream
    assert answer.stop is Stop.END
    assert answer.usage == Usage(60, 20, 40)
    assert answer.model == "scripted"
    assert len(server.asked) == answer.attempts == 1


@PROTOCOL
@STREAM
@pytest.mark.parametrize("stop", ["length", "refusal", "tool"])
def test_why_an_answer_ended(protocol: str, stream: bool, stop: str) -> None:
    with client(protocol, Say("Part", stop=stop)) as (model, _):
        assert model.complete(ask(stream)).stop == stop


def _texts(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    items = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [text for item in items for text in _texts(item)]


@PROTOCOL
def test_a_request_carries_system_words_and_pictures(protocol: str) -> None:
    turns = (
        Turn("user", (Picture("image/png", RED_DOT), "See the dot?")),
        Turn("assistant", ("Yes.",)),
        user("Its colour?"),
    )
    with client(protocol, Say("Red.")) as (model, server):
        model.complete(Request(turns, system="Be brief.", max_tokens=77, temperature=0))
    texts = [text.translate(STANDARD) for text in _texts(server.asked[0].body)]
    picture = base64.b64encode(RED_DOT).decode()
    assert {"Be brief.", "See the dot?", "Yes.", "Its colour?"} <= set(texts)
    assert any(text.endswith(picture) for text in texts)
    assert "77" in str(server.asked[0].body)


@PROTOCOL
@STREAM
def test_a_rate_limit_is_waited_for_and_said(protocol: str, stream: bool) -> None:
    waited: list[float] = []

    async def wait(seconds: float) -> None:
        waited.append(seconds)

    told: list[str] = []
    limit = Fail(429, "slow down", "rate_limit_error", {"retry-after": "7"})
    with client(protocol, limit, Fail(500, "broken"), Say("Done.")) as (made, server):
        model = Client(made.endpoint, Retry(first_s=3), wait)
        answer = run(model.acomplete(ask(stream), on_retry=told.append))
    assert (answer.text, answer.attempts, len(server.asked)) == ("Done.", 3, 3)
    assert waited == [7, 6]
    assert len(told) == 2
    assert "429" in told[0]
    assert "sent again in 7 s" in told[0]


@PROTOCOL
def test_retries_end(protocol: str) -> None:
    with client(protocol, Fail(503, "down")) as (model, server), pytest.raises(ModelError) as error:
        model.complete(ask())
    assert error.value.kind == Failure.UNAVAILABLE
    assert error.value.status == 503
    assert len(server.asked) == 3


@PROTOCOL
def test_a_long_wait_is_not_waited(protocol: str) -> None:
    limit = Fail(429, "slow down", headers={"retry-after": "3600"})
    with client(protocol, limit) as (model, server), pytest.raises(ModelError) as error:
        model.complete(ask())
    assert error.value.retry_after_s == 3600
    assert len(server.asked) == 1


@PROTOCOL
@STREAM
@pytest.mark.parametrize(
    ("step", "kind"),
    [
        (Fail(401, f"bad key {KEY}", "authentication_error"), Failure.AUTH),
        (Fail(404, "no such model"), Failure.REFUSED),
        (Fail(413, "request too large", "request_too_large"), Failure.REFUSED),
        (Fail(429, "You exceeded your current quota", "insufficient_quota"), Failure.REFUSED),
        (HangUp(), Failure.HANG_UP),
        (Raw(b"<html>Welcome</html>", "text/html"), Failure.GARBAGE),
        (Raw(b'{"choices": 5, "content": 5, "output": 5}'), Failure.GARBAGE),
        (Raw(b"{nonsense"), Failure.GARBAGE),
    ],
)
def test_failures_are_told_apart_and_sent_once(
    protocol: str, stream: bool, step: Step, kind: Failure
) -> None:
    with client(protocol, step) as (model, server), pytest.raises(ModelError) as error:
        model.complete(ask(stream))
    # An empty stream of events is an answer without its end; either way it is no answer.
    allowed = {kind} | ({Failure.HANG_UP} if kind is Failure.GARBAGE else set())
    assert error.value.kind in allowed
    assert KEY not in str(error.value)
    assert error.value.exit_code == 3
    assert len(server.asked) == 1


@PROTOCOL
def test_overflow_keeps_the_words_and_the_status(protocol: str) -> None:
    with client(protocol, OVERFLOW[protocol]) as (model, _), pytest.raises(ModelError) as error:
        model.complete(ask())
    assert error.value.status == 400
    assert OVERFLOW[protocol].message[:40] in str(error.value)


@PROTOCOL
@pytest.mark.parametrize("events", [1, 2, 3])
def test_a_stream_cut_short_is_no_answer(protocol: str, events: int) -> None:
    with client(protocol, HangUp(events)) as (model, server), pytest.raises(ModelError) as error:
        model.complete(ask())
    assert error.value.kind == Failure.HANG_UP
    assert len(server.asked) == 1


@pytest.mark.parametrize("protocol", ["anthropic", "openai", "openai-responses"])
def test_an_error_inside_a_stream(protocol: str) -> None:
    with client(protocol, StreamError(), Say("Then well.")) as (model, server):
        answer = model.complete(ask())
    assert answer.text == "Then well."
    assert len(server.asked) == 2


@PROTOCOL
def test_silence_ends(protocol: str) -> None:
    quiet = client(protocol, Silence(), total_s=0.2)
    with quiet as (model, server), pytest.raises(ModelError) as error:
        model.complete(ask())
    assert error.value.kind == Failure.TIMEOUT
    assert len(server.asked) <= 1  # on a slow machine the time is up before it is sent


@PROTOCOL
def test_a_cancellation_is_no_error(protocol: str) -> None:
    async def scene(model: Client, server: Server) -> None:
        task = asyncio.create_task(model.acomplete(ask()))
        while not server.asked:
            await asyncio.sleep(0.001)
        task.cancel()
        await task

    with client(protocol, Silence()) as (model, server), pytest.raises(asyncio.CancelledError):
        asyncio.run(scene(model, server))
    assert len(server.asked) == 1


@PROTOCOL
def test_nobody_there(protocol: str) -> None:
    with serve() as server:
        gone = server.base_url(protocol)
    told: list[str] = []
    model = Client(Endpoint(protocol, "m", KEY, gone), Retry(attempts=2), _no_wait)
    with pytest.raises(ModelError) as error:
        model.complete(ask(), on_retry=told.append)
    assert error.value.kind == Failure.CONNECTION
    assert gone in str(error.value)
    assert len(told) == 1


def test_inside_a_running_loop() -> None:
    async def scene(model: Client) -> str:
        return model.complete(ask()).text

    with client("openai", Say("Fine.")) as (model, _):
        assert asyncio.run(scene(model)) == "Fine."


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("openai:gpt-x", ("openai", "gpt-x")),
        ("anthropic:claude-x", ("anthropic", "claude-x")),
        ("claude-x", ("anthropic", "claude-x")),
        ("gemini-x", ("gemini", "gemini-x")),
        ("qwen3:8b", ("openai", "qwen3:8b")),
        ("openai-responses:gpt-x", ("openai-responses", "gpt-x")),
    ],
)
def test_names(name: str, found: tuple[str, str]) -> None:
    assert parse_model(name) == found


@pytest.mark.parametrize("name", ["", "openai", "openai:", "anthropic:"])
def test_no_model_in_a_name(name: str) -> None:
    with pytest.raises(UnknownNameError, match="PROTOCOL:MODEL"):
        parse_model(name)


def test_key_and_address_from_the_environment() -> None:
    environ = {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": "http://h/v1", "OTHER": "k2"}
    found = find_endpoint("openai:m", environ=environ)
    assert (found.key, found.base_url) == (KEY, "http://h/v1")
    assert find_endpoint("openai:m", key_env="OTHER", environ=environ).key == "k2"
    assert find_endpoint("m", base_url="http://x", environ=environ).base_url == "http://x"
    assert KEY not in repr(found)
    with pytest.raises(UsageError, match="ANTHROPIC_API_KEY"):
        find_endpoint("claude-x", environ={})


def test_a_missing_package_names_its_extra() -> None:
    with pytest.raises(MissingExtraError, match=r"snapcompact\[gemini\]"):
        extras.need("no_such_package_here.genai", "gemini")


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "2.5"}, 2.5),
        ({"retry-after": "-3"}, 0),
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
        ({"retry-after": "Thu, 01 Jan 1970 00:01:40 GMT"}, 40),
        ({"retry-after": "soon"}, None),
    ],
)
def test_retry_after(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after_s(headers, now_s=60) == seconds


@PROTOCOL
def test_a_hang_up_is_told_in_the_words_of_the_connection(protocol: str) -> None:
    with client(protocol, HangUp()) as (model, _), pytest.raises(ModelError) as error:
        model.complete(ask())
    assert "event loop" not in str(error.value)
    assert "disconnected" in str(error.value)


@PROTOCOL
def test_a_closed_port_is_told_in_the_words_of_the_connection(protocol: str) -> None:
    with client(protocol, Say()) as (model, _):
        endpoint = model.endpoint
    with pytest.raises(ModelError, match="cannot reach") as error:
        Client(endpoint, Retry(attempts=1), _no_wait).complete(ask())
    assert "event loop" not in str(error.value)


@pytest.mark.parametrize(
    "base", ["not a url", "localhost:8000", "ftp://x/y", "http://", "http://a:b/", "http://[1/"]
)
def test_an_address_that_is_none_is_a_usage_error(base: str) -> None:
    with pytest.raises(UsageError, match="no address"):
        find_endpoint("openai:m", base_url=base, environ={})
    with pytest.raises(UsageError, match="no address"):
        find_endpoint("openai:m", environ={"OPENAI_BASE_URL": base})


@pytest.mark.parametrize(
    "base", ["http://127.0.0.1:8000/v1", "https://example.org", "http://[::1]"]
)
def test_an_address_is_kept(base: str) -> None:
    assert find_endpoint("openai:m", base_url=base, environ={}).base_url == base
