"""The parts of modes that work alone: pointers, messages, settings files, the summary server."""

from __future__ import annotations

import asyncio
import itertools
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from snapcompact.compaction.models import summariser
from snapcompact.compaction.modes.pointer import find_pointer, pointer_text
from snapcompact.compaction.provider_messages import anthropic_messages, tool_stubs
from snapcompact.compaction.settings import resolve_settings
from snapcompact.compaction.settings_files import command_line_source, load_settings
from snapcompact.errors import InputError, ModelError, UsageError
from snapcompact.llm.contract import Failure
from snapcompact.llm.summary_server import summarise
from tests.servers.script import Raw, Silence
from tests.servers.server import serve
from tests.strategies import histories

if TYPE_CHECKING:
    from snapcompact.history.model import Message

HASH = "0123456789abcdef" * 4


@given(st.text(st.characters(exclude_characters="/\\\n\x00"), min_size=1, max_size=200))
def test_a_pointer_is_found_again(name: str) -> None:
    said = f"Before. {pointer_text(name, HASH)} After."
    assert find_pointer(said) == (name, HASH)


@pytest.mark.parametrize("name", ["../up", "a/b", "a\\b", "", "x" * 201])
def test_a_pointer_names_no_path(name: str) -> None:
    assert find_pointer(pointer_text(name, HASH)) is None


@given(histories)
def test_provider_messages_are_what_the_api_takes(messages: list[Message]) -> None:
    made = anthropic_messages(messages, "Before.")
    roles = [message["role"] for message in made]
    assert roles[0] == "user"
    assert all(first != second for first, second in itertools.pairwise(roles))
    calls: set[str] = set()
    for message in made:
        assert message["content"]
        for part in message["content"]:
            if part["type"] == "tool_result":
                assert message["role"] == "user"
                assert part["tool_use_id"] in calls
            if part["type"] == "tool_use":
                assert message["role"] == "assistant"
                calls.add(part["id"])
    named = {stub["name"] for stub in tool_stubs(messages)}
    used = {p["name"] for m in made for p in m["content"] if p["type"] == "tool_use" and p["name"]}
    assert used <= named


def test_settings_come_from_user_project_environment_and_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    user, project = tmp_path / "user", tmp_path / "project"
    (project / "deep").mkdir(parents=True)
    user.mkdir()
    (user / "settings.toml").write_text("keepRecentTokens = 1\nreserveTokens = 1\noffline = true\n")
    (project / "snapcompact.toml").write_text("reserveTokens = 2\ncontextLimit = 5\n")
    monkeypatch.setenv("CONTEXT_LIMIT_OVERRIDE", "6")
    found = load_settings(project / "deep", ["template=five"], user_folder=user)
    values = {
        name: (found.value(name), Path(found.values[name].source).name)
        for name in ("trigger.keep_tokens", "trigger.reserve_tokens", "apply.window",
                     "prompt.template")
    }  # fmt: skip
    assert values == {
        "trigger.keep_tokens": (1, "settings.toml"),
        "trigger.reserve_tokens": (2, "snapcompact.toml"),
        "apply.window": (6, "environment"),
        "prompt.template": ("five", "--set"),
    }
    (project / "snapcompact.toml").write_bytes(b"\xff")
    with pytest.raises(InputError, match="UTF-8"):
        load_settings(project, user_folder=user)


@pytest.mark.parametrize("text", ["", "=", "= 3", "name"])
def test_an_assignment_has_a_name_and_a_value(text: str) -> None:
    with pytest.raises(UsageError, match="NAME=VALUE"):
        command_line_source([text])


@given(st.text(max_size=40).filter(lambda text: "\n" not in text and text.isprintable()))
def test_words_need_no_quotes(text: str) -> None:
    source = command_line_source([f"apply.remote_endpoint={text!s}"])
    try:
        value = resolve_settings([source]).value("apply.remote_endpoint")
    except UsageError:
        return  # a number or a table, which is a value of another kind
    assert value == text.strip() or text.strip()[:1] in "'\""


def test_who_summarises() -> None:
    told: list[str] = []
    plain = resolve_settings(())
    chosen = resolve_settings([command_line_source(["apply.summary_model=anthropic:claude-x"])])
    keys = {"OPENAI_API_KEY": "a", "ANTHROPIC_API_KEY": "b"}
    found = summariser("gpt-5", plain, say=told.append, environ=keys)
    assert found.endpoint is not None
    assert found.endpoint.name == "openai:gpt-5"
    found = summariser("gpt-5", chosen, say=told.append, environ=keys)
    assert found.endpoint is not None
    assert found.endpoint.name == "anthropic:claude-x"
    assert summariser("gpt-5", plain, say=told.append, environ={}).missing
    assert summariser("gpt-5", plain, offline=True, say=told.append, environ=keys).model is None
    assert summariser("", plain, say=told.append, environ=keys).model is None
    with pytest.raises(UsageError):
        summariser("openai:gpt-5", plain, say=told.append, environ={})


@pytest.mark.parametrize("url", ["ftp://x/y", "nonsense", "http://"])
def test_an_address_that_is_none(url: str) -> None:
    with pytest.raises(UsageError, match="address"):
        asyncio.run(summarise(url, "s", "p"))


def test_a_silent_summary_server_is_left(tmp_path: Path) -> None:
    with serve(Silence()) as server, pytest.raises(ModelError) as error:
        asyncio.run(summarise(server.url + "/s", "s", "p", timeout_s=0.2))
    assert error.value.kind == Failure.TIMEOUT


def test_the_key_goes_in_a_header() -> None:
    with serve(Raw(b'{"summary": "Fine."}')) as server:
        assert asyncio.run(summarise(server.url + "/s?x=1", "s", "p", key="k")) == "Fine."
    assert server.asked[0].headers["authorization"] == "Bearer k"
