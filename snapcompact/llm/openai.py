"""OpenAI's protocols through its SDK: Chat Completions, which most servers speak, and Responses."""

from __future__ import annotations

import base64
from collections.abc import AsyncIterator, Awaitable, Iterable
from contextlib import asynccontextmanager
from typing import Any, TypeVar

from snapcompact.history.model import Usage
from snapcompact.llm import seam
from snapcompact.llm.contract import Completion, Endpoint, OnText, Picture, Request, Stop, Turn
from snapcompact.llm.extras import need

T = TypeVar("T")
Json = dict[str, Any]

_CHAT_STOPS = {
    "stop": Stop.END, "length": Stop.LENGTH, "tool_calls": Stop.TOOL, "function_call": Stop.TOOL,
    "content_filter": Stop.REFUSAL,
}  # fmt: skip
_NO_KEY = "none"
"""Sent where no key is set: local servers ask for none, but the SDK does."""


@asynccontextmanager
async def _open(endpoint: Endpoint) -> AsyncIterator[Any]:
    sdk = need("openai", "openai")
    client = sdk.AsyncOpenAI(
        api_key=endpoint.key or _NO_KEY,
        base_url=endpoint.base_url or None,
        max_retries=0,  # client.py repeats, and says so
        timeout=sdk.Timeout(endpoint.read_s, connect=endpoint.connect_s),
    )
    async with client:
        yield client


async def send_chat(endpoint: Endpoint, request: Request, on_text: OnText) -> Completion:
    """The answer over Chat Completions."""
    return await _sent(endpoint, _chat(endpoint, request, on_text))


async def send_responses(endpoint: Endpoint, request: Request, on_text: OnText) -> Completion:
    """The answer over Responses; nothing is stored on the server."""
    return await _sent(endpoint, _responses(endpoint, request, on_text))


async def compact(endpoint: Endpoint, items: list[Json], instructions: str) -> list[Json]:
    """The items that OpenAI's compact endpoint gives in place of Responses input `items`."""

    async def work() -> list[Json]:
        async with _open(endpoint) as client:
            answer = await client.responses.compact(
                model=endpoint.model, input=items, **({"instructions": instructions} if
                                                     instructions else {})
            )  # fmt: skip
            made = answer.to_dict(warnings=False)["output"]
            if not made or not all(isinstance(item, dict) for item in made):
                raise ValueError("no output items")
            return list(made)

    return await _sent(endpoint, work())


async def _sent(endpoint: Endpoint, work: Awaitable[T]) -> T:
    sdk = need("openai", "openai")
    return await seam.within(endpoint, work, sdk.APIStatusError)


def data_url(picture: Picture) -> str:
    """`picture` as a ``data:`` URL."""
    return f"data:{picture.mime};base64,{base64.b64encode(picture.data).decode()}"


def _chat_part(part: str | Picture) -> Json:
    if isinstance(part, str):
        return {"type": "text", "text": part}
    detail = {"detail": part.detail} if part.detail else {}
    return {"type": "image_url", "image_url": {"url": data_url(part), **detail}}


def _chat_turn(turn: Turn) -> Json:
    if all(isinstance(part, str) for part in turn.parts):
        return {"role": turn.role, "content": "\n\n".join(map(str, turn.parts))}
    return {"role": turn.role, "content": [_chat_part(part) for part in turn.parts]}


def chat_body(endpoint: Endpoint, request: Request) -> Json:
    """The request as Chat Completions takes it.

    OpenAI's own reasoning models refuse ``max_tokens``; many other servers know nothing else.
    """
    limit = "max_tokens" if endpoint.base_url else "max_completion_tokens"
    system = [{"role": "system", "content": request.system}] if request.system else []
    body: Json = {
        "model": endpoint.model,
        "messages": [*system, *map(_chat_turn, request.turns)],
        limit: request.max_tokens,
    }
    if request.temperature is not None:
        body["temperature"] = request.temperature
    if request.reasoning:
        body["reasoning_effort"] = request.reasoning
    if request.stream:
        body |= {"stream": True, "stream_options": {"include_usage": True}}
    return body


async def _chat(endpoint: Endpoint, request: Request, on_text: OnText) -> Completion:
    pieces, take = seam.bounded(endpoint, on_text)
    raw_stop, model, usage, refused = "", "", None, False
    async with _open(endpoint) as client:
        answer = await client.chat.completions.create(**chat_body(endpoint, request))
        async for chunk in _chunks(answer, request.stream):
            if error := chunk.get("error"):
                raise seam.stream_error(endpoint, error)
            model = chunk.get("model") or model
            usage = _chat_usage(chunk.get("usage")) or usage
            for choice in chunk.get("choices") or []:
                said = choice.get("delta") or choice.get("message") or {}
                refused = refused or bool(said.get("refusal"))
                raw_stop = choice.get("finish_reason") or raw_stop
                if piece := said.get("content") or said.get("refusal"):
                    take(piece)
    if not raw_stop:
        raise seam.hang_up(endpoint) if request.stream else ValueError("no finish_reason")
    stop = Stop.REFUSAL if refused else _CHAT_STOPS.get(raw_stop, Stop.OTHER)
    return Completion("".join(pieces), stop, usage, model, raw_stop)


async def _chunks(answer: Any, stream: bool) -> AsyncIterator[Json]:
    """The chunks of a streamed answer, or a whole answer as its only chunk, as plain JSON."""
    if not stream:
        yield answer.to_dict(warnings=False)
        return
    async for chunk in answer:
        yield chunk.to_dict(warnings=False)


def _chat_usage(usage: Json | None) -> Usage | None:
    if not usage:
        return None
    cached = (usage.get("prompt_tokens_details") or {}).get("cached_tokens") or 0
    prompt = usage.get("prompt_tokens") or 0
    return Usage(max(0, prompt - cached), usage.get("completion_tokens") or 0, cached)


def _responses_part(role: str, part: str | Picture) -> Json:
    if isinstance(part, str):
        return {"type": "output_text" if role == "assistant" else "input_text", "text": part}
    return {"type": "input_image", "image_url": data_url(part), "detail": part.detail or "auto"}


def responses_body(endpoint: Endpoint, request: Request) -> Json:
    """The request as Responses takes it."""
    body: Json = {
        "model": endpoint.model,
        "input": [
            {"role": turn.role, "content": [_responses_part(turn.role, p) for p in turn.parts]}
            for turn in request.turns
        ],
        "max_output_tokens": request.max_tokens,
        "store": False,
        "stream": request.stream,
    }
    if request.system:
        body["instructions"] = request.system
    if request.temperature is not None:
        body["temperature"] = request.temperature
    if request.reasoning:
        body["reasoning"] = {"effort": request.reasoning}
    return body


async def _responses(endpoint: Endpoint, request: Request, on_text: OnText) -> Completion:
    pieces, take = seam.bounded(endpoint, on_text)
    final: Json | None = None
    async with _open(endpoint) as client:
        answer = await client.responses.create(**responses_body(endpoint, request))
        async for event in _chunks(answer, request.stream):
            kind = event.get("type", "")
            if kind in ("response.output_text.delta", "response.refusal.delta"):
                take(event["delta"])
            elif kind == "error":
                raise seam.stream_error(endpoint, event.get("error") or event)
            elif kind in ("response.completed", "response.incomplete", "response.failed"):
                final = event["response"]
            elif not kind:
                final = event
                for piece in _texts(event["output"]):
                    take(piece)
    if final is None:
        raise seam.hang_up(endpoint)
    return _responses_end(endpoint, final, "".join(pieces))


def _responses_end(endpoint: Endpoint, final: Json, text: str) -> Completion:
    status = final.get("status") or ""
    if status == "failed":
        raise seam.stream_error(endpoint, final.get("error"))
    why = (final.get("incomplete_details") or {}).get("reason") or status
    parts = [part for item in final["output"] for part in item.get("content") or []]
    stops = {
        "completed": Stop.END, "max_output_tokens": Stop.LENGTH, "content_filter": Stop.REFUSAL,
    }  # fmt: skip
    stop = stops.get(why, Stop.OTHER)
    if any(part.get("type") == "refusal" for part in parts):
        stop = Stop.REFUSAL
    if any(item.get("type") == "function_call" for item in final["output"]):
        stop = Stop.TOOL
    usage = final.get("usage") or {}
    cached = (usage.get("input_tokens_details") or {}).get("cached_tokens") or 0
    counted = Usage(
        max(0, (usage.get("input_tokens") or 0) - cached), usage.get("output_tokens") or 0, cached
    )
    return Completion(text, stop, counted if usage else None, final.get("model") or "", why)


def _texts(output: Iterable[Json]) -> Iterable[str]:
    for item in output:
        for part in item.get("content") or []:
            if part.get("type") in ("output_text", "refusal"):
                yield part.get("text") or part.get("refusal") or ""
