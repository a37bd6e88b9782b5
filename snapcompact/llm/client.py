"""A model that can be asked: an endpoint, a bounded retry, and the table of protocols.

A request is sent again only after a rate limit, a 5xx, or where the server was never reached, and
each time the caller is told. What may have been billed (a broken stream, a silence) is not sent
twice.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any, TypeVar, cast
from urllib.parse import urlsplit

from snapcompact.errors import ModelError, UnknownNameError, UsageError
from snapcompact.llm.contract import Completion, Endpoint, Failure, OnText, Request, Send

T = TypeVar("T")
AGAIN = frozenset({Failure.RATE_LIMIT, Failure.UNAVAILABLE, Failure.CONNECTION})


@dataclass(frozen=True, slots=True)
class Retry:
    """How often and after how long a request is sent again."""

    attempts: int = 3
    first_s: float = 1
    """Doubled each time."""
    longest_s: float = 30
    """A server that asks for more is not waited for."""

    def wait_s(self, attempt: int, error: ModelError) -> float | None:
        """Seconds before the request is sent again after `attempt` (from 1); None to give up."""
        if error.kind not in AGAIN or attempt >= self.attempts:
            return None
        asked = error.retry_after_s
        wait = self.first_s * 2 ** (attempt - 1) if asked is None else asked
        return wait if wait <= self.longest_s else None


@dataclass(frozen=True, slots=True)
class ProtocolRow:
    """Where a protocol's code is and where its key and address are found."""

    send: str
    """``module:function``."""
    extra: str
    key_from: tuple[str, ...]
    """Environment variables, the first that is set."""
    base_from: tuple[str, ...]
    needs_key: bool = True
    """Without a base URL of one's own."""

    def load(self) -> Send:
        """The function that sends."""
        module, _, name = self.send.partition(":")
        return cast("Send", getattr(import_module(module), name))


_OPENAI_ENV = (("OPENAI_API_KEY",), ("OPENAI_BASE_URL",))

PROTOCOLS: Mapping[str, ProtocolRow] = {
    "anthropic": ProtocolRow(
        "snapcompact.llm.anthropic:send", "anthropic",
        ("ANTHROPIC_API_KEY",), ("ANTHROPIC_BASE_URL",),
    ),
    "gemini": ProtocolRow(
        "snapcompact.llm.gemini:send", "gemini",
        ("GEMINI_API_KEY", "GOOGLE_API_KEY"), ("GOOGLE_GEMINI_BASE_URL",),
    ),
    "openai": ProtocolRow("snapcompact.llm.openai:send_chat", "openai", *_OPENAI_ENV),
    "openai-responses": ProtocolRow(
        "snapcompact.llm.openai:send_responses", "openai", *_OPENAI_ENV
    ),
}  # fmt: skip
"""Protocols by name, sorted."""

_BY_MODEL = (("claude", "anthropic"), ("gemini", "gemini"))


def parse_model(name: str) -> tuple[str, str]:
    """(protocol, model) of ``protocol:model`` or a bare model name. Raises UnknownNameError.

    A bare ``claude…`` is Anthropic's and a bare ``gemini…`` Google's; all others are asked for over
    OpenAI's chat protocol, which most servers speak.
    """
    protocol, colon, model = name.partition(":")
    if colon and protocol in PROTOCOLS and model:
        return protocol, model
    if not name or name.endswith(":") or protocol in PROTOCOLS:
        raise UnknownNameError(
            f"no model in {name!r}; write PROTOCOL:MODEL, protocols: {', '.join(PROTOCOLS)}"
        )
    return next((p for word, p in _BY_MODEL if name.startswith(word)), "openai"), name


def find_endpoint(
    name: str, *, base_url: str = "", key_env: str = "",
    environ: Mapping[str, str] | None = None,
) -> Endpoint:  # fmt: skip
    """The endpoint of ``protocol:model``, key and address from the arguments, else the environment.

    Raises UnknownNameError, and UsageError for an address that is none, or where the provider's own
    address is meant without a key.
    """
    environ = os.environ if environ is None else environ
    protocol, model = parse_model(name)
    row = PROTOCOLS[protocol]
    key_names = (key_env,) if key_env else row.key_from
    key = next((environ[n] for n in key_names if environ.get(n)), "")
    base = base_url or next((environ[n] for n in row.base_from if environ.get(n)), "")
    if base and not _is_url(base):
        raise UsageError(
            f"{base!r} is no address of a server; write http://HOST:PORT/PATH or https://…"
        )
    if row.needs_key and not key and not base:
        raise UsageError(
            f"{name}: no key; set {' or '.join(key_names)}, or a base URL of your own server"
        )
    return Endpoint(protocol, model, key, base)


def _is_url(text: str) -> bool:
    try:
        parts = urlsplit(text)
        return (
            parts.scheme in ("http", "https")
            and bool(parts.hostname)
            and not any(char.isspace() for char in text)
            and (parts.port is None or parts.port > 0)
        )
    except ValueError:
        return False


@dataclass(frozen=True, slots=True)
class Client:
    """A model at an endpoint. `sleep` is the wait between two attempts."""

    endpoint: Endpoint
    retry: Retry = Retry()
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep

    @property
    def name(self) -> str:
        """``protocol:model``."""
        return self.endpoint.name

    async def acomplete(
        self, request: Request, *, on_text: OnText | None = None,
        on_retry: Callable[[str], None] | None = None,
    ) -> Completion:  # fmt: skip
        """The answer. `on_retry` is told before a request is sent again.

        Raises ModelError, MissingExtraError; a cancellation passes through.
        """
        send = PROTOCOLS[self.endpoint.protocol].load()
        attempt = 0
        while True:
            attempt += 1
            try:
                made = await send(self.endpoint, request, on_text or _ignore)
                return replace(made, attempts=attempt)
            except ModelError as error:
                wait = self.retry.wait_s(attempt, error)
                if wait is None:
                    raise
                (on_retry or _ignore)(f"{error}; sent again in {wait:g} s")
            await self.sleep(wait)

    def complete(
        self, request: Request, *, on_text: OnText | None = None,
        on_retry: Callable[[str], None] | None = None,
    ) -> Completion:  # fmt: skip
        """:meth:`acomplete`, waited for. Ctrl-C ends the request and is raised."""
        return run(self.acomplete(request, on_text=on_text, on_retry=on_retry))


def _ignore(text: str) -> None:
    pass


def run(work: Coroutine[Any, Any, T]) -> T:
    """The result of `work`, also where an event loop is already running in this thread."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, work).result()
