"""A Chat Completions request, streamed, fit to be sent: ``messages``, then ``model`` where known.

A tool's pictures follow its results in a user message, because a tool message cannot hold them.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Iterator
from typing import Any

import orjson

from snapcompact.history.export.replay import Call, Part, Turn, turns
from snapcompact.history.export.wording import marker, valid
from snapcompact.history.model import Blob, Message, Role

Json = dict[str, Any]


def export(messages: Iterable[Message]) -> Iterator[bytes]:
    """The request, a piece a message."""
    yield b'{"messages":['
    model, between = "", b"\n"
    for turn in turns(messages):
        model = turn.model or model
        for message in _messages(turn):
            yield between + orjson.dumps(message)
            between = b",\n"
    yield b"\n]" + (b',"model":' + orjson.dumps(model) if model else b"") + b"}\n"


def _messages(turn: Turn) -> Iterator[Json]:
    if turn.role is Role.ASSISTANT:
        words = _words(turn.parts)
        message: Json = {"role": "assistant", "content": words or None}
        if turn.calls:
            message["tool_calls"] = list(map(_call, turn.calls))
        yield message
        yield from map(_result, turn.calls)
        pictures: list[Part] = [p for c in turn.calls for p in c.result if isinstance(p, Blob)]
        if pictures:
            yield {"role": "user", "content": _content(["Pictures from the tools:", *pictures])}
    elif turn.role is Role.USER:
        yield {"role": "user", "content": _content(turn.parts)}
    else:
        yield {"role": "system", "content": _words(turn.parts)}


def _call(call: Call) -> Json:
    arguments = orjson.dumps(call.args).decode()
    return {
        "id": call.id,
        "type": "function",
        "function": {"name": call.name, "arguments": arguments},
    }


def _result(call: Call) -> Json:
    words = _words(call.result)
    content = f"Error: {words}" if call.is_error else words
    return {"role": "tool", "tool_call_id": call.id, "content": content or "(empty)"}


def _words(parts: Iterable[Part]) -> str:
    return "\n\n".join(marker(part) if isinstance(part, Blob) else part for part in parts)


def _content(parts: list[Part]) -> str | list[Json]:
    if not any(isinstance(part, Blob) for part in parts):
        return _words(parts)
    return [
        {"type": "image_url", "image_url": {"url": _data_url(part)}}
        if isinstance(part, Blob)
        else {"type": "text", "text": part}
        for part in parts
    ]


def _data_url(blob: Blob) -> str:
    data = base64.b64encode(blob.data or b"").decode()
    return f"data:{valid(blob.mime) or 'application/octet-stream'};base64,{data}"
