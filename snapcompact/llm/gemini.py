"""Google's Gemini protocol through its SDK."""

from __future__ import annotations

import base64
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from snapcompact.errors import ModelError
from snapcompact.history.model import Usage
from snapcompact.llm import seam
from snapcompact.llm.contract import (
    Completion,
    Endpoint,
    Failure,
    OnText,
    Picture,
    Request,
    Stop,
    Turn,
)
from snapcompact.llm.extras import need

Json = dict[str, Any]

_REFUSALS = (
    "SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "LANGUAGE", "IMAGE_SAFETY",
)  # fmt: skip
_STOPS = {
    "STOP": Stop.END, "MAX_TOKENS": Stop.LENGTH, "MALFORMED_FUNCTION_CALL": Stop.TOOL,
    "UNEXPECTED_TOOL_CALL": Stop.TOOL, **dict.fromkeys(_REFUSALS, Stop.REFUSAL),
}  # fmt: skip
_EFFORT_TOKENS = {"low": 1024, "medium": 8192, "high": 24576}


@asynccontextmanager
async def _open(endpoint: Endpoint) -> AsyncIterator[Any]:
    sdk = need("google.genai", "gemini")
    if not endpoint.key and not endpoint.base_url:
        raise ModelError(f"{endpoint.name}: no key; set GEMINI_API_KEY", kind=Failure.AUTH)
    options: Json = {"timeout": int(endpoint.read_s * 1000)}
    if endpoint.base_url:
        options["base_url"] = endpoint.base_url
    client = sdk.Client(api_key=endpoint.key or "none", vertexai=False, http_options=options)
    try:
        yield client.aio
    finally:
        await client.aio.aclose()
        client.close()


async def send(endpoint: Endpoint, request: Request, on_text: OnText) -> Completion:
    """The answer over generateContent."""
    errors = need("google.genai.errors", "gemini")
    return await seam.within(
        endpoint, _generate(endpoint, request, on_text, errors.APIError), _Never
    )


class _Never(Exception):
    """No error: Gemini's have another shape and are told in :func:`_generate`."""


def _part(part: str | Picture) -> Json:
    if isinstance(part, str):
        return {"text": part}
    data = base64.b64encode(part.data).decode()
    return {"inline_data": {"mime_type": part.mime, "data": data}}


def _turn(turn: Turn) -> Json:
    role = "model" if turn.role == "assistant" else "user"
    return {"role": role, "parts": [_part(part) for part in turn.parts]}


def content_config(request: Request) -> Json:
    """The request's settings as generateContent takes them."""
    config: Json = {"max_output_tokens": request.max_tokens}
    if request.system:
        config["system_instruction"] = request.system
    if request.temperature is not None:
        config["temperature"] = request.temperature
    if budget := _EFFORT_TOKENS.get(request.reasoning):
        config["thinking_config"] = {"thinking_budget": budget}
        config["max_output_tokens"] += budget
    return config


async def _generate(
    endpoint: Endpoint, request: Request, on_text: OnText, api_error: type[Exception]
) -> Completion:
    pieces, take = seam.bounded(endpoint, on_text)
    raw_stop, model, usage = "", "", None
    asked: Json = {
        "model": endpoint.model,
        "contents": [_turn(turn) for turn in request.turns],
        "config": content_config(request),
    }
    try:
        async with _open(endpoint) as client:
            async for chunk in _chunks(client.models, asked, stream=request.stream):
                blocked = (chunk.get("prompt_feedback") or {}).get("block_reason")
                model = chunk.get("model_version") or model
                usage = _usage(chunk.get("usage_metadata")) or usage
                if blocked:
                    return Completion("", Stop.REFUSAL, usage, model, str(blocked))
                for candidate in chunk.get("candidates") or []:
                    raw_stop = str(candidate.get("finish_reason") or raw_stop)
                    for part in (candidate.get("content") or {}).get("parts") or []:
                        if part.get("text") and not part.get("thought"):
                            take(part["text"])
    except api_error as error:
        raise _status_error(endpoint, error) from error
    if not raw_stop:
        raise seam.hang_up(endpoint)
    stop = _STOPS.get(raw_stop, Stop.OTHER)
    return Completion("".join(pieces), stop, usage, model, raw_stop)


async def _chunks(models: Any, asked: Json, *, stream: bool) -> AsyncIterator[Json]:
    if not stream:
        answer = await models.generate_content(**asked)
        yield answer.model_dump(mode="json", exclude_none=True, warnings=False)
        return
    async for chunk in await models.generate_content_stream(**asked):
        yield chunk.model_dump(mode="json", exclude_none=True, warnings=False)


def _status_error(endpoint: Endpoint, error: Any) -> ModelError:
    code = error.code if isinstance(error.code, int) else 0
    headers = getattr(error.response, "headers", None) or {}
    return seam.status_error(endpoint, code, str(error), headers)


def _usage(usage: Json | None) -> Usage | None:
    if not usage:
        return None
    cached = usage.get("cached_content_token_count") or 0
    output = (usage.get("candidates_token_count") or 0) + (usage.get("thoughts_token_count") or 0)
    return Usage(max(0, (usage.get("prompt_token_count") or 0) - cached), output, cached)
