"""A payload as a request to the Gemini API (generateContent)."""

from __future__ import annotations

from typing import Any

from snapcompact.payload.compose import ImagePart, Part, Payload


def parts(payload: Payload) -> list[dict[str, Any]]:
    """Parts of one user content, in the API's JSON spelling."""
    return [_part(part) for part in payload.parts]


def request(payload: Payload, model_id: str) -> dict[str, Any]:
    """The body of generateContent, and the model that the SDK takes beside it."""
    return {"model": model_id, "contents": [{"role": "user", "parts": parts(payload)}]}


def _part(part: Part) -> dict[str, Any]:
    if isinstance(part, ImagePart):
        return {"inlineData": {"mimeType": "image/png", "data": part.base64}}
    return {"text": part.text}
