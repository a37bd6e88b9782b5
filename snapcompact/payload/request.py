"""The request format of each API, by the name that a model's row gives it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from snapcompact.errors import UnknownNameError
from snapcompact.payload import anthropic, gemini, openai

if TYPE_CHECKING:
    from snapcompact.payload.compose import Payload

Format = Callable[["Payload", str, str], dict[str, Any]]
"""Payload, model id, image detail -> request."""

FORMATS: Mapping[str, Format] = MappingProxyType(
    {
        "anthropic": lambda payload, model, _: anthropic.request(payload, model),
        "gemini": lambda payload, model, _: gemini.request(payload, model),
        "openai-chat": openai.chat_request,
        "openai-responses": openai.responses_request,
    }
)


def request(payload: Payload, api: str, model_id: str, detail: str = "") -> dict[str, Any]:
    """The request of `payload` to `api`, ready to send as JSON. Raises UnknownNameError."""
    if api not in FORMATS:
        raise UnknownNameError(f"unknown API {api!r}; known are {', '.join(FORMATS)}")
    return FORMATS[api](payload, model_id, detail)
