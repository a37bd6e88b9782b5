"""Errors of the provider SDKs, all shaped alike, as :class:`~snapcompact.errors.ModelError`.

The SDKs of OpenAI and Anthropic share their design: ``APIStatusError`` with ``status_code`` and
``response``, ``APITimeoutError``, ``APIConnectionError`` whose cause is the transport's error. A
stream that breaks off raises the transport's own error, and an answer that is not the protocol
whatever the walk over it meets; both are told here.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from email.utils import parsedate_to_datetime
from typing import Any, TypeVar

from snapcompact.errors import ModelError
from snapcompact.llm.contract import MOST_ANSWER_CHARS, Endpoint, Failure, OnText

T = TypeVar("T")

_KINDS = {401: Failure.AUTH, 403: Failure.AUTH, 408: Failure.TIMEOUT, 429: Failure.RATE_LIMIT}
_NO_QUOTA = ("insufficient_quota", "billing_not_active", "exceeded your current quota")
_LONGEST_TEXT = 2000


def failure_of(status: int, text: str) -> Failure:
    """The kind of an HTTP error. A 429 that no waiting cures (no quota) is a refusal."""
    if status == 429 and any(word in text for word in _NO_QUOTA):
        return Failure.REFUSED
    if status >= 500:
        return Failure.UNAVAILABLE
    return _KINDS.get(status, Failure.REFUSED)


def retry_after_s(headers: Mapping[str, str], now_s: float | None = None) -> float | None:
    """Seconds in ``retry-after-ms`` or ``retry-after`` (a number or a date); None without."""
    try:
        if (ms := headers.get("retry-after-ms")) is not None:
            return max(0.0, float(ms) / 1000)
        value = headers.get("retry-after")
        return None if value is None else max(0.0, float(value))
    except ValueError:
        pass
    try:
        when = parsedate_to_datetime(headers["retry-after"])
    except (KeyError, ValueError):
        return None
    return max(0.0, when.timestamp() - (time.time() if now_s is None else now_s))


def status_error(
    endpoint: Endpoint, status: int, text: str, headers: Mapping[str, str]
) -> ModelError:
    """The error of an answer with an error status; the server's words are kept, the key is not."""
    said = endpoint.hide_key(" ".join(text.split()))[:_LONGEST_TEXT]
    return ModelError(
        f"{endpoint.name}: HTTP {status}: {said}",
        kind=failure_of(status, text),
        status=status,
        retry_after_s=retry_after_s(headers),
    )


def stream_error(endpoint: Endpoint, error: Mapping[str, Any] | None) -> ModelError:
    """The error a server sent inside a stream that had begun with status 200."""
    said = error or {}
    code = str(said.get("code") or said.get("type") or "error")
    busy = any(word in code for word in ("overloaded", "server_error", "api_error"))
    kind = Failure.UNAVAILABLE if busy else Failure.REFUSED
    if "rate_limit" in code:
        kind = Failure.RATE_LIMIT
    text = endpoint.hide_key(f"{code}: {said.get('message', 'no message')}")[:_LONGEST_TEXT]
    return ModelError(f"{endpoint.name}: {text}", kind=kind)


def hang_up(endpoint: Endpoint, what: str = "the answer broke off before its end") -> ModelError:
    """The error of an answer without its end."""
    return ModelError(
        f"{endpoint.name}: {what}; the request was not sent again, as it may have been billed",
        kind=Failure.HANG_UP,
    )


def garbage(endpoint: Endpoint, error: Exception) -> ModelError:
    """The error of an answer that is not the protocol."""
    said = endpoint.hide_key(f"{type(error).__name__}: {error}")[:200]
    return ModelError(
        f"{endpoint.name}: the answer is not the protocol ({said}); check the base URL",
        kind=Failure.GARBAGE,
    )


def _causes(error: BaseException | None) -> list[BaseException]:
    chain: list[BaseException] = []
    while error is not None and error not in chain:
        chain.append(error)
        error = error.__cause__ or error.__context__
    return chain


_NEVER_SENT = ("ConnectError", "ConnectTimeout", "PoolTimeout", "UnsupportedProtocol", "ProxyError")
_TIMEOUTS = ("ReadTimeout", "WriteTimeout", "APITimeoutError")
_BROKEN = (
    "APIConnectionError", "ReadError", "WriteError", "CloseError", "RemoteProtocolError",
    "LocalProtocolError", "DecodingError", "StreamError", "ConnectionResetError", "IncompleteRead",
)  # fmt: skip


def _own_words(error: Exception, kinds: tuple[str, ...]) -> str:
    """What the innermost error of `kinds` says.

    Further in are only errors that were met, and handled, while the connection was tried.
    """
    ours = [
        cause for cause in _causes(error)
        if any(kind.__name__ in kinds for kind in type(cause).__mro__)
    ]  # fmt: skip
    said = [str(cause) or type(cause).__name__ for cause in ours]
    return said[-1] if said else str(error)


def transport_error(endpoint: Endpoint, error: Exception) -> ModelError:
    """The error of a request the transport gave up on, or of an answer that made no sense."""
    names = [kind.__name__ for cause in _causes(error) for kind in type(cause).__mro__]
    where = endpoint.base_url or endpoint.protocol
    if any(name in names for name in _NEVER_SENT):
        said = _own_words(error, _NEVER_SENT)
        return ModelError(f"{endpoint.name}: cannot reach {where}: {said}", kind=Failure.CONNECTION)
    if any(name in names for name in _TIMEOUTS):
        return timed_out(endpoint, endpoint.read_s)
    if any(name in names for name in _BROKEN):
        return hang_up(endpoint, f"{where} broke off ({_own_words(error, _BROKEN)})")
    return garbage(endpoint, error)


def timed_out(endpoint: Endpoint, seconds: float) -> ModelError:
    """The error of a request that took too long."""
    return ModelError(
        f"{endpoint.name}: no answer within {seconds:g} s; the request was not sent again",
        kind=Failure.TIMEOUT,
    )


async def within(endpoint: Endpoint, work: Awaitable[T], sdk_status_error: type[Exception]) -> T:
    """The result of awaiting `work`, its errors as ModelError; cancellation passes through.

    ``except Exception`` is right here alone: the SDKs do not validate, so an answer that is no
    protocol fails wherever our walk over it happens to trip.
    """
    try:
        async with asyncio.timeout(endpoint.total_s):
            return await work
    except ModelError:
        raise
    except TimeoutError as error:
        raise timed_out(endpoint, endpoint.total_s) from error
    except sdk_status_error as error:
        response: Any = error.response  # type: ignore[attr-defined] # both SDKs' status errors
        if response.status_code < 400:
            raise _sent_error(endpoint, error) from error
        raise status_error(endpoint, response.status_code, str(error), response.headers) from error
    except Exception as error:
        if type(error).__name__ == "APIError":
            raise _sent_error(endpoint, error) from error
        raise transport_error(endpoint, error) from error


def _sent_error(endpoint: Endpoint, error: Exception) -> ModelError:
    """The error of a stream in which the SDK met an error event."""
    body = getattr(error, "body", None)
    said = body.get("error", body) if isinstance(body, dict) else None
    return stream_error(endpoint, said if isinstance(said, dict) else {"message": str(error)})


def bounded(endpoint: Endpoint, on_text: OnText) -> tuple[list[str], Callable[[str], None]]:
    """(pieces, take): `take` keeps a piece and tells it; ModelError beyond the longest answer."""
    pieces: list[str] = []
    total = 0

    def take(piece: str) -> None:
        nonlocal total
        total += len(piece)
        if total > MOST_ANSWER_CHARS:
            raise garbage(endpoint, ValueError(f"more than {MOST_ANSWER_CHARS:,} characters"))
        pieces.append(piece)
        on_text(piece)

    return pieces, take
