"""Anthropic's Messages protocol through its SDK."""

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

_STOPS = {
    "end_turn": Stop.END, "stop_sequence": Stop.END, "max_tokens": Stop.LENGTH,
    "model_context_window_exceeded": Stop.LENGTH, "tool_use": Stop.TOOL, "refusal": Stop.REFUSAL,
}  # fmt: skip
COMPACT_BETA = "compact-2026-01-12"
_LEAST_TRIGGER_TOKENS = 50_000
"""The smallest trigger that the context-management edit takes (API reference, 2026)."""


@asynccontextmanager
async def _open(endpoint: Endpoint) -> AsyncIterator[Any]:
    sdk = need("anthropic", "anthropic")
    if not endpoint.key and not endpoint.base_url:
        raise ModelError(f"{endpoint.name}: no key; set ANTHROPIC_API_KEY", kind=Failure.AUTH)
    client = sdk.AsyncAnthropic(
        api_key=endpoint.key or "none",
        base_url=endpoint.base_url or None,
        max_retries=0,  # client.py repeats, and says so
        timeout=sdk.Timeout(endpoint.read_s, connect=endpoint.connect_s),
    )
    async with client:
        yield client


async def send(endpoint: Endpoint, request: Request, on_text: OnText) -> Completion:
    """The answer over Messages."""
    sdk = need("anthropic", "anthropic")
    return await seam.within(endpoint, _messages(endpoint, request, on_text), sdk.APIStatusError)


def _part(part: str | Picture) -> Json:
    if isinstance(part, str):
        return {"type": "text", "text": part}
    data = base64.b64encode(part.data).decode()
    return {"type": "image", "source": {"type": "base64", "media_type": part.mime, "data": data}}


def _turn(turn: Turn) -> Json:
    return {"role": turn.role, "content": [_part(part) for part in turn.parts if part != ""]}


def messages_body(endpoint: Endpoint, request: Request) -> Json:
    """The request as the SDK's ``messages.create`` takes it."""
    body: Json = {
        "model": endpoint.model,
        "messages": [_turn(turn) for turn in request.turns],
        "max_tokens": request.max_tokens,
        "stream": request.stream,
    }
    if request.system:
        body["system"] = request.system
    if request.temperature is not None:
        # The SDK knows it no more, the API takes it for older models.
        body["extra_body"] = {"temperature": request.temperature}
    if request.reasoning:
        body["output_config"] = {"effort": request.reasoning}
    return body


async def _messages(endpoint: Endpoint, request: Request, on_text: OnText) -> Completion:
    pieces, take = seam.bounded(endpoint, on_text)
    state: Json = {"usage": {}}
    async with _open(endpoint) as client:
        answer = await client.messages.create(**messages_body(endpoint, request))
        if not request.stream:
            state = answer.to_dict(warnings=False)
            for block in state["content"]:
                if block.get("type") == "text":
                    take(block["text"])
        else:
            async for event in answer:
                _fold(endpoint, event.to_dict(warnings=False), state, take)
            if not state.get("ended"):
                raise seam.hang_up(endpoint)
    raw_stop = state.get("stop_reason") or ""
    if not raw_stop:
        raise ValueError("no stop_reason")
    usage = _usage(state.get("usage") or {})
    return Completion(
        "".join(pieces), _STOPS.get(raw_stop, Stop.OTHER), usage, state.get("model") or "", raw_stop
    )


def _fold(endpoint: Endpoint, event: Json, state: Json, take: OnText) -> None:
    """Add one event of a stream to `state`."""
    kind = event.get("type")
    if kind == "message_start":
        state["model"] = event["message"].get("model")
        state["usage"] = dict(event["message"].get("usage") or {})
    elif kind == "content_block_delta" and event["delta"].get("type") == "text_delta":
        take(event["delta"]["text"])
    elif kind == "message_delta":
        state["stop_reason"] = event["delta"].get("stop_reason")
        state["usage"] |= {k: v for k, v in (event.get("usage") or {}).items() if v is not None}
    elif kind == "message_stop":
        state["ended"] = True
    elif kind == "error":
        raise seam.stream_error(endpoint, event.get("error"))


def _usage(usage: Json) -> Usage | None:
    if not usage:
        return None
    return Usage(
        usage.get("input_tokens") or 0,
        usage.get("output_tokens") or 0,
        usage.get("cache_read_input_tokens") or 0,
        usage.get("cache_creation_input_tokens") or 0,
    )


async def compact(
    endpoint: Endpoint, messages: list[Json], tools: list[Json], *, system: str, instructions: str,
    max_tokens: int,
) -> Json:  # fmt: skip
    """The compaction block that Anthropic's context management gives for `messages`.

    Its ``content`` is the summary. The edit runs at 50,000 input tokens at least. Raises
    ModelError, of kind REFUSED where the server found nothing to compact.
    """
    edit: Json = {
        "type": "compact_20260112",
        "pause_after_compaction": True,
        "trigger": {"type": "input_tokens", "value": _LEAST_TRIGGER_TOKENS},
    }
    if instructions:
        edit["instructions"] = instructions

    async def work() -> Json:
        async with _open(endpoint) as client:
            answer = await client.beta.messages.create(
                model=endpoint.model,
                betas=[COMPACT_BETA],
                messages=messages,
                max_tokens=max_tokens,
                context_management={"edits": [edit]},
                **({"system": system} if system else {}),
                **({"tools": tools} if tools else {}),
            )
            content = answer.to_dict(warnings=False)["content"]
        return next((b for b in content if b.get("type") == "compaction"), {})

    sdk = need("anthropic", "anthropic")
    block = await seam.within(endpoint, work(), sdk.APIStatusError)
    if not block:
        raise ModelError(
            f"{endpoint.name}: the server answered without compacting; its least is "
            f"{_LEAST_TRIGGER_TOKENS:,} input tokens",
            kind=Failure.REFUSED,
        )
    return block
