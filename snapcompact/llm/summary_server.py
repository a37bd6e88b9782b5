"""A summary from a server: ``POST {systemPrompt, prompt}`` for ``{summary}``, or a chat endpoint.

An address that ends in ``/chat/completions`` is asked in that protocol. Standard library only, on a
thread whose connection is closed where the caller is cancelled.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import Any
from urllib.parse import urlsplit

from snapcompact.errors import ModelError, UsageError
from snapcompact.llm.contract import MOST_ANSWER_CHARS, Failure
from snapcompact.llm.seam import failure_of, retry_after_s

TIMEOUT_S = 180.0
_CHAT = "/chat/completions"


async def summarise(
    url: str, system: str, prompt: str, *, key: str = "", model: str = "",
    timeout_s: float = TIMEOUT_S,
) -> str:  # fmt: skip
    """The server's summary. Raises ModelError, UsageError for an address that is none."""
    if url.rstrip("/").endswith(_CHAT):
        said = [{"role": "system", "content": system}, {"role": "user", "content": prompt}]
        body: dict[str, Any] = {"model": model, "messages": said, "stream": False}
    else:
        body = {"systemPrompt": system, "prompt": prompt}
    connection = _connect(url, timeout_s)
    work = asyncio.to_thread(_post, connection, url, body, key)
    try:
        async with asyncio.timeout(timeout_s):
            answer = await work
    except TimeoutError as error:
        raise ModelError(
            f"{url}: no answer within {timeout_s:g} s", kind=Failure.TIMEOUT
        ) from error
    finally:
        _hang_up(connection)
    return _summary(url, answer)


def _connect(url: str, timeout_s: float) -> HTTPConnection:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise UsageError(f"{url!r} is no http or https address")
    kind = HTTPSConnection if parts.scheme == "https" else HTTPConnection
    return kind(parts.hostname, parts.port, timeout=timeout_s)


def _hang_up(connection: HTTPConnection) -> None:
    """Close the socket, which also wakes a thread that waits for an answer."""
    if connection.sock is not None:
        with contextlib.suppress(OSError):  # the other side may have closed it already
            connection.sock.shutdown(socket.SHUT_RDWR)
    connection.close()


def _post(connection: HTTPConnection, url: str, body: dict[str, Any], key: str) -> Any:
    parts = urlsplit(url)
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    headers = {"content-type": "application/json"}
    if key:
        headers["authorization"] = f"Bearer {key}"
    try:
        connection.connect()
    except OSError as error:
        raise ModelError(f"cannot reach {url}: {error}", kind=Failure.CONNECTION) from error
    try:
        connection.request("POST", path, json.dumps(body).encode(), headers)
        answer = connection.getresponse()
        data = answer.read(MOST_ANSWER_CHARS + 1)
    except TimeoutError as error:
        raise ModelError(f"{url}: no answer in time", kind=Failure.TIMEOUT) from error
    except (OSError, HTTPException) as error:
        raise ModelError(f"{url} broke off: {error!r}", kind=Failure.HANG_UP) from error
    if answer.status >= 400:
        said = data[:500].decode("utf-8", "replace")
        raise ModelError(
            f"{url}: HTTP {answer.status}: {said}", kind=failure_of(answer.status, said),
            status=answer.status, retry_after_s=retry_after_s(dict(answer.getheaders())),
        )  # fmt: skip
    try:
        return json.loads(data)
    except ValueError as error:
        raise ModelError(f"{url}: the answer is no JSON", kind=Failure.GARBAGE) from error


def _summary(url: str, answer: Any) -> str:
    try:
        text = answer["summary"] if "summary" in answer else (
            answer["choices"][0]["message"]["content"])  # fmt: skip
    except (KeyError, TypeError, IndexError) as error:
        raise ModelError(f"{url}: no summary in the answer", kind=Failure.GARBAGE) from error
    if not isinstance(text, str):
        raise ModelError(f"{url}: the summary is no text", kind=Failure.GARBAGE)
    return text
