"""A payload as a request to Anthropic's Messages API."""

from __future__ import annotations

from typing import Any

from snapcompact.payload.compose import ImagePart, Part, Payload

MAX_TOKENS = 8192
"""The API demands a limit for the answer; callers set their own."""


def content(payload: Payload) -> list[dict[str, Any]]:
    """Content blocks of one user message, all up to the last full page marked for the cache."""
    blocks = [_block(part) for part in payload.parts]
    full = [i for i, p in enumerate(payload.parts) if isinstance(p, ImagePart) and p.full]
    if full:
        blocks[full[-1]]["cache_control"] = {"type": "ephemeral"}
    return blocks


def request(payload: Payload, model_id: str) -> dict[str, Any]:
    """Keyword arguments of ``client.messages.create``; JSON as it is sent."""
    return {
        "model": model_id,
        "max_tokens": MAX_TOKENS,
        "messages": [{"role": "user", "content": content(payload)}],
    }


def _block(part: Part) -> dict[str, Any]:
    if isinstance(part, ImagePart):
        source = {"type": "base64", "media_type": "image/png", "data": part.base64}
        return {"type": "image", "source": source}
    return {"type": "text", "text": part.text}
