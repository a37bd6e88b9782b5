"""A payload as a request to OpenAI's Responses or Chat Completions API."""

from __future__ import annotations

from typing import Any

from snapcompact.payload.compose import ImagePart, Part, Payload


def responses_content(payload: Payload, detail: str) -> list[dict[str, Any]]:
    """Content of one user message of the Responses API; `detail` is how images are scaled."""
    return [_responses_part(part, detail or "auto") for part in payload.parts]


def chat_content(payload: Payload, detail: str) -> list[dict[str, Any]]:
    """Content of one user message of Chat Completions, which knows no detail ``original``."""
    known = detail if detail in ("low", "high") else "auto"
    return [_chat_part(part, known) for part in payload.parts]


def responses_request(payload: Payload, model_id: str, detail: str) -> dict[str, Any]:
    """Keyword arguments of ``client.responses.create``; JSON as it is sent."""
    message = {"role": "user", "content": responses_content(payload, detail)}
    return {"model": model_id, "input": [message]}


def chat_request(payload: Payload, model_id: str, detail: str) -> dict[str, Any]:
    """Keyword arguments of ``client.chat.completions.create``; JSON as it is sent."""
    message = {"role": "user", "content": chat_content(payload, detail)}
    return {"model": model_id, "messages": [message]}


def _url(part: ImagePart) -> str:
    return f"data:image/png;base64,{part.base64}"


def _responses_part(part: Part, detail: str) -> dict[str, Any]:
    if isinstance(part, ImagePart):
        return {"type": "input_image", "image_url": _url(part), "detail": detail}
    return {"type": "input_text", "text": part.text}


def _chat_part(part: Part, detail: str) -> dict[str, Any]:
    if isinstance(part, ImagePart):
        return {"type": "image_url", "image_url": {"url": _url(part), "detail": detail}}
    return {"type": "text", "text": part.text}
